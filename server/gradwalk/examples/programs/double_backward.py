import torch

x = torch.tensor(3.0, requires_grad=True)
y = x**3

# create_graph=True: the backward pass itself is recorded ...
(slope,) = torch.autograd.grad(y, x, create_graph=True)
print(slope)  # 3 x^2

# ... so it can be differentiated again.
slope.backward()
print(x.grad)  # 6 x
