"""How far estimates for GPUs that nobody measured are off, and how often their intervals hold.

In: data/reference, data/published, data/measured. Out: Markdown tables. Each workload is predicted
from the others: it is left out with every other workload of its network; beside it the pair of
GPUs, the suite, or for data sheets the GPU. --write keeps the widths of the intervals in
data/reference/intervals.csv and the tables in results/transfer.csv, --kept prints these.
"""

import argparse
import csv
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost import estimate, files
from epochcost.estimate import guesses, reference, transfer
from epochcost.estimate.guesses import Guess
from epochcost.estimate.knowledge import Knowledge
from epochcost.estimate.ratios import Ratio, usual_batch
from epochcost.record import shipped
from epochcost.results import rows

TABLES = ROOT / "study/benchmarks/results/transfer.csv"
# FP32 of GPUs before Ampere is also at `tf32`.
PRECISIONS, COUNTS = ("tf32", "fp16", "bf16", "unknown"), (1, 2, 4, 8)
# A pair of GPUs with more rows counts as this many.
_MOST_OF_A_PAIR = 60
# Batches that are no further apart than this factor were kept.
_KEPT = 2
_FOLDS, _SEED = 10, 1
# Suites with fewer rows are not told one by one.
_FEW = 100
ALL, KEPT = "all ratios", ", batch kept"


@dataclass(frozen=True)
class Miss:
    """A left-out workload: what was predicted of it, and how wrong.

    off: logarithm of predicted over true, in scale: that over the scale of the estimate. kept:
    whether it had about the same batch on both GPUs, as a training has.
    """

    width: str
    network: str
    suite: str
    pair: tuple[str, str]
    off: float
    scale: float
    kept: bool

    @property
    def in_scale(self) -> float:
        return abs(self.off) / self.scale


