"""What Snakemake prints. Its own options leave in what says nothing about a job."""

import logging
import re

_BOILERPLATE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Touching output file|Using shell|"
    r"Conda environments: ignored|Assuming unrestricted shared filesystem|Building DAG of jobs|"
    r"Config file .* is extended|Complete log|Elapsed time"
)
# What these rules print is an answer, which needs no heading.
_ANSWERS = ("advise", "estimate", "table")


def quieten() -> None:
    """Print on the terminal only lines of jobs, errors and warnings; the log file keeps all."""
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(_says_something)


def _says_something(line: logging.LogRecord) -> bool:
    if line.levelno > logging.INFO:
        return True
    if getattr(line, "rule_name", None) in _ANSWERS:
        return False
    return line.msg is None or not _BOILERPLATE.match(str(line.msg))
