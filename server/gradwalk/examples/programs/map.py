import torch


class F(torch.autograd.Function):
    """f(x, y) = (x^2, xy, y^2): two numbers in, three out."""

    @staticmethod
    def forward(ctx, p):
        ctx.save_for_backward(p)
        x, y = p
        return torch.stack([x * x, x * y, y * y])

    @staticmethod
    def backward(ctx, v):  # v has shape [3]: how much each output matters
        (p,) = ctx.saved_tensors
        x, y = p
        zero = torch.zeros_like(x)
        jacobian = torch.stack([2 * x, zero, y, x, zero, 2 * y]).reshape(3, 2)
        return v @ jacobian  # [3] times [3, 2] gives [2]: the shape of p


p = torch.tensor([2.0, 3.0], requires_grad=True)
y = F.apply(p)
