# Before anything is read: how jobs find Python and this package, and whether config.yaml can be read.

import os
import sys
from pathlib import Path

# Jobs find the `python` that runs Snakemake, whether or not its environment is activated.
os.environ.update(PATH=f"{Path(sys.executable).parent}:{os.getenv('PATH', '')}")
sys.path.insert(0, str(Path(workflow.basedir, "scripts")))

from epochcost import call
from epochcost.errors import InputError, one_line
from epochcost.measure import revision, variables

variables.forget_python()

try:
    call.check_file(Path("config/config.yaml"))
except (InputError, OSError) as error:
    sys.exit(f"epochcost: {one_line(error)}")


def notice_unknown_commit():
    """Say that records will not tell which commit measured them, if this is a clone of git."""
    if why := revision.why_unknown(Path(workflow.basedir)):
        print(f"epochcost: records will not name their commit: {why}", file=sys.stderr)


def refuse_unknown_targets():
    """End the run before its graph is built if no rule makes what it is asked for."""
    if not workflow.is_main_process:
        return
    rules = list(workflow.rules)
    many = {rule.name for rule in rules if rule.has_wildcards()}
    single = [rule for rule in rules if rule.name not in many]
    known = {rule.name for rule in single} | {str(path) for rule in single for path in rule.output}
    try:
        call.check_targets(
            sys.argv, known, many, lambda path: any(rule.is_producer(path) for rule in rules)
        )
    except (InputError, OSError) as error:
        sys.exit(f"epochcost: {one_line(error)}")
