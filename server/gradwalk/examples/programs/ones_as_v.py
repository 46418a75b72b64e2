import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

y = x * x
y.backward(torch.ones(3))  # v = ones: add up the rows of J
print(x.grad)

x.grad = None
y = x * x
y.sum().backward()  # the same, because the gradient of a sum is ones
print(x.grad)
