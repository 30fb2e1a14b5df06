"""Plain PyTorch: accumulation, autocast and a scaler, evaluation and a checkpoint each epoch."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("times", type=int, nargs="?", default=1)
parser.add_argument("--accumulate", type=int, default=4)
args = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(0)
train, valid = (
    DataLoader(TensorDataset(torch.randn(n, 64), torch.randint(0, 10, (n,))), 16, shuffle=True)
    for n in (1600, 320)
)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
for epoch in range(3 * args.times):
    for i, (x, y) in enumerate(train):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y) / args.accumulate
        scaler.scale(loss).backward()
        if (i + 1) % args.accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in valid)
    torch.save(model.state_dict(), "plain.pt")
    print(f"epoch {epoch} loss {loss.item():.4f} hits {hits}")
