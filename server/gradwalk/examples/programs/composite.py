import torch
import torch.nn.functional as F

logits = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)
target = torch.tensor([0])

# cross_entropy has no backward of its own: autograd sees the two operations inside.
loss = F.cross_entropy(logits, target)
loss.backward()

print(logits.grad)
print(torch.softmax(logits.detach(), dim=1) - F.one_hot(target, 3))
