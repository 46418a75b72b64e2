import torch

x = torch.tensor(3.0, requires_grad=True)

y = x * x  # one node, two edges to the same leaf
y.backward()
print(x.grad)
