"""fastai's learner."""

import sys

import fastai.callback.schedule
import torch
from fastai.basics import CrossEntropyLossFlat, DataLoaders, Learner, nn, set_seed
from torch.utils.data import TensorDataset

torch.set_num_threads(1)
set_seed(0)
sets = [TensorDataset(torch.randn(n, 64), torch.randint(0, 10, (n,))) for n in (1600, 320)]
assert fastai.callback.schedule  # gives the learner fit_one_cycle
loaders = DataLoaders.from_dsets(*sets, bs=16, device="cpu")
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
learner = Learner(loaders, net, loss_func=CrossEntropyLossFlat())
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(2 * int(sys.argv[1] if len(sys.argv) > 1 else 1), 1e-3)
learner.save("fastai")
print("trained")
