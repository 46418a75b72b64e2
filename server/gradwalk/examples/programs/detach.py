import torch

x = torch.tensor(2.0, requires_grad=True)

target = (x**2).detach()  # the same number, but no way back
loss = (x * 3 - target) ** 2
loss.backward()
print(x.grad)
