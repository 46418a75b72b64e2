import torch


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)  # hand over None instead of inventing zeros
        return a * 2, b * 3

    @staticmethod
    def backward(ctx, grad_first, grad_second):
        print("grad_second is", grad_second)  # nothing used `second`
        return grad_first * 2, None if grad_second is None else grad_second * 3


a, b, c, d = (torch.tensor(1.0, requires_grad=True) for _ in range(4))
first, second = Pair.apply(a, b)
loss = first + c * 0
loss.backward()

print("a", a.grad)  # a value
print("b", b.grad)  # None: backward returned None
print("c", c.grad)  # zero: a path, multiplied by 0
print("d", d.grad)  # None: no path at all
