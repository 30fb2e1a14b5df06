"""quality.csv, targets.csv and predictions.csv as Markdown tables: for people, and for docs/."""

import pandas as pd

from epochcost import markdown as md
from epochcost.record.check import LOSSES
from epochcost.results.rows import RANDOM
from epochcost.show.wording import amounts, names, remarks

_HEAD = (
    ("workload", False),
    ("framework", False),
    ("machine", False),
    ("quality", True),
    ("published", True),
    ("target", True),
    ("runs", True),
    ("epoch", True),
    ("all epochs", True),
    ("over the K80", True),
    ("input alone", True),
    ("samples", True),
    ("remarks", False),
)
_PREDICTIONS_HEAD = (
    ("workload", False),
    ("framework", False),
    ("machine", False),
    ("predicted", True),
    ("interval", True),
    ("quick runs", True),
    ("measured", True),
    ("full runs", True),
    ("predicted over measured", True),
    ("inside", True),
    ("hours apart", True),
    ("quick over full", True),
    ("remarks", False),
)


_TARGETS_HEAD = (
    ("workload", False),
    ("runs", True),
    ("frameworks", True),
    ("mean", True),
    ("deviation", True),
    ("worst", True),
    ("worst published", True),
    ("target", True),
    ("deviations off", True),
)


def markdown(table: pd.DataFrame) -> str:
    """The table, one line per row of quality.csv."""
    if table.empty:
        return "No full run on real data was made here yet.\n"
    table = table.assign(apart=names.tell_apart(table, but="settings"))
    return _table(_HEAD, [_cells(row) for row in table.itertuples()])


def predictions_markdown(table: pd.DataFrame) -> str:
    """What quick runs predicted beside what full runs took; empty where there are no pairs."""
    if table.empty:
        return ""
    table = table.assign(apart=names.tell_apart(table, but="settings"))
    return _table(_PREDICTIONS_HEAD, [_prediction_cells(row) for row in table.itertuples()])


def targets_markdown(table: pd.DataFrame) -> str:
    """What targets are set from; empty where no workload has two runs."""
    if table.empty:
        return ""
    return _table(_TARGETS_HEAD, [_target_cells(row) for row in table.itertuples()])


def _target_cells(row) -> list[str]:
    published = "" if pd.isna(row.published_worst) else f"{row.published_worst:.3f}"
    return [
        row.workload + " (loss)" * (row.metric in LOSSES),
        str(row.runs),
        str(row.frameworks),
        f"{row.mean:.4f}",
        f"{row.deviation:.4f}",
        f"{row.worst:.4f}",
        published,
        f"{row.target:g}",
        "" if pd.isna(row.deviations_off) else f"{row.deviations_off:.1f}",
    ]


def _table(head: tuple[tuple[str, bool], ...], rows: list[list[str]]) -> str:
    """A Markdown table; columns of numbers are right-aligned."""
    lines = [
        "| " + " | ".join(name for name, _ in head) + " |",
        "|" + "|".join("---:" if right else "---" for _, right in head) + "|",
        *(md.row(cells) for cells in rows),
    ]
    return "\n".join(lines) + "\n"


def _prediction_cells(row) -> list[str]:
    spread = pd.notna(row.predicted_low)
    low_high = [amounts.seconds(bound) for bound in (row.predicted_low, row.predicted_high)]
    return [
        row.workload,
        names.framework(row.framework, row.variant),
        row.hardware_label,
        amounts.seconds(row.predicted_s),
        " to ".join(low_high) if spread else "",
        str(row.quick_runs),
        amounts.seconds(row.measured_s),
        str(row.full_runs),
        _ratio(row),
        "" if pd.isna(row.within) else f"{row.within:.0f} of {row.with_interval}",
        f"{row.hours_apart:.1f}",
        f"{row.wall_share:.1%}",
        ", ".join(_prediction_remarks(row)),
    ]


def _prediction_remarks(row) -> list[str]:
    notes = _particulars(row) + remarks.of_search(row)
    if row.synthetic:
        notes.append("synthetic data")
    elif not row.data_complete:
        notes.append(f"{row.train_samples:,.0f} samples, a subset")
    if row.weights == RANDOM:
        notes.append("from random weights")
    notes += ["disturbed"] * bool(row.disturbed)
    return notes + [remarks.MIXED_HOSTS] * bool(row.mixed_hosts)


def _ratio(row) -> str:
    """The median ratio, with the lowest and the highest where they differ."""
    ends = [f"{value:.2f}" for value in (row.lowest, row.highest)]
    spread = f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
    return f"{row.predicted_over_measured:.2f}{spread}"


def _cells(row) -> list[str]:
    value = f"{row.value:.4f}"
    if row.runs > 1:
        value += f" ({row.value_low:.4f} to {row.value_high:.4f})"
    if row.metric in LOSSES:
        value += " loss"
    published = ""
    if pd.notna(row.published_low):
        published = f"{row.published_low:.3f} to {row.published_high:.3f}"
    epoch = "" if pd.isna(row.epoch_s) else amounts.seconds(row.epoch_s)
    relative = "" if pd.isna(row.time_relative) else amounts.ratio(row.time_relative)
    share = "" if pd.isna(row.input_share) else f"{row.input_share:.1%}"
    return [
        row.workload,
        names.framework(row.framework, row.variant),
        row.hardware_label,
        value,
        published,
        f"{row.target:g}",
        str(row.runs),
        epoch,
        "" if pd.isna(row.time_s) else amounts.seconds(row.time_s),
        relative,
        share,
        remarks.samples(row),
        ", ".join(_remarks(row)),
    ]


def _remarks(row) -> list[str]:
    notes = _particulars(row)
    if not row.data_complete and not remarks.differs(row):
        notes.append("subset of the data")
    if row.weights == RANDOM:
        notes.append("from random weights")
    return notes + remarks.of_machines(row) + remarks.of_training(row, row.reached)


def _particulars(row) -> list[str]:
    """What tells a row apart from others of its name, and all that was set."""
    said = (row.apart, row.settings)
    return [text for text in said if pd.notna(text) and text]
