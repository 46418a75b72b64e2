import torch


class F(torch.autograd.Function):
    """f(x, y) = (x^2, xy, y^2)."""

    @staticmethod
    def forward(ctx, p):
        ctx.save_for_backward(p)
        x, y = p
        return torch.stack([x * x, x * y, y * y])

    @staticmethod
    def backward(ctx, v):
        (p,) = ctx.saved_tensors
        x, y = p
        zero = torch.zeros_like(x)
        columns = torch.stack([2 * x, y, zero, zero, x, 2 * y]).reshape(2, 3)
        return columns  # a matrix of shape [2, 3]. Mend: return columns @ v


p = torch.tensor([2.0, 3.0], requires_grad=True)
y = F.apply(p)
y.sum().backward()
