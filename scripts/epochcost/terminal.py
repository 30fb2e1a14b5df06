"""What Snakemake prints. Its own options leave in what says nothing about a job."""

import logging
import re
import time
from pathlib import Path

from epochcost.durations import worded
from epochcost.errors import SIGNATURE

_BOILERPLATE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Touching output file|Using shell|"
    r"Conda environments: ignored|Assuming unrestricted shared filesystem|Building DAG of jobs|"
    r"Config file .* is extended|Complete log|Elapsed time|Shutting down, this might take"
)
# What follows from a job that failed, and says no more.
_AFTERWARDS = re.compile(
    r"RuleException:\nCalledProcessError in file|"
    r"Exiting because a job execution failed|(WorkflowError:\n)?At least one job did not complete"
)
_DATE = re.compile(r"\A\n?\[\w{3} \w{3} [ \d]{2} [\d:]{8} \d{4}\]\n")
_PLACE = re.compile(r"Training \S+ \((\d+) of (\d+)\)")
# What these rules print is an answer, which needs no heading.
_ANSWERS = (
    *("advise", "runs_asked_for", "costs_asked_for"),
    *("estimate", "prices", "reference", "table"),
)


def quieten() -> None:
    """Print on the terminal only lines of jobs, errors and warnings; the log file keeps all."""
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(_says_something)
            handler.setFormatter(Lines(handler.formatter))


class Lines(logging.Formatter):
    """What another formatter writes, without the line with the time before each job.

    Of a job that failed and said why in a line of ours, that line.

    From the second training on this machine on it says how long all that are left will take, if
    they take as long as those before.
    """

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner, self._began = inner, 0.0

    def format(self, record: logging.LogRecord) -> str:
        if reason := _reason(record):
            return reason
        line = _DATE.sub("", self._inner.format(record))
        place = _PLACE.search(line)
        # Elsewhere trainings run beside each other.
        if place is None or getattr(record, "rule_name", None) != "train_local":
            return line
        number, count = int(place[1]), int(place[2])
        if number == 1:
            self._began = time.monotonic()
        elif self._began:
            each = (time.monotonic() - self._began) / (number - 1)
            left = worded(each * (count - number + 1))
            line = f"{line[: place.end() - 1]}, about {left} left{line[place.end() - 1 :]}"
        return line


def _says_something(line: logging.LogRecord) -> bool:
    if line.levelno > logging.INFO:
        said = _reason(line) and getattr(line, "rule_name", None) in _ANSWERS
        return not said and not _AFTERWARDS.match(line.getMessage())
    if getattr(line, "rule_name", None) in _ANSWERS:
        return False
    return line.msg is None or not _BOILERPLATE.match(str(line.msg))


def _reason(line: logging.LogRecord) -> str:
    """Our last line in the log of a job that failed; empty for anything else."""
    for path in getattr(line, "log", None) or [] if line.levelno >= logging.ERROR else []:
        try:
            last = Path(path).read_text(errors="replace").rstrip().rpartition("\n")[2]
        except OSError:
            continue
        if last.startswith(f"{SIGNATURE}: "):
            return last
    return ""
