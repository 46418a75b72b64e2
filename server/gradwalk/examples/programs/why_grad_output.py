import torch

w = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)

f = w * x + b  # df/dw = x, df/dx = w, df/db = 1
loss = f**2  # dloss/df = 2 f = 14

loss.backward()
print(w.grad, x.grad, b.grad)  # dloss/dw = 14 * x, not x
