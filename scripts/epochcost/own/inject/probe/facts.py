"""What is known of a training beside its steps: its length, its ranks, what trains it."""

import os
import resource
import sys

from . import device, loops

_PACKAGES = (
    *("torch", "transformers", "accelerate", "lightning", "pytorch_lightning", "fastai", "keras"),
    *("tensorflow", "jax", "jaxlib", "flax", "optax", "numpy"),
)
_RANK = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_WORLD = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
# Batches whose tokens are looked at; seconds until facts are first written, and then twice that.
_LOOKS, _DUE_S = 20, 5.0


def synchronise() -> None:
    """Wait for the device; a framework that refuses is not waited for."""
    try:
        device.synchronise()
    except Exception:
        return


class Facts:
    """The facts of a process; hooks call `announce` and `batch`."""

    def __init__(self, limits: dict) -> None:
        self.rank, self.world = 0, 1
        self.planned, self.planned_by = limits["total_steps"], None
        if self.planned:
            self.planned_by = "given"
        self.resumed, self.period = 0, None
        self.scheduled: tuple[int, str] | None = None  # steps of a schedule, and which
        self.samples: float | None = None  # a step, over all ranks
        self.batch_size: int | None = None
        self.tokens: list[int] = []  # of single batches
        self.trainer = False
        self.loops = loops.Reader()
        self._next = 0.0

    def begin(self) -> None:
        """The first step of this process: which rank it is."""
        self.rank, self.world = _number(_RANK, 0), _number(_WORLD, 1)
        group = sys.modules.get("torch.distributed")
        if group is not None and group.is_available() and group.is_initialized():
            self.rank, self.world = group.get_rank(), group.get_world_size()

    def announce(
        self, by: str, planned=None, resumed=None, period=None, samples=None, before: int = 0
    ) -> None:
        """What a trainer says of its training, as it begins or later.

        Args:
            planned: steps of the whole, those of earlier processes included.
            before: steps that this process had done when the training began.
        """
        self.trainer = True
        if self.planned_by != "given":
            whole = isinstance(planned, int) and planned > 0
            self.planned, self.planned_by = (planned + before, by) if whole else (None, None)
        if resumed and not before:
            self.resumed = int(resumed)
        if period and period > 0:
            self.period = int(period)
        if samples:
            self.samples = float(samples)

    def batch(self, content, size) -> None:
        """A batch that trains; its size where a loader says it."""
        self.batch_size = size
        if len(self.tokens) < _LOOKS:
            self.tokens.append(_tokens(content))

    def due(self, now: float, first: float) -> bool:
        """Whether facts should be written again, in case the process is killed."""
        if now < self._next:
            return False
        self._next = now + max(_DUE_S, now - first)
        return True

    def plan(self, marks, now: float, last: bool = False) -> None:
        """Read the loops around this step where no trainer said how long the training is."""
        self.loops.read(marks, now, last)
        if self.trainer or self.planned_by in ("given", "epochcost.steps"):
            return
        found = self.loops.plan()
        if found:
            self.planned, self.planned_by, self.resumed = found
        elif self.scheduled and self.scheduled[0] > 0:
            self.planned, self.planned_by = self.scheduled

    def next_gap(self, marks) -> int | None:
        """The step after which the next evaluation or checkpoint, or epoch end, is due."""
        if self.period:
            done = self.resumed + marks.steps
            return (done // self.period + 1) * self.period - self.resumed
        return None if self.trainer else self.loops.next_turn(marks.steps)

    def progress(self, marks, now: float) -> list[int]:
        """For who asks while it trains: steps, planned, resumed; first and now in nanoseconds."""
        planned = self.planned or 0
        return [marks.steps, planned, self.resumed, int(marks.first * 1e9), int(now * 1e9)]

    def now(self, marks) -> dict:
        """All facts, for the journal."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        hook_s = marks.sampled / marks.samples if marks.samples else 0.0
        found = {
            "rank": self.rank,
            "world": self.world,
            "planned": self.planned,
            "planned_by": self.planned_by,
            "resumed": self.resumed,
            "period": self.period,
            "samples": self._samples(marks),
            "tokens": self._tokens(marks),
            "hook_s": hook_s + marks.border_s / max(1, marks.steps),
            "python": sys.version.split()[0],
            "packages": _versions(),
            "host_mib": peak / (2**20 if sys.platform == "darwin" else 2**10),
            "problems": marks.problems,
        }
        return found | device.seen()

    def _samples(self, marks) -> float | None:
        if self.samples is not None:
            return self.samples
        if not self.batch_size or not marks.all_batches:
            return None
        return float(self.batch_size * marks.usual_batches * self.world)

    def _tokens(self, marks) -> float | None:
        if not self.tokens or not all(self.tokens):
            return None
        each = sum(self.tokens) / len(self.tokens)
        samples, batch = self._samples(marks), self.batch_size
        if samples and batch:
            return each * samples / batch
        return each * marks.usual_batches * self.world


def _number(names: tuple[str, ...], otherwise: int) -> int:
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return otherwise


def _versions() -> dict[str, str]:
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in _PACKAGES}
    return {name: version for name, version in found.items() if isinstance(version, str)}


def _tokens(content) -> int:
    """The tokens of a batch: its numbers, where they are integers in two dimensions; else 0."""
    if isinstance(content, (list, tuple)) and content:
        content = content[0]
    elif hasattr(content, "keys"):
        content = content.get("input_ids")
    shape, kind = getattr(content, "shape", ()), str(getattr(content, "dtype", ""))
    if len(shape) != 2 or kind.rpartition(".")[2] not in ("int32", "int64"):
        return 0
    return int(shape[0]) * int(shape[1])
