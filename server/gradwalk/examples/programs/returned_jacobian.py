import torch


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return torch.diag(result)  # the Jacobian, [3, 3]. Mend: grad_output @ torch.diag(result)


x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
y = Exp.apply(x)
y.backward(torch.tensor([1.0, 10.0, 100.0]))
print(x.grad)  # no error, and wrong: the rows were summed, v was never used
