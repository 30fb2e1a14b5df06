"""PyTorch: steps of optimizers, waiting for batches, checkpoints, steps that a scaler skips."""

import sys
import time
from functools import wraps

from .marks import OPTIMIZER

clock = time.perf_counter


def optimizers(hooking, module) -> None:
    """Mark each step by PyTorch's own hook for all optimizers."""
    marks, frame_of = hooking.marks, sys._getframe
    name = "torch.optim"

    def step_ended(optimizer, args, kwargs):
        frame = frame_of(1)
        code, frame = frame.f_code, frame.f_back
        while frame is not None:  # an optimizer inside another one, as SAM has, does no step
            if frame.f_code is code:
                return
            frame = frame.f_back
        source = marks.sources.get(id(optimizer))
        if source is None:
            source = marks.source(id(optimizer), name, OPTIMIZER)
        marks.mark(source)

    module.register_optimizer_step_post_hook(step_ended)


def scalers(hooking, module) -> None:
    """A step that a scaler skips never reaches its optimizer: it is marked here."""
    marks, original = hooking.marks, module.GradScaler.step

    @wraps(original)
    def step(self, optimizer, *args, **kwargs):
        source = marks.sources.get(id(optimizer))
        before = source.count if source else 0
        result = original(self, optimizer, *args, **kwargs)
        source = marks.sources.get(id(optimizer))
        if source is None:
            source = marks.source(id(optimizer), "torch.optim", OPTIMIZER)
        if source.count == before:
            marks.mark(source)
        return result

    module.GradScaler.step = step


def loaders(hooking, module) -> None:
    """Time the waiting for batches; tell those that train from those of an evaluation."""
    marks, base = hooking.marks, module._BaseDataLoaderIter
    original = base.__next__
    torch = sys.modules["torch"]

    @wraps(original)
    def __next__(self):
        begin = clock()
        batch = original(self)
        try:
            marks.waited += clock() - begin
            if torch.is_grad_enabled():
                marks.batches += 1
                marks.all_batches += 1
                if marks.all_batches <= 20:
                    marks.facts.batch(batch, getattr(self, "_epochcost_batch", None))
            else:
                marks.kind = "evaluation"
        except Exception as error:
            marks.problem("the wait for a batch", error)
        return batch

    def sized(self, loader, *args, **kwargs):
        size = getattr(loader, "batch_size", None)
        if size is None:
            size = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
        self._epochcost_batch = size if isinstance(size, int) else None

    base.__next__ = __next__
    # The iterators of processes and of one process share it.
    hooking.wrap(base, "__init__", after=sized)


def schedulers(hooking, module) -> None:
    """The steps that a schedule is made for, where the loops of the script say nothing."""
    facts = hooking.marks.facts

    def made(schedule, *args, **kwargs):
        facts.scheduled = int(schedule.total_steps), "OneCycleLR"

    hooking.wrap(module.OneCycleLR, "__init__", after=made)


def saving(hooking, module) -> None:
    """A time between two steps with a `torch.save` is a checkpoint."""
    marks = hooking.marks
    hooking.wrap(module, "save", after=lambda *args, **kwargs: marks.during("checkpoint"))
