import torch

A = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
x = torch.tensor([1.0, 2.0], requires_grad=True)

losses = A @ x  # two losses; the Jacobian is A

# 0.2 of the first loss and 0.8 of the second, in one backward.
losses.backward(torch.tensor([0.2, 0.8]))
print(x.grad)  # 0.2 * [2, 1] + 0.8 * [1, 3]
