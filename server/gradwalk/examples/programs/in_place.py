import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)

y = x.exp()  # backward will need y itself: saved at version 0
print(y._version)
y.add_(1)  # overwrites it: now version 1
print(y._version)

y.sum().backward()  # refuses. Mend: y = y + 1
