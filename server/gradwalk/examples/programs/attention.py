import math

import torch

torch.manual_seed(0)
tokens = torch.randn(3, 4)  # three tokens of four numbers
W_q, W_k, W_v = (torch.randn(4, 2, requires_grad=True) for _ in range(3))

queries, keys, values = tokens @ W_q, tokens @ W_k, tokens @ W_v
scores = queries @ keys.T / math.sqrt(2)
weights = torch.softmax(scores, dim=-1)  # each row sums to 1
output = weights @ values

output.sum().backward()
print(W_q.grad)
