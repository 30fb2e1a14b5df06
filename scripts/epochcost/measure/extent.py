"""How far a run trains: to the last epoch, or just a quick part that predicts the whole."""

import math
from dataclasses import dataclass

# A quick run: short epochs, as the speed may change between epochs but is steady within each.
# In training and in validation the clock is read around the steps between the first one and the
# last two, as these include what a framework does once per pass.
QUICK_EPOCHS = 8
QUICK_STEPS = 32
LAST_STEPS = 2
# With little data, or in large batches, they are shorter, then fewer, so that a quick run has no
# more than half the steps of a full one; but not fewer than show how epochs vary.
FEWEST_STEPS = 4
FEWEST_EPOCHS = 3
# Enough that the start of a pass weighs little.
INPUT_STEPS = 331
# Fine-tuning a large model takes seconds per step on a processor, and its epochs differ in kind.
QUICK_TUNING_STEPS = 6


@dataclass(frozen=True)
class Extent:
    """How far a run trains and where its clock is read.

    epochs: passes over the training data.
    steps: training steps of an epoch; fewer than the whole epoch in a quick run.
    samples: training samples of an epoch; the last batch of a quick run is as large as that of the
        whole epoch, so that a framework compiles for that size too.
    marks: steps after which the clock is read within an epoch, ascending.
    evaluation_steps, evaluation_samples, evaluation_marks: the same for a validation pass; 0 if
        the recipe has none.
    """

    epochs: int
    steps: int
    samples: int
    marks: tuple[int, ...]
    evaluation_steps: int = 0
    evaluation_samples: int = 0
    evaluation_marks: tuple[int, ...] = ()

    @property
    def input_steps(self) -> int:
        """Batches in the pass over the input alone."""
        return min(self.steps, INPUT_STEPS)


def of(scale: str, recipe: dict, train_samples: int, validation_samples: int) -> Extent:
    """The extent of a run: `full`, or `quick` for a few short epochs.

    A quick run of a fine-tuning recipe trains a few steps of each epoch.

    Args:
        recipe: the workload's entry of config/workloads.yaml.
    """
    epochs, batch = recipe["epochs"], recipe["batch_size"]
    counts = (train_samples, validation_samples)
    limits: list[int | None] = [None, None]
    if scale == "quick" and "fine_tuning" in recipe:
        # At most half of each pass: the model makes that of validation again at the end.
        half = [math.ceil(samples / batch / 2) for samples in counts]
        limits = [min(QUICK_TUNING_STEPS, steps) for steps in half]
    elif scale == "quick":
        epochs, *limits = _quick(epochs, *(math.ceil(samples / batch) for samples in counts))
    training, validation = (
        _part(samples, batch, most) for samples, most in zip(counts, limits, strict=True)
    )
    return Extent(epochs, *training, *validation)


def _quick(epochs: int, steps: int, evaluation_steps: int) -> tuple[int, int, int]:
    """Epochs of a quick run, and the most steps of their two passes.

    Args:
        epochs, steps, evaluation_steps: those of a full run.
    """

    def limit(steps: int, passes: int) -> int:
        return min(QUICK_STEPS, max(FEWEST_STEPS, epochs * steps // 2 // passes))

    few = min(steps, limit(steps, QUICK_EPOCHS))
    enough = max(FEWEST_EPOCHS, epochs * steps // 2 // few)
    # With very little data, no more than a full run takes.
    short = min(QUICK_EPOCHS, enough, epochs * steps // few)
    return short, few, limit(evaluation_steps, short)


def _part(samples: int, batch: int, most: int | None) -> tuple[int, int, tuple[int, ...]]:
    """Steps, samples and marks of a pass over all samples, or over at most `most` batches."""
    steps = math.ceil(samples / batch)
    if most is None:
        return steps, samples, (1,)
    few = min(most, steps)
    late = few - LAST_STEPS
    # The last batch keeps its size.
    kept = samples - (steps - few) * batch
    return few, kept, (1, late) if late > 1 else (1,)
