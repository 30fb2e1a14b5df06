"""From the journals of a command to what the record holds of it."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from epochcost.errors import InputError
from epochcost.own import journals
from epochcost.own.journals import Journal
from epochcost.own.limits import Limits
from epochcost.record.types import Gap, Own, Stretch

_MEMORY = re.compile(
    "memoryerror|outofmemory|out of memory|resource_?exhausted|alloc_failed|"
    "can't allocate memory|unable to allocate",
    re.IGNORECASE,
)
_SIGKILL, _KILLED = 137, "it was killed, as it is when memory runs out"
_ISOLATED = {"-I", "-E", "-S"}
_ADD = "add `import epochcost` and `for batch in epochcost.steps(loader): ...` around its steps"


def own(
    folder: Path,
    command: list[str],
    launched: float,
    ended: float,
    status: int,
    limits: Limits,
    stopped: float | None,
) -> Own:
    """What was seen of a command that has ended.

    Args:
        folder: of the journals.
        launched, ended: by time.perf_counter.
        stopped: when it was seen to have stopped; None: it ended by itself.

    Raises:
        InputError: nothing was seen, or more than one training.
    """
    found, errors = journals.journals(folder), journals.errors(folder)
    if not found and (full := [one for one in errors if _MEMORY.search(one["error"])]):
        # The first step is what most often needs too much: that is a result, too.
        found = [journals.without_a_step(full[0], ended)]
    if not found:
        raise InputError(_nothing(folder, command, status, limits))
    first, restarts = _first_rank(found, folder)
    facts = first.facts
    problems = list(facts.get("problems", ()))
    if restarts:
        problems.append(f"started again {restarts} times; the steps are those of the last start")
    if first.reason == "limit":
        problems.append("the step time was not stable within the time limit")
    ranks = {one.rank: one for one in found}  # the last start of each
    peaks = [one.facts.get("device_mib") for one in ranks.values()]
    known = [peak for peak in peaks if peak is not None]
    error = next((one["error"] for one in errors if one["pid"] == first.pid), "")
    uuids = [uuid for one in ranks.values() for uuid in one.facts.get("uuids", ())]
    return Own(
        command=tuple(command),
        counted_by=first.source,
        ended=_ending(first, status, limits),
        start_s=first.first - launched,
        stretches=tuple(Stretch(*stretch) for stretch in first.stretches),
        gaps=tuple(Gap(*gap) for gap in first.gaps),
        steps=first.steps,
        resumed_at=facts.get("resumed", 0),
        planned=facts.get("planned"),
        planned_by=facts.get("planned_by"),
        period=facts.get("period"),
        samples=facts.get("samples"),
        tokens=facts.get("tokens"),
        world=facts.get("world", 1),
        ranks=tuple(sorted(ranks)),
        hook_s=facts.get("hook_s", 0.0),
        end_s=None if first.stopped else ended - (first.last or first.seen_until),
        status=status,
        python=facts.get("python", ""),
        packages=facts.get("packages", {}),
        device=facts.get("device", "cpu"),
        uuids=tuple(dict.fromkeys(uuids)),
        host_mib=facts.get("host_mib"),
        device_mib=sum(known) if known else None,
        files=(),
        problems=tuple(problems),
        error=error or (_KILLED if status == _SIGKILL else ""),
    )


def with_files(own: Own, files: tuple[str, ...]) -> Own:
    """The same with the files that appeared or changed."""
    return replace(own, files=files)


def _first_rank(found: list[Journal], folder: Path) -> tuple[Journal, int]:
    """The journal of the first rank, and how often its process was started again.

    Raises:
        InputError: several processes train, and none says which rank it is.
    """
    first = [one for one in found if one.rank == found[0].rank]
    words = {hello["pid"]: " ".join(hello["argv"]) for hello in journals.hellos(folder)}
    different = {words.get(one.pid, str(one.pid)) for one in first}
    together = any(after.first < before.seen_until for before, after in pairwise(first))
    if len(first) > 1 and (together or len(different) > 1):
        listed = ", ".join(
            f"{words.get(one.pid, one.pid)} ({one.steps:,} steps)" for one in first[:4]
        )
        raise InputError(f"several processes train, and none has a rank: {listed}; measure one")
    return first[-1], len(first) - 1


def _ending(first: Journal, status: int, limits: Limits) -> str:
    if first.stopped:
        return first.reason or "steps"
    return "failed" if status else "finished"


def _nothing(folder: Path, command: list[str], status: int, limits: Limits) -> str:
    """Why a command that has ended showed no step."""
    if not journals.hellos(folder):
        return _no_python(command)
    if status:
        return f"the command ended with status {status} before its first step"
    return no_step(folder, command, limits)


def no_step(folder: Path, command: list[str], limits: Limits) -> str:
    """What to do where no step was seen."""
    found = journals.hellos(folder)
    if not found:
        return _no_python(command)
    if limits.loop:
        return f"no turn of the loop at {limits.loop} was seen; name a line inside the loop's body"
    versions = {one["python"] for one in found}
    newer = any(tuple(map(int, one.split(".")[:2])) >= (3, 12) for one in versions)
    other = "; or give --loop FILE:LINE" if newer else ""
    return (
        "no training step was seen: no optimizer of PyTorch, no Trainer, Lightning, fastai, Keras "
        f"or tqdm did one. {_ADD}{other}"
    )


def _no_python(command: list[str]) -> str:
    flag = next((word for word in command[1:4] if word in _ISOLATED), None)
    if flag:
        return f"python {flag} reads no PYTHONPATH, and so cannot be watched: leave {flag} out"
    return (
        "the command started no Python that reads PYTHONPATH (python -I, -E or -S, env -i, sudo, a "
        "container, ssh): put `epochcost measure` inside it, before python"
    )
