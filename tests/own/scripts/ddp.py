"""Two processes of torchrun, with gloo."""

import sys

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
model = nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
steps = 500 * int(sys.argv[1] if len(sys.argv) > 1 else 1)
try:
    for it in range(steps):
        x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if it % 100 == 0 and rank == 0:
            print(it, f"{loss.item():.4f}", flush=True)
    dist.barrier()
    open(f"done-{rank}", "w").close()
finally:
    open(f"last-{rank}-{it}", "w").close()
    dist.destroy_process_group()
