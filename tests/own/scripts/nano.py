"""In the manner of nanoGPT: `while True`, an evaluation and a checkpoint every 50 steps."""

import sys

import torch
from torch import nn

max_iters = 200 * int(sys.argv[1] if len(sys.argv) > 1 else 1)
eval_interval, eval_iters, batch_size, block_size, micro_steps = 50, 10, 4, 32, 2
torch.set_num_threads(1)
torch.manual_seed(1337)
data = torch.randint(0, 65, (20_000,))


class Model(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.tokens = nn.Embedding(65, width)
        self.places = nn.Embedding(block_size, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 65)

    def forward(self, x, y):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        hidden = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        scores = self.head(self.body(hidden, mask=mask, is_causal=True))
        return nn.functional.cross_entropy(scores.flatten(0, 1), y.flatten())


def get_batch():
    begins = torch.randint(len(data) - block_size, (batch_size,))
    both = [torch.stack([data[b + d : b + d + block_size] for b in begins]) for d in (0, 1)]
    return both[0], both[1]


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = [model(*get_batch()).item() for _ in range(eval_iters)]
    model.train()
    return sum(losses) / len(losses)


iter_num = 0
while True:
    if iter_num % eval_interval == 0:
        print(f"step {iter_num}: val loss {estimate_loss():.4f}")
        torch.save({"model": model.state_dict(), "iter_num": iter_num}, "nano.pt")
    for _ in range(micro_steps):
        loss = model(*get_batch()) / micro_steps
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > max_iters:
        break
