"""What searches for faster settings kept, and what whole trainings with it gained.

In: results/found.csv beside it (what each search wrote to config/tuned.yaml), searches.csv (its
runs), and runs.csv of results/tables (scripts/runs.py). Out: a Markdown table with a row per
workload and framework. Full runs with the settings, made after the search, are compared with full
runs by default on a machine of the same id: the nearest ones, at most so many hours apart, as many
as there are with the settings. Of several, the medians.
"""

import argparse
import json
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "study/benchmarks/results"
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.measure.activity import OTHERS
from epochcost.results import tables
from epochcost.show.wording import names
from epochcost.training.search import ROUNDS

NONE = "none beat the defaults"
HEAD = (
    "workload", "framework", "settings", "searched", "last rounds", "trained", "default, s",
    "tuned, s", "tuned over default", "quality, default", "quality, tuned",
)  # fmt: skip
LINE = "|---|---|---|---|---:|---|---:|---:|---:|---:|---:|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=ROOT / "results/tables")
    # Machines of study/articles/results.md that share an id did none of these runs within 13 hours.
    parser.add_argument("--hours", type=float, default=13, help="at most, between the two runs")
    arguments = parser.parse_args()
    searches, kept = (read(RESULTS / name) for name in ("searches.csv", "found.csv"))
    runs = tables.read_runs(arguments.tables / "runs.csv")
    full = runs[runs.source_id.eq("own") & ~runs.predicted & runs.status.eq("ok")]
    limit = pd.Timedelta(hours=arguments.hours)
    lines = [f"| {' | '.join(HEAD)} |", LINE]
    for one in kept.itertuples():
        search, pair = (
            table[table.workload.eq(one.workload) & table.framework.eq(one.framework)]
            for table in (searches, full)
        )
        cells = [
            one.workload,
            names.framework(one.framework),
            " ".join(f"`{word}`" for word in one.settings.split()) or NONE,
            one.started_at[:10],
            decided(search[search.started_at.ge(one.started_at)], one.settings),
            *trained(pair, one.settings, one.started_at, limit),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    print("\n".join(lines))


def read(path: Path) -> pd.DataFrame:
    """A table of results, with settings in the words of runs.csv: `name=value`, "" for none."""
    table = pd.read_csv(path, keep_default_na=False)
    settings = [sorted(json.loads(one).items()) for one in table.settings]
    return table.assign(
        settings=[" ".join(f"{name}={value}" for name, value in one) for one in settings]
    )


def decided(search: pd.DataFrame, settings: str) -> str:
    """What the last rounds say: the median of the ratios, and their range."""
    mark = "*" if search.scale.iloc[-1] == "quick" else ""
    if not settings:
        return f"1{mark}"
    found = pd.Series(ratios(search, settings))
    return f"{found.median():.2f}{mark} ({found.min():.2f} to {found.max():.2f})"


def ratios(search: pd.DataFrame, settings: str) -> list[float]:
    """The time with settings over that with the defaults, in each of a search's last rounds.

    Args:
        search: its runs, in order.
    """
    # A disturbed run that was made again did not count.
    again = search["flags"].str.contains(OTHERS) & search.settings.eq(search.settings.shift(-1))
    runs = search[~again & search.settings.isin(["", settings])].iloc[-2 * ROUNDS :]
    rounds = [runs[start : start + 2] for start in range(0, len(runs), 2)]
    times = [dict(zip(two.settings, two.seconds.map(float), strict=True)) for two in rounds]
    if [set(one) for one in times] != [{"", settings}] * ROUNDS:
        raise SystemExit(f"found.py: {settings}: the search does not end in {ROUNDS} rounds")
    return [one[settings] / one[""] for one in times]


def trained(pair: pd.DataFrame, settings: str, searched: str, limit: pd.Timedelta) -> list[str]:
    """Cells that compare full runs with the settings and with the defaults.

    Args:
        pair: full runs of a workload and framework.
        searched: when the search began; runs with the settings count from then on.
        limit: at most, between runs that are compared.
    """
    tuned = pair[pair.variant.eq("tuned") & pair.settings.eq(settings)]
    tuned = tuned[tuned.started_at.ge(searched)].sort_values("started_at")
    if tuned.empty:
        return [""] * 6
    tuned = near(tuned[tuned.machine.eq(tuned.machine.iloc[-1])], tuned.iloc[-1:], limit)
    default = pair[pair.variant.eq("default") & pair.machine.eq(tuned.machine.iloc[-1])]
    default = near(default, tuned, limit).head(len(tuned))
    return [
        tuned.date.max(),
        *(_time(runs) for runs in (default, tuned)),
        "" if default.empty else f"{tuned.time_s.median() / default.time_s.median():.2f}",
        *(_quality(runs) for runs in (default, tuned)),
    ]


def near(runs: pd.DataFrame, others: pd.DataFrame, limit: pd.Timedelta) -> pd.DataFrame:
    """The runs that began at most `limit` before or after one of the others, the nearest first."""
    starts = pd.to_datetime(others.started_at)
    apart = [(starts - start).abs().min() for start in pd.to_datetime(runs.started_at)]
    runs = runs.assign(apart=pd.to_timedelta(apart)).sort_values("apart")
    return runs[runs.apart.le(limit)]


def _time(runs: pd.DataFrame) -> str:
    """The median, of how many runs it is if not of one, and whether one was disturbed."""
    if runs.empty:
        return ""
    seconds, disturbed = runs.time_s.median(), runs.noise.fillna("").ne("").any()
    said = f"{seconds:,.{0 if seconds >= 100 else 1}f}{'†' if disturbed else ''}"
    return f"{said} ({len(runs)} runs)" if len(runs) > 1 else said


def _quality(runs: pd.DataFrame) -> str:
    """The median; nothing where the runs count for their time only."""
    values = runs.metric_value
    return f"{values.median():.4f}" if values.notna().any() else ""


if __name__ == "__main__":
    main()
