import torch

p = torch.tensor([2.0, 3.0], requires_grad=True)
x, y = p
f = torch.stack([x * x, x * y, y * y])

# m rows of v at once: [m, 3] in, [m, 2] out. With the identity that is J itself.
(jacobian,) = torch.autograd.grad(f, p, torch.eye(3), is_grads_batched=True)
print(jacobian)
