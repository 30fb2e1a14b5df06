"""What Snakemake prints. Its own options leave in what says nothing about a job."""

import logging
import re

_BOILERPLATE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Touching output file|Using shell|"
    r"Conda environments: ignored|Assuming unrestricted shared filesystem|Building DAG of jobs|"
    r"Config file .* is extended|Complete log|Elapsed time"
)
_DATE = re.compile(r"\A\n?\[\w{3} \w{3} [ \d]{2} [\d:]{8} \d{4}\]\n")
# What these rules print is an answer, which needs no heading.
_ANSWERS = ("advise", "estimate", "table")


def quieten() -> None:
    """Print on the terminal only lines of jobs, errors and warnings; the log file keeps all."""
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(_says_something)
            handler.setFormatter(_WithoutDates(handler.formatter))


class _WithoutDates(logging.Formatter):
    """What another formatter writes, without the line with the time before each job."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        return _DATE.sub("", self._inner.format(record))


def _says_something(line: logging.LogRecord) -> bool:
    if line.levelno > logging.INFO:
        return True
    if getattr(line, "rule_name", None) in _ANSWERS:
        return False
    return line.msg is None or not _BOILERPLATE.match(str(line.msg))
