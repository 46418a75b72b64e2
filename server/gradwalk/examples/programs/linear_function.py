import torch


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        return input.mm(weight.t()) + (0 if bias is None else bias)

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_output.mm(weight) if ctx.needs_input_grad[0] else None
        grad_weight = grad_output.t().mm(input) if ctx.needs_input_grad[1] else None
        grad_bias = None if bias is None else grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


input = torch.tensor([[1.0, 2.0], [3.0, 4.0]])  # data: needs no gradient
weight = torch.tensor([[1.0, -1.0]], requires_grad=True)
bias = torch.tensor([0.5], requires_grad=True)
hidden = LinearFunction.apply(input, weight, bias)
second = torch.tensor([[2.0]])  # needs no gradient
output = LinearFunction.apply(hidden, second)  # no bias
output.sum().backward()
