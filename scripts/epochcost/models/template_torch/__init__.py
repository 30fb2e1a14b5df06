"""A workload to copy: any PyTorch module, with a loss, an optimiser and a schedule of its own.

Copy this folder to `scripts/epochcost/models/my_workload`, any name of letters, digits and `_`,
and change both classes and `workload.yaml`.
"""

import numpy as np

from epochcost.data.dataset import DataSet
from epochcost.models import Model, Split


class MyData(DataSet):
    """One file of NumPy arrays, made by `np.savez`: windows of a signal, and what comes next."""

    def prepare(self, paths, skipped):
        with np.load(paths["data.npz"]) as arrays:
            return dict(arrays)

    def synthetic(self, rng):
        phase = rng.uniform(0, 2 * np.pi, (2560, 1, 1))
        signal = np.sin(phase + np.arange(33).reshape(1, 33, 1) / 3).astype(np.float32)
        x, y = signal[:, :-1], signal[:, 1:]
        return {"x_train": x[:2048], "y_train": y[:2048], "x_held_out": x[2048:],
                "y_held_out": y[2048:]}  # fmt: skip


class MyModel(Model):
    """A small transformer that continues a signal at each of its moments."""

    def inputs(self, arrays, hyper):
        names = ("x_train", "y_train", "x_held_out", "y_held_out")
        return Split(*(arrays[name] for name in names))

    def torch_model(self, split, hyper):
        from torch import nn

        width = hyper["width"]
        layer = nn.TransformerEncoderLayer(width, 2, 2 * width, batch_first=True)
        encoder = nn.TransformerEncoder(layer, hyper["layers"], enable_nested_tensor=False)
        return nn.Sequential(nn.Linear(split.shape[-1], width), encoder, nn.Linear(width, 1))

    def torch_loss(self, hyper):
        from torch import nn

        return nn.functional.smooth_l1_loss

    def torch_optimizer(self, model, hyper, steps):
        import torch

        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
        return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
