"""What Snakemake prints. Its own options leave in what says nothing about a job."""

import logging
import re

_BOILERPLATE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Touching output file|Using shell|"
    r"Conda environments: ignored|Assuming unrestricted shared filesystem|Building DAG of jobs"
)


def quieten() -> None:
    """Print on the terminal only lines of jobs, errors and warnings; the log file keeps all."""
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(_says_something)


def _says_something(line: logging.LogRecord) -> bool:
    told = line.levelno > logging.INFO or line.msg is None
    return told or not _BOILERPLATE.match(str(line.msg))
