"""Nine styles of scripts, and what is true of each."""

import os
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Style:
    """A script of scripts/, and what it does: its steps, and after how many a gap is."""

    script: str
    steps: int
    counted_by: str
    gaps: tuple[int, ...] = ()
    samples: float | None = None
    final: str | None = None  # saved at the end
    backend: str | None = None
    ranks: int = 1
    # Whether what it prints is the same each time.
    same: bool = True

    def command(self, environment: Path, *words: str) -> list[str]:
        """To run it with the interpreter of an environment's bin folder."""
        start = [str(environment / "python")]
        if self.ranks > 1:
            start = [str(environment / "torchrun"), "--nproc-per-node", str(self.ranks)]
        backend = ["env", f"KERAS_BACKEND={self.backend}"] if self.backend else []
        return [*backend, *start, str(SCRIPTS / self.script), *words]


STYLES = {
    "plain PyTorch": Style("plain_amp.py", 75, "torch.optim", (25, 50), 64),
    "GAN": Style("gan.py", 1000, "torch.optim"),
    "Hugging Face": Style(
        "hf_trainer.py", 100, "transformers", (20, 40, 60, 80), 16, "hf_final", same=False
    ),
    "Lightning": Style(
        "lightning_fit.py", 150, "lightning", (50, 100), 32, "lightning_final.pt", same=False
    ),
    "Keras on JAX": Style(
        "keras_fit.py", 400, "keras", (100, 200, 300), 32, "keras_final.keras", "jax"
    ),
    "Keras on torch": Style(
        "keras_fit.py", 400, "keras", (100, 200, 300), 32, "keras_final.keras", "torch"
    ),
    "fastai": Style("fastai_fit.py", 200, "fastai", (100,), 16, "models/fastai.pth"),
    "JAX and tqdm": Style("jax_tqdm.py", 2000, "tqdm", same=False),
    "nanoGPT": Style("nano.py", 201, "torch.optim", (50, 100, 150, 200)),
    "torchrun": Style("ddp.py", 500, "torch.optim", ranks=2, final="done-0", same=False),
}


def quiet_environment() -> dict[str, str]:
    """Variables of a run on a machine with others: one thread, no network."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
