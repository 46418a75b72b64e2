import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)

a = x * y
b = a + 4
z = a * b  # a is used here ... and inside b

z.backward()
print(x.grad, y.grad)
