"""How far a run trains: to the last epoch, or the quick part of it that predicts the whole."""

import math
from dataclasses import dataclass

# A quick run: short epochs, as the speed may change from one epoch to the next and stay within it.
# The clock is read around the steps between, without the first one and the last two: what a
# framework does once an epoch falls on these.
QUICK_EPOCHS = 8
QUICK_STEPS = 32
QUICK_LAST_STEPS = 2
QUICK_EVALUATION_STEPS = 30
INPUT_STEPS = 331
# Fine-tuning a large model takes seconds a step on a processor, and each of its epochs differs.
QUICK_TUNING_STEPS = 6


@dataclass(frozen=True)
class Schedule:
    """How far a run trains and where its clock is read.

    epochs: passes over the training data.
    steps: training steps of an epoch; fewer than the whole epoch in a quick run.
    samples: training samples of an epoch; the last batch of a quick run is as large as that of the
        whole epoch, so that what a framework compiles for it is met.
    marks: steps after which the clock is read within an epoch, ascending.
    evaluation_steps: batches of a validation pass; 0 where the recipe has none.
    """

    epochs: int
    steps: int
    samples: int
    marks: tuple[int, ...]
    evaluation_steps: int

    @property
    def input_steps(self) -> int:
        """Batches of the pass over the input alone."""
        return min(self.steps, INPUT_STEPS)


def plan(scale: str, recipe: dict, train_samples: int, validation_samples: int) -> Schedule:
    """The schedule of a run: `full`, or `quick` for a few short epochs.

    A quick run of a recipe for fine-tuning trains a few steps of each of its epochs.

    Args:
        recipe: the workload's entry of config/workloads.yaml.
    """
    epochs, batch = recipe["epochs"], recipe["batch_size"]
    steps = math.ceil(train_samples / batch)
    evaluation_steps = math.ceil(validation_samples / batch)
    if scale == "full":
        return Schedule(epochs, steps, train_samples, (1,), evaluation_steps)
    last_batch = train_samples - (steps - 1) * batch
    if "fine_tuning" in recipe:
        few = min(QUICK_TUNING_STEPS, steps)
        samples = (few - 1) * batch + last_batch
        held_out = min(QUICK_TUNING_STEPS, evaluation_steps)
        return Schedule(epochs, few, samples, (1,), held_out)
    few = min(QUICK_STEPS, steps)
    late = few - QUICK_LAST_STEPS
    return Schedule(
        epochs=QUICK_EPOCHS,
        steps=few,
        samples=(few - 1) * batch + last_batch,
        marks=(1, late) if late > 1 else (1,),
        evaluation_steps=min(QUICK_EVALUATION_STEPS, evaluation_steps),
    )
