# What Snakemake prints. Its own options leave in what says nothing about a job.

import logging
import re

from snakemake.settings.enums import Quietness

BOILERPLATE = re.compile(
    r"Select jobs to execute|Execute \d+ jobs|Touching output file|Using shell|"
    r"Conda environments: ignored|Assuming unrestricted shared filesystem|Building DAG of jobs"
)


def says_something(record):
    """Whether a line of Snakemake's is one of a job, an error or a warning."""
    told = record.levelno > logging.INFO or record.msg is None
    return told or not BOILERPLATE.match(str(record.msg))


# For the terminal: the log file keeps every line. Who asks for the progress gets these lines, too.
if Quietness.PROGRESS in (workflow.output_settings.quiet or ()):
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(says_something)
