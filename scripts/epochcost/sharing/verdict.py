"""Whether measurements from elsewhere can be believed: what is read before they join data/measured.

A record's own contradictions are found where any record is read (`record.check`). Here is what only
the whole file, or what is known of other machines, can show.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.errors import InputError, nearest, one_line, printable, short
from epochcost.estimate import Knowledge
from epochcost.hardware import LOCAL
from epochcost.record import record, shipped
from epochcost.record.names import RunName
from epochcost.record.types import Record, document

_MOST_BYTES = 64 * 2**20
# A yardstick of a second, and a data sheet, are not the last word.
_ROOM = 1.5
# GFLOP/s in float32: twice what a core with two units of 512 bits does at 4 GHz.
_MOST_OF_A_CORE = 1024
_MOST_NAMED = 20
_PRECISIONS = ("fp32", "tf32", "fp16", "bf16")


@dataclass
class Verdict:
    """What was found in a file of measurements.

    records: those that can be believed. problems: what speaks against the file, a line each.
    """

    path: Path
    records: list[Record] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    known: int = 0

    def lines(self) -> list[str]:
        """What to paste: what is in the file, each problem, and whether it can join."""
        said = [f"{self.path.name}: {len(self.records)} records that can be read"]
        if self.records:
            newest = max(self.records, key=lambda one: one.run.started_at)
            days = sorted(one.run.started_at[:10] for one in self.records)
            said.append(f"machine: {shipped.in_words(newest.machine)}, {days[0]} to {days[-1]}")
            counts = Counter(one.run.workload for one in self.records)
            said.append("runs: " + ", ".join(f"{n} of {name}" for name, n in counts.items()))
        if self.known:
            said.append(f"here already: {self.known}")
        said += [f"refused: {problem}" for problem in self.problems[:_MOST_NAMED]]
        if len(self.problems) > _MOST_NAMED:
            said.append(f"refused: {len(self.problems) - _MOST_NAMED} more")
        said.append("verdict: it cannot join" if self.problems else "verdict: it can join")
        return [printable(line, 400) for line in said]


def of_file(
    path: Path,
    catalogue: Collection[str],
    recipes: Mapping[str, dict[str, Any]],
    knowledge: Knowledge,
    measured: Path = shipped.MEASURED,
) -> Verdict:
    """Read a file of measurements as a stranger's.

    Args:
        catalogue: ids of hardware.
        recipes: of the workloads that are known here.
        knowledge: what GPUs can do.
        measured: what is there already; the file itself may be in it.
    """
    found = Verdict(path)
    if path.stat().st_size > _MOST_BYTES:
        found.problems.append(f"it has {path.stat().st_size} bytes; {_MOST_BYTES} at most")
        return found
    aside: dict[Path, str] = {}
    others = [
        (other, one)
        for other in (shipped.files_in(measured) if measured.is_dir() else [])
        if not other.samefile(path)
        for _, one in shipped.read_all(other, {})
    ]
    there = {one.identity for _, one in others}
    gpus = {gpu.uuid: one.machine.id for _, one in others for gpu in one.machine.gpus}
    flops: dict[tuple[str, str], set[int]] = defaultdict(set)
    for _, one in others:
        if one.flop_per_sample:
            flops[one.run.workload, record.recipe_id(one.settings)].add(one.flop_per_sample)
    read = list(shipped.read_all(path, aside))
    yardsticks = [one.yardstick.matmul_gflops for _, one in read if one.yardstick]
    for where, one in read:
        alike = flops[one.run.workload, record.recipe_id(one.settings)]
        reasons = list(_reasons(one, catalogue, recipes, knowledge, gpus, alike, yardsticks))
        found.problems += [f"line {_line(where)}: {reason}" for reason in reasons]
        found.records.append(one)
        found.known += one.identity in there
    for reason in aside.values():
        of_line = reason.removeprefix(f"{path}:")
        found.problems.append(f"line {of_line}" if of_line != reason else reason)
    if header := shipped.header(path):
        found.problems += [f"line 1: {reason}" for reason in _odd(document(header))]
    if found.records:
        first = found.records[0]
        name = f"{first.run.hardware}-{first.machine.id}{shipped.SUFFIX}"
        if path.name != name:
            found.problems.append(f"its name is not {name}")
    elif not found.problems:
        found.problems.append("it holds no record")
    return found


def _reasons(
    one: Record,
    catalogue: Collection[str],
    recipes: Mapping[str, dict[str, Any]],
    knowledge: Knowledge,
    gpus: Mapping[str, str],
    flops: Collection[int],
    yardsticks: Collection[float],
) -> Iterator[str]:
    """Why a record that contradicts itself nowhere is not believed."""
    run = one.run
    try:
        RunName.of(run).path(Path())
    except InputError as error:
        yield one_line(error)
    if run.hardware != LOCAL and run.hardware not in catalogue:
        yield f"unknown hardware '{short(run.hardware)}'; {nearest(run.hardware, catalogue)}"
    if one.own is None:
        recipe = recipes.get(run.workload)
        if recipe is None:
            yield f"unknown workload '{short(run.workload)}'; {nearest(run.workload, recipes)}"
        elif record.recipe_id(one.settings) != record.recipe_id(recipe):
            changed = [key for key in recipe if one.settings.get(key) != recipe[key]]
            if changed != ["batch_size"]:
                yield f"it is no {run.workload}: {', '.join(changed)} differ from its recipe"
    yield from _too_fast(one, knowledge, flops, yardsticks)
    for gpu in one.machine.gpus:
        if gpus.get(gpu.uuid, one.machine.id) != one.machine.id:
            yield f"its GPU was measured as that of the machine {gpus[gpu.uuid]}"
    yield from _odd(document(one))


def _odd(part: Any) -> Iterator[str]:
    """What a terminal or a spreadsheet would obey."""
    for text in _texts(part):
        if not text.replace("\n", "").replace("\t", "").isprintable():
            yield f"control characters in {short(text)!r}"
        elif files.is_formula(text):
            yield f"a spreadsheet would take {short(text)!r} for a formula"


def _too_fast(
    one: Record, knowledge: Knowledge, flops: Collection[int], yardsticks: Collection[float]
) -> Iterator[str]:
    """Whether it did more operations a second than its machine can, or whether that is hidden.

    Args:
        flops: operations a sample of its workload, as other records have them; empty where none is.
        yardsticks: GFLOP/s of its processor, as the records of its file have them.
    """
    software, machine = one.software, one.machine
    if one.own is not None or one.status != "ok":
        return
    # The first records do not say it.
    flop = one.flop_per_sample or max(flops, default=0)
    if flops and flop not in flops:
        yield f"{flop} operations a sample; other records have {min(flops)}"
    if software.device == "gpu":
        gpu = machine.gpus and knowledge.gpus.get(knowledge.named(machine.gpus[0].name) or "")
        if not gpu:
            yield "nobody here knows how fast its GPU can be"
            return
        if len({gpu.uuid for gpu in machine.gpus}) < len(machine.gpus):
            yield "it has one GPU several times"
        most = max(gpu.peak(name) or 0.0 for name in _PRECISIONS) * 1000 * one.gpus_used
    elif software.device == "cpu" or (software.device is None and not machine.gpus):
        if not yardsticks:
            yield "no record of its file says how fast its processor is; measure once more"
            return
        most = one.yardstick.matmul_gflops if one.yardstick else max(yardsticks)
        if most > _MOST_OF_A_CORE * machine.logical_cores:
            yield f"{most:,.0f} GFLOP/s of {machine.logical_cores} cores cannot be"
    else:
        yield "it says not what trained"
        return
    passes = [epoch.samples / epoch.train_s for epoch in one.epochs]
    speed = max(passes, default=0.0) * flop / 1e9
    if speed > most * _ROOM:
        yield f"{speed:,.0f} GFLOP/s, and its machine can do {most:,.0f}"


def _texts(part: Any) -> Iterator[str]:
    """All text of a document, but what a model wrote, which is shown nowhere as a cell."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for key, value in part.items():
            yield key
            if key != "sample":
                yield from _texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _texts(value)


def _line(where: Path) -> str:
    return where.name.rpartition(":")[2]
