import torch

w = torch.tensor(1.0, requires_grad=True)
batches = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

for batch in batches:
    loss = ((w * batch) ** 2).mean() / len(batches)
    loss.backward()  # adds to w.grad
    print(w.grad)

print(2 * (batches**2).mean())  # the gradient of one big batch

w.grad = None  # what optimizer.zero_grad() does
