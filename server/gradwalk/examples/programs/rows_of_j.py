import torch

p = torch.tensor([2.0, 3.0], requires_grad=True)
x, y = p
f = torch.stack([x * x, x * y, y * y])

# A one-hot v picks one output, so v J is one row of the Jacobian.
for v in torch.eye(3):
    p.grad = None
    f.backward(v, retain_graph=True)
    print(v.tolist(), "->", p.grad.tolist())
