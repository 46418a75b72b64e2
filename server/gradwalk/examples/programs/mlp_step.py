import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
target = torch.tensor([[1.0], [1.0], [0.0]])

loss = nn.functional.mse_loss(model(x), target)
loss.backward()
optimizer.step()  # each parameter moves against its .grad

new_loss = nn.functional.mse_loss(model(x), target)
print(f"{loss.item():.2f} -> {new_loss.item():.2f}")