Group = Callable[[Miss], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the widths and the tables")
    parser.add_argument("--kept", action="store_true", help="print the tables that were kept")
    arguments = parser.parse_args()
    if arguments.kept:
        print(printed(_read(TABLES)))
        return
    known = estimate.read()
    misses, suites, of_gpus = left_out(known), unseen_suites(known), left_out_gpus(known)
    found = widths(misses, of_gpus, host_misses())
    judged = Knowledge(known.gpus, known.cells, found)
    table = [*of_references(misses, suites, of_gpus, found), *of_others(judged)]
    print(printed(table))
    if arguments.write:
        _write(TABLES, COLUMNS, table)
        kept = (
            {"kind": kind, "half_width": one.half, "errors": one.errors, "networks": one.networks}
            for kind, one in found.items()
        )
        columns = ("kind", "half_width", "errors", "networks")
        _write(reference.FOLDER / "intervals.csv", columns, list(kept))


# What is left out


def left_out(known: Knowledge) -> list[Miss]:
    """Each workload predicted without its network, by each kind of evidence that there is."""
    found = []
    for network in sorted({cell.network for cell in known.cells}):
        without = known.without(networks=[network])
        for precision, count, pair, ratio, true in _targets(known, network):
            for guess in _guessed(without, precision, count, pair):
                found.append(_miss(guess, ratio, pair, true))
            for guess in _two(known, without, precision, count, pair, ratio, network):
                found.append(_miss(guess, ratio, pair, true))
    return found


def unseen_suites(known: Knowledge) -> list[Miss]:
    """Each workload predicted from other suites alone, without its network."""
    found = []
    for suite in sorted({cell.suite for cell in known.cells}):
        for network in sorted({cell.network for cell in known.cells if cell.suite == suite}):
            without = known.without(networks=[network], suites=[suite])
            for precision, count, pair, ratio, true in _targets(known, network):
                guess = guesses.direct(*pair, count, precision, without)
                if ratio.suite == suite and guess:
                    found.append(_miss(guess, ratio, pair, true))
    return found


def left_out_gpus(known: Knowledge) -> list[Miss]:
    """Each workload predicted by data sheets that were fitted without one of its two GPUs.

    `pair` names the GPU that was left out first.
    """
    found = []
    for gpu in known.gpus:
        without = known.without(gpus=[gpu])
        for precision in PRECISIONS:
            for pair, ratios in known.at(precision, 1).pairs.items():
                if gpu in pair:
                    sheets = [known.gpus[name] for name in pair]
                    if guess := guesses.by_sheet(*sheets, precision, without):
                        order = (gpu, *(name for name in pair if name != gpu))
                        found += [
                            _miss(guess, one, order, _true(one, ratios, pair, known))
                            for one in ratios
                        ]
    return found


def _targets(
    known: Knowledge, network: str
) -> Iterator[tuple[str, int, tuple[str, str], Ratio, float]]:
    """The ratios of a network, with their true value at an equal batch."""
    for precision in PRECISIONS:
        for count in COUNTS:
            for pair, ratios in known.at(precision, count).pairs.items():
                for one in ratios:
                    if one.network == network:
                        yield precision, count, pair, one, _true(one, ratios, pair, known)


def _true(one: Ratio, ratios: list[Ratio], pair: tuple[str, str], known: Knowledge) -> float:
    """A ratio less what its larger batch gains, as other pairs of GPUs tell.

    Where its batch is not stated, it is as the others' of its pair.
    """
    others = [other for other in ratios if other is not one]
    batch = usual_batch(others) if one.batch is None else one.batch
    return one.value - known.gains.of(one.network, min(pair, pair[::-1])) * batch


def _guessed(
    without: Knowledge, precision: str, count: int, pair: tuple[str, str]
) -> Iterator[Guess]:
    """What each kind says, even where a stronger one is there."""
    for look in (guesses.direct, guesses.chained):
        if guess := look(*pair, count, precision, without):
            yield guess


def _two(
    known: Knowledge, without: Knowledge, precision: str, count: int, pair: tuple, ratio: Ratio,
    network: str,
) -> Iterator[Guess]:  # fmt: skip
    """What a second measured GPU makes of it: one that is chosen at random."""
    base, target = pair
    at = known.at(precision, count)
    times = {}
    for gpu in without.at(precision, count).partners.get(base, ()):
        ratios = at.ratios(base, gpu)
        mine = [
            one
            for one in ratios
            if one.network == network and one.suite == ratio.suite and one.equal == ratio.equal
        ]
        if gpu != target and mine:
            times[gpu] = _true(mine[0], ratios, (base, gpu), known)
    if times:
        chance = random.Random(f"{pair}{ratio}")
        gpu = chance.choice(sorted(times))
        if guess := guesses.resembling(base, target, {gpu: times[gpu]}, count, precision, without):
            yield guess


def _miss(guess: Guess, ratio: Ratio, pair: tuple[str, str], true: float) -> Miss:
    kept = ratio.batch is not None and abs(ratio.batch) <= math.log(_KEPT) + 1e-9
    width = guess.width
    if width.startswith(guesses.EQUAL) and not ratio.equal:
        # The left-out workload changed its software, which the networks behind it did not.
        width = width.replace(guesses.EQUAL, guesses.RATIOS)
    return Miss(width, ratio.network, ratio.suite, pair, guess.value - true, guess.scale, kept)


# What follows


def widths(
    misses: list[Miss], of_gpus: list[Miss], hosts: list[Miss]
) -> dict[str, reference.Width]:
    """The widths of the intervals, by kind."""
    groups: dict[str, list[Miss]] = defaultdict(list)
    for miss in (*misses, *of_gpus, *hosts):
        groups[miss.width].append(miss)
    return {
        kind: reference.Width(half(some), len(some), len({miss.network for miss in some}))
        for kind, some in groups.items()
    }


def half(misses: list[Miss]) -> float:
    """What 90 of 100 are within, in scales: split conformal, with the weights of `weights`."""
    ranked = sorted(zip((miss.in_scale for miss in misses), weights(misses), strict=True))
    return _quantile(ranked, 0.9 * (1 + 1 / len(misses)))


def weights(misses: list[Miss]) -> list[float]:
    """How much each counts: a pair of GPUs with many rows as `_MOST_OF_A_PAIR`."""
    number = Counter(miss.pair for miss in misses)
    return [min(1, _MOST_OF_A_PAIR / number[miss.pair]) for miss in misses]


def error(misses: list[Miss], share: float) -> float:
    """A quantile of exp(|log predicted - log true|) - 1."""
    ranked = sorted(zip((abs(miss.off) for miss in misses), weights(misses), strict=True))
    return math.expm1(_quantile(ranked, share))


def _quantile(ranked: list[tuple[float, float]], share: float) -> float:
    wanted, so_far = share * sum(weight for _, weight in ranked), 0.0
    for value, weight in ranked:
        so_far += weight
        if so_far >= wanted:
            return value
    return ranked[-1][0]


def held(misses: list[Miss], group: Group, by: list[Miss] | None = None) -> float:
    """The share within intervals of a width that was set without the group of each.

    Args:
        by: what the widths are set from, if not from the same.
    """
    inside = 0.0
    groups: dict[object, list[tuple[Miss, float]]] = defaultdict(list)
    for miss, weight in zip(misses, weights(misses), strict=True):
        groups[group(miss)].append((miss, weight))
    for name, some in groups.items():
        others = [miss for miss in (misses if by is None else by) if group(miss) != name]
        if others:
            width = half(others)
            inside += sum(weight for miss, weight in some if miss.in_scale <= width)
    return inside / sum(weights(misses))


def _fold(miss: Miss) -> int:
    return random.Random(f"{_SEED}{sorted(miss.pair)}").randrange(_FOLDS)


def of_references(
    misses: list[Miss], suites: list[Miss], of_gpus: list[Miss], found: dict[str, reference.Width]
) -> list[dict[str, object]]:
    """A row per kind of estimate."""
    table = []
    ratios = (guesses.EQUAL, guesses.RATIOS)
    kinds = {ALL: ratios} | {kind: (kind,) for kind in sorted({miss.width for miss in misses})}
    for kind, names in kinds.items():
        chosen = [miss for miss in misses if miss.width in names]
        elsewhere = [miss for miss in suites if miss.width in names]
        kept = [miss for miss in chosen if miss.kept]
        row = _errors(kind, chosen) | _held(chosen)
        if elsewhere:
            row["suites"] = held(elsewhere, _suite, chosen)
            row["least"] = min(
                held(some, _suite, chosen)
                for suite in {miss.suite for miss in elsewhere}
                if len(some := [miss for miss in elsewhere if miss.suite == suite]) >= _FEW
            )
        table.append({"table": "references", **row})
        table.append({"table": "references", **_errors(f"{kind}{KEPT}", kept)})
    row = _errors(guesses.SHEET, of_gpus) | {"gpus": held(of_gpus, lambda miss: miss.pair[0])}
    row["factor"] = math.exp(half(of_gpus))
    kept = _errors(f"{guesses.SHEET}{KEPT}", [miss for miss in of_gpus if miss.kept])
    table += [{"table": "references", **row}, {"table": "references", **kept}]
    return table


def _suite(miss: Miss) -> str:
    return miss.suite


def _errors(kind: str, misses: list[Miss]) -> dict[str, object]:
    return {
        "kind": kind, "workloads": len(misses), "pairs": len({miss.pair for miss in misses}),
        "median": error(misses, 0.5), "p90": error(misses, 0.9),
    }  # fmt: skip


def _held(misses: list[Miss]) -> dict[str, object]:
    return {
        "networks": held(misses, lambda miss: miss.network),
        "of_pairs": held(misses, _fold),
        "factor": math.exp(half(misses) * median(miss.scale for miss in misses)),
    }


# What others measured


def of_others(known: Knowledge) -> list[dict[str, object]]:
    """A row per published source and GPU, and those of the shipped records."""
    return [*_of_published(known), *_of_shipped(known)]


def _of_published(known: Knowledge) -> list[dict[str, object]]:
    runs: dict[tuple, list[estimate.Measured]] = defaultdict(list)
    with open(ROOT / "data/published/measurements.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            used = row["gpus_used"]
            if row["row_kind"] == "total" and row["gpu"] and used not in ("", "0"):
                share = row["gpu_utilisation_pct"]
                key = row["source_id"], row["workload"], row["framework"], used
                runs[key].append(
                    estimate.Measured(
                        row["gpu"], int(used), "fp32", row["framework"], float(row["time_s"]),
                        float(share) / 100 if share else None,
                    )
                )  # fmt: skip
    results = defaultdict(list)
    for (source, *_), some in runs.items():
        for one, other in permutations(some, 2):
            if one.gpu != other.gpu:
                answer = estimate.time_on([one], other.gpu, other.count, "fp32", known)
                many = f", {one.count} GPUs" if one.count > 1 else ""
                results[f"{source}, {other.gpu}{many}"].append((answer, other.seconds))
    return [_row("published", kind, some) for kind, some in sorted(results.items())]


def _of_shipped(known: Knowledge) -> list[dict[str, object]]:
    """The shipped records of one machine of a GPU from those of another, and from CPUs."""
    by_training = _shipped()
    results = defaultdict(list)
    for machines in by_training.values():
        for (here, one), (there, other) in permutations(machines.items(), 2):
            if other.gpu and here != there:
                answer = estimate.time_on([one], other.gpu, 1, one.precision, known)
                whence = "another one" if one.gpu else "a CPU"
                results[f"{other.gpu} from {whence}"].append((answer, other.seconds))
    return [_row("shipped", kind, some) for kind, some in sorted(results.items())]


def _shipped(disturbed: bool = True) -> dict[tuple, dict[str, estimate.Measured]]:
    """The shipped trainings, by machine: the median of their times."""
    found: dict[tuple, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for _, record in shipped.read_all(ROOT / "data/measured", {}):
        row = rows.run_row(record, "")
        if row.time_s and record.status == "ok" and (disturbed or not row.noise):
            gpu = record.machine.gpus[0].name if record.machine.gpus else ""
            key = row.workload, row.framework, row.variant, row.batch_size
            found[key][record.machine.id].append((gpu, row.time_s, record.utilisation.gpu_share))
    return {
        key: {machine: _measured(key[1], some) for machine, some in machines.items()}
        for key, machines in found.items()
    }


def _measured(framework: str, some: list[tuple[str, float, float | None]]) -> estimate.Measured:
    gpu, shares = some[0][0], [share for *_, share in some if share is not None]
    share = median(shares) if shares else None
    seconds = median(time_s for _, time_s, _ in some)
    return estimate.Measured(gpu, 1 if gpu else 0, "tf32", framework, seconds, share)


def host_misses() -> list[Miss]:
    """How far the hosts of the shipped records are apart: one training on two of those without GPU.

    All have two cores, so that little but the speed of a core differs.
    """
    found = []
    for (workload, *_), machines in _shipped(disturbed=False).items():
        plain = {name: one for name, one in machines.items() if not one.gpu}
        for pair in combinations(sorted(plain), 2):
            off = math.log(plain[pair[0]].seconds / plain[pair[1]].seconds)
            found.append(Miss(transfer.HOST, workload, "", pair, off, 1.0, True))
    return found


def _row(table: str, kind: str, some: list[tuple[object, float]]) -> dict[str, object]:
    given = [(one, true) for one, true in some if isinstance(one, estimate.Estimate)]
    row = {"table": table, "kind": kind, "workloads": len(some), "given": len(given)}
    if given:
        off = sorted(abs(math.log(one.seconds / true)) for one, true in given)
        inside = sum(one.low <= true <= one.high for one, true in given)
        row |= {"median": math.expm1(median(off)), "p90": math.expm1(off[int(0.9 * len(off))])}
        row |= {
            "inside": inside / len(given),
            "by": ", ".join(sorted({one.kind for one, _ in given})),
        }
    return row


# What is printed

COLUMNS = (
    "table", "kind", "workloads", "pairs", "median", "p90", "factor", "networks", "of_pairs",
    "suites", "least", "gpus", "given", "inside", "by",
)  # fmt: skip
_HEADS = {
    "references": (
        ("workloads", "rows"), ("pairs", "pairs"), ("median", "median error"),
        ("p90", "nine of ten below"), ("factor", "interval x and /"),
        ("networks", "holds: unseen network"), ("of_pairs", "pair"), ("suites", "suite"),
        ("least", "worst suite"), ("gpus", "GPU"),
    ),
    "published": (
        ("workloads", "rows"), ("given", "estimated"), ("by", "by"), ("median", "median error"),
        ("p90", "nine of ten below"), ("inside", "inside"),
    ),
}  # fmt: skip
_HEADS["shipped"] = _HEADS["published"]
_WHOLE = ("workloads", "pairs", "given")


def printed(table: list[dict[str, object]]) -> str:
    """A Markdown table of each kind, divided by empty lines."""
    parts = []
    for name, heads in _HEADS.items():
        lines = [f"| | {' | '.join(head for _, head in heads)} |", f"|---|{'---:|' * len(heads)}"]
        for row in table:
            if row["table"] == name:
                cells = (_shown(column, row.get(column)) for column, _ in heads)
                lines.append(f"| {row['kind']} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, in_short(table)])


def in_short(table: list[dict[str, object]]) -> str:
    """What can be promised, for the manual: errors where the batch was kept, and the intervals."""
    lines = ["| | median error | nine of ten below | interval |", "|---|---:|---:|---:|"]
    rows_ = {row["kind"]: row for row in table if row["table"] == "references"}
    for kind in guesses.KINDS:
        kept = rows_[f"{kind}{KEPT}"]
        errors = " | ".join(f"{float(kept[name]):.0%}" for name in ("median", "p90"))
        lines.append(f"| {kind} | {errors} | x and / {float(rows_[kind]['factor']):.1f} |")
    return "\n".join(lines)


def _shown(column: str, value: object) -> str:
    if value in (None, ""):
        return ""
    if column in _WHOLE:
        return f"{int(value):,}"
    if column == "factor":
        return f"{float(value):.2f}"
    return str(value) if column == "by" else f"{float(value):.1%}".replace("%", " %")


def _write(path: Path, columns: tuple[str, ...], table: list[dict[str, object]]) -> None:
    with files.atomic(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        for row in table:
            short = {key: round(v, 4) if isinstance(v, float) else v for key, v in row.items()}
            writer.writerow(short)


def _read(path: Path) -> list[dict[str, object]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
