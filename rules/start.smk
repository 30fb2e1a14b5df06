# Before anything is read: how jobs find Python and this package, and what Snakemake prints.

import os
import sys
from pathlib import Path

from snakemake.settings.enums import Quietness

# Jobs find the `python` that runs Snakemake, whether or not its environment is activated.
os.environ.update(PATH=f"{Path(sys.executable).parent}:{os.getenv('PATH', '')}")
sys.path.insert(0, str(Path(workflow.basedir, "scripts")))

from epochcost import call, errors, terminal
from epochcost.measure import variables

variables.forget_python()
with errors.in_one_line():
    call.check_file(Path("config/config.yaml"))

# Who asks for the progress gets these lines, too.
if Quietness.PROGRESS in (workflow.output_settings.quiet or ()):
    terminal.quieten()
