import torch


class F(torch.autograd.Function):
    """(x^2, xy, y^2) for every row of a batch: [b, 2] in, [b, 3] out."""

    @staticmethod
    def forward(ctx, p):
        ctx.save_for_backward(p)
        x, y = p.unbind(1)
        return torch.stack([x * x, x * y, y * y], dim=1)

    @staticmethod
    def backward(ctx, v):  # [b, 3]: one v per row
        (p,) = ctx.saved_tensors
        x, y = p.unbind(1)
        return torch.stack([2 * x * v[:, 0] + y * v[:, 1], x * v[:, 1] + 2 * y * v[:, 2]], dim=1)


p = torch.tensor([[2.0, 3.0], [1.0, 0.0], [0.0, 5.0]], requires_grad=True)
y = F.apply(p)
y.mean(0).sum().backward()  # the mean over the batch puts 1/3 into every v
print(p.grad)
