"""What a reader must know about a row before comparing it."""

import pandas as pd

from epochcost.frameworks.variants import TUNED
from epochcost.money import prices
from epochcost.money.elsewhere import ESTIMATED, PUBLISHED
from epochcost.record.types import OWN_TRAINING
from epochcost.results.rows import OWN, RANDOM
from epochcost.show.wording import amounts, names
from epochcost.statistics.intervals import CONFIDENCE
from epochcost.statistics.own import UNIT_STEPS

# Records of early versions do not tell hosts with one machine id apart.
MIXED_HOSTS = "hosts may be mixed"
# What is said of rows, and what it means: docs/reference/flags.md is made of it.
MEANING = {
    "predicted": "the time is a prediction of a quick run",
    "synthetic data": "trained on generated data: the time is no result",
    "subset of the data": "trained on part of the real data",
    "samples": "trained on another number of samples than the complete data have",
    "from random weights": "the recipe's weights were missing",
    "measured by the project": "it came with the clone",
    "the log of": "a study published the log of another one once more",
    "epochs, not": "trained for other epochs than the baseline",
    "for 1,000 steps": "how many an own training has is unknown",
    "different recipe": "another recipe than today's entry of the workload",
    "batch size": "another batch size than the recipe's",
    "nothing beat the defaults": "`tuned` trained with the defaults",
    "disturbed": "a run has a flag",
    "paused for": "the run stood still for so long",
    MIXED_HOSTS: "the records do not tell machines of one image apart",
    "missed the quality target": "it did not learn what it should, and is not ranked",
    "median of": "the median of several machines",
    "if never interrupted": "the bill of a spot machine that was not interrupted",
    "as published": "somebody else's time",
    "estimated": "nobody measured it there; it follows from runs on other GPUs",
}


def of_row(row) -> list[str]:
    """What a reader must know about a row before comparing it."""
    notes = of_data(row) + of_length(row)
    if row.predicted:
        notes.append("predicted")
    if pd.notna(row.shipped) and row.shipped:
        notes.append(f"measured by the project, {row.shipped}")
    if row.source_id != OWN and pd.notna(row.copy_of) and row.copy_of:
        notes.append(f"the log of {row.copy_of} once more")
    compares = row.source_id == OWN and pd.notna(row.baseline_epochs)
    if compares and row.epochs != row.baseline_epochs:
        notes.append(f"{row.epochs:g} epochs, not {row.baseline_epochs:g}")
    return notes + of_training(row, row.quality_reached)


def of_training(row, reached: bool | float) -> list[str]:
    """How a row was trained, where that is not by the recipe and in peace, up to the quality.

    Args:
        reached: whether the quality reached its target; NaN where there is none.
    """
    notes = ["different recipe"] * (not row.own_recipe) + of_search(row)
    if pd.notna(row.batch_size) and row.batch_size != row.recipe_batch_size:
        notes.append(f"batch size {row.batch_size:g}, not {row.recipe_batch_size:g}")
    notes += of_noise(row)
    notes += [MIXED_HOSTS] * bool(row.mixed_hosts)
    if pd.notna(reached) and not reached:
        notes.append("missed the quality target")
    return notes


def interval_of(row) -> tuple[float, float]:
    """The range of a row's time: its own, where it is a prediction or has six full runs or more.

    Fewer runs look surer than they are. Theirs is what repeats of their kind have shown
    (`spreads`), for another hour.
    """
    known = pd.notna(row.time_confidence) and row.time_confidence >= CONFIDENCE
    if (row.predicted or known) and pd.notna(row.time_low) and pd.notna(row.time_high):
        return row.time_low, row.time_high
    return row.later_low, row.later_high


def of_option(option) -> list[str]:
    """What a reader must know about an option (a row of options.csv)."""
    notes = ["predicted"] * bool(option.predicted) + of_data(option) + of_length(option)
    notes += of_search(option) + of_noise(option) + of_machines(option)
    notes += [MIXED_HOSTS] * bool(option.mixed_hosts)
    return notes + ["if never interrupted"] * (option.price_kind in prices.INTERRUPTIBLE)


def of_offer(option) -> list[str]:
    """What a reader must know about an option and its price before comparing it with others."""
    kind = option.price_kind
    notes = [] if kind == prices.ON_DEMAND else [f"{names.price_kind(kind)} price"]
    notes += ["as published"] * (option.evidence == PUBLISHED)
    return notes + ["estimated"] * (option.evidence == ESTIMATED) + of_option(option)


def of_length(row) -> list[str]:
    """Of how many steps the time of an own training is whose whole number is unknown."""
    unknown = row.framework == OWN_TRAINING and pd.isna(row.steps)
    return [f"for {UNIT_STEPS:,} steps"] if unknown else []


def of_noise(row) -> list[str]:
    """Whether something disturbed a row's runs, and how long they stood still in all."""
    notes = ["disturbed"] * bool(row.noisy_runs)
    if row.paused_s > 0:
        notes.append(f"paused for {amounts.seconds(row.paused_s)}")
    return notes


def of_machines(row) -> list[str]:
    """On how many machines a row was measured, where it is the median of several."""
    return [f"median of {row.machines:.0f} machines"] if row.machines > 1 else []


def of_search(row) -> list[str]:
    """A note that a row of the variant `tuned` was trained with the defaults, where it was."""
    found = pd.notna(row.settings) and row.settings
    return ["nothing beat the defaults"] if row.variant == TUNED and not found else []


def of_data(row) -> list[str]:
    """What a row was trained on, where that is not all of the real data and the real weights."""
    notes = []
    if row.synthetic:
        notes.append("synthetic data")
    if differs(row):
        notes.append(f"{samples(row)} samples")
    elif not row.data_complete and not row.synthetic:
        notes.append("subset of the data")
    if row.weights == RANDOM:
        notes.append("from random weights")
    return notes


def samples(row) -> str:
    """How many samples a row was trained on, and how many it should be where that differs."""
    trained = f"{row.train_samples:,.0f}"
    if not differs(row):
        return trained
    # With complete data, it is another edition.
    complete = f"{row.complete_samples:,.0f}"
    return f"{trained} (published: {complete})" if row.data_complete else f"{trained} of {complete}"


def differs(row) -> bool:
    """Whether it is known that a row was trained on another number of samples than there are."""
    known = pd.notna(row.train_samples) and pd.notna(row.complete_samples)
    return known and row.train_samples != row.complete_samples
