"""Keras 3, on each of its backends."""

from .marks import TRAINER


def callbacks(hooking, module) -> None:
    """Steps, plan and evaluations by the list of callbacks; an added one would change its threads.

    Several steps may be one call (steps_per_execution): then the number of the batch jumps.
    """
    marks, cls = hooking.marks, module.CallbackList
    last, before = [-1], [0]

    def train_begins(self, *args, **kwargs):
        source = marks.sources.get("keras")
        before[0] = source.count if source else 0
        plan(self)

    def plan(self, *args, **kwargs):
        params = self.params or {}
        steps, epochs = params.get("steps"), params.get("epochs")
        planned = steps * epochs if steps and epochs else None
        marks.facts.announce("keras", planned=planned, period=steps, before=before[0])
        last[0] = -1

    def batch_ended(self, batch, *args, **kwargs):
        many, last[0] = (batch - last[0] if batch > last[0] else batch + 1), batch
        marks.mark(marks.source("keras", "keras", TRAINER), many)

    hooking.wrap(cls, "on_train_begin", before=train_begins)
    hooking.wrap(cls, "on_epoch_begin", before=plan)
    hooking.wrap(cls, "on_train_batch_end", after=batch_ended)
    hooking.wrap(cls, "on_test_begin", before=lambda *a, **k: marks.during("evaluation"))


def batches(hooking, module) -> None:
    """The size of a batch; the first that is asked for trains."""
    marks = hooking.marks

    def made(self, *args, **kwargs):
        facts = marks.facts
        if not facts.samples and isinstance(self.data_adapter.batch_size, int):
            facts.samples = float(self.data_adapter.batch_size)

    hooking.wrap(module.EpochIterator, "__init__", after=made)
