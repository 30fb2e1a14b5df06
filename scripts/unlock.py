"""Remove the lock that a killed run left behind; a lock that is held stays.

In, out: .snakemake/locks.
"""

import subprocess
import sys
from pathlib import Path

from epochcost import errors, lock


def main() -> int:
    errors.Parser(description=__doc__.splitlines()[0]).parse_args()
    if not lock.is_stale(Path(".snakemake")):
        return 0
    print("epochcost: an earlier run was killed; resuming where it stopped")
    command = [sys.executable, "-m", "snakemake", "--unlock", "--quiet", "all"]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    errors.run(main)
