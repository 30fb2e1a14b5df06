"""What the probes of a command left behind, read."""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Journal:
    """The journal of one process. Times are of the clock of time.perf_counter.

    first: end of its first step, after which `begin_steps` were done. stretches: steps, seconds,
    seconds waited, seconds in gaps. gaps: after how many steps, seconds, kind. last: end of its
    last step; None where it was stopped or killed.
    """

    rank: int
    pid: int
    first: float = 0.0
    begin_steps: int = 0
    source: str = ""
    stretches: list[list] = field(default_factory=list)
    gaps: list[list] = field(default_factory=list)
    facts: dict = field(default_factory=dict)
    reason: str | None = None
    stopped: bool = False
    last: float | None = None

    @property
    def steps(self) -> int:
        """Steps seen."""
        return self.begin_steps + sum(stretch[0] for stretch in self.stretches)

    @property
    def seen_until(self) -> float:
        """The end of the last stretch."""
        return self.first + sum(stretch[1] for stretch in self.stretches)


def read(path: Path) -> Journal:
    """A journal; a last line that was not written to its end is left out."""
    _, rank, pid = path.stem.split("-")
    found = Journal(int(rank), int(pid))
    for text in path.read_text().splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        _take(found, line)
    return found


def _take(found: Journal, line: dict) -> None:
    if "first" in line:  # a surer source, or a rarer optimizer: all before was the start
        found.first, found.begin_steps = line["first"], line["steps"]
        found.source, found.stretches, found.gaps = line["source"], [], []
    elif "stretch" in line:
        found.stretches.append(line["stretch"])
        found.gaps += line["gaps"]
    elif "facts" in line:
        found.facts, found.last = line["facts"], line.get("at")
    elif "reason" in line:
        found.reason = line["reason"]
    elif "stop" in line:
        found.stopped = True


def errors(folder: Path) -> list[dict]:
    """Of every Python that an exception ended: its pid, the exception in words, and its facts."""
    found = [_whole(path) for path in sorted(folder.glob("error-*"))]
    return [one for one in found if one]


def without_a_step(error: dict, ended: float) -> Journal:
    """The journal that a process would have left whose first step did not end.

    Args:
        error: one of `errors`.
        ended: when the command did; all before was the start.
    """
    facts = error["facts"]
    return Journal(facts["rank"], error["pid"], first=ended, facts=facts)


def hellos(folder: Path) -> list[dict]:
    """Every Python that read PYTHONPATH: its words, its version, when it began."""
    found = [_whole(path) for path in folder.glob("hello-*")]
    return sorted(filter(None, found), key=lambda hello: hello["at"])


def _whole(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def journals(folder: Path) -> list[Journal]:
    """The journals of all processes that did a step."""
    found = [read(path) for path in sorted(folder.glob("steps-*.jsonl"))]
    return sorted((one for one in found if one.begin_steps), key=lambda one: (one.rank, one.first))
