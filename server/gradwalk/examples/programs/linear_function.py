import torch


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        return output if bias is None else output + bias

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
output = LinearFunction.apply(hidden, torch.tensor([[2.0]]))  # no bias, no gradient for its weight
output.sum().backward()
