"""Remove the lock that a killed run left behind; a lock that is held stays.

In, out: .snakemake/locks.
"""

import subprocess
import sys
from pathlib import Path

from epochcost import errors, lock

FOLDER = Path(".snakemake")


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--busy", action="store_true", help="end with status 0 only if a call is at work here"
    )
    arguments = parser.parse_args()
    status = 0
    if lock.is_stale(FOLDER):
        print("epochcost: an earlier run was killed; resuming where it stopped")
        command = [sys.executable, "-m", "snakemake", "--unlock", "--quiet", "all"]
        status = subprocess.run(command).returncode
    return int(not lock.is_held(FOLDER)) if arguments.busy else status


if __name__ == "__main__":
    errors.run(main)
