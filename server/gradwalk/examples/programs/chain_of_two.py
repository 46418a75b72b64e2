import torch

A = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def F1(x):
    y = A @ x
    return y


def F2(y):
    return y**2


x = torch.tensor([1.0, 1.0], requires_grad=True)
y = F1(x)
z = F2(y)

# ones meets the Jacobian of F2 first; what comes out is the v for F1.
z.backward(torch.ones(2))
print(x.grad)
