"""Lightning, with accumulation and a validation each epoch."""

import sys

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, index):
        self.log("loss", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


torch.set_num_threads(1)
lightning.seed_everything(0, verbose=False)
train, valid = (
    DataLoader(TensorDataset(torch.randn(n, 64), torch.randint(0, 10, (n,))), 16)
    for n in (1600, 320)
)
trainer = lightning.Trainer(
    max_epochs=3 * int(sys.argv[1] if len(sys.argv) > 1 else 1),
    accelerator="cpu",
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    default_root_dir="lightning_out",
    accumulate_grad_batches=2,
)
module = Module()
trainer.fit(module, train, valid)
torch.save(module.state_dict(), "lightning_final.pt")
print("steps", trainer.global_step)
