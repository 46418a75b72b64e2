import torch

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
bias = torch.zeros(3, requires_grad=True)

y = x + bias  # [2, 3] + [3]: the bias is used once per row
y.backward(torch.tensor([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]]))
print(bias.grad)  # so its gradient is the sum over the rows
