import torch

x = torch.tensor([0.5, -1.0, 0.25], requires_grad=True)

y = x * 2
while y.data.norm() < 1000:  # autograd records what ran, however often
    y = y * 2

v = torch.tensor([0.1, 1.0, 0.0001])
y.backward(v)
print(x.grad)
