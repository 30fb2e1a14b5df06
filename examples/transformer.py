"""Train a small character transformer on a text: pure PyTorch, AdamW, warm-up and cosine.

python transformer.py --text tinyshakespeare.txt --steps 5000
"""

import argparse
import math
from pathlib import Path

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--text", required=True, help="a text file; the longer the better")
parser.add_argument("--steps", type=int, default=5000)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--context", type=int, default=64)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--layers", type=int, default=4)
given = parser.parse_args()

torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
text = Path(given.text).read_text(encoding="utf-8")
characters = sorted(set(text))
numbers = {character: number for number, character in enumerate(characters)}
data = torch.tensor([numbers[character] for character in text])
train, held_out = data[: int(0.9 * len(data))], data[int(0.9 * len(data)) :]


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(characters), given.width)
        self.place = nn.Embedding(given.context, given.width)
        block = nn.TransformerEncoderLayer(
            given.width, 4, 4 * given.width, dropout=0.1, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(block, given.layers, enable_nested_tensor=False)
        self.head = nn.Linear(given.width, len(characters))

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        x = self.embed(x) + self.place(torch.arange(x.shape[1], device=x.device))
        return self.head(self.blocks(x, mask=mask, is_causal=True))


def batch(source):
    starts = torch.randint(len(source) - given.context - 1, (given.batch, 1))
    rows = source[starts + torch.arange(given.context + 1)]
    return rows[:, :-1].to(device), rows[:, 1:].to(device)


def loss_on(source):
    x, y = batch(source)
    return nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


model = Transformer().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
for step in range(given.steps):
    rate = min(1, (step + 1) / 100) * (0.5 + 0.5 * math.cos(math.pi * step / given.steps))
    for group in optimizer.param_groups:
        group["lr"] = 1e-3 * rate
    loss = loss_on(train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % 500 == 0:
        model.eval()
        with torch.no_grad():
            known = sum(loss_on(held_out).item() for _ in range(10)) / 10
        model.train()
        print(f"step {step + 1}: loss {loss.item():.3f}, held out {known:.3f}", flush=True)
torch.save(model.state_dict(), "transformer.pt")
