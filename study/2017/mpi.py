"""Link the system's Open MPI under the names that CNTK 2.7 asks for.

CNTK wants Open MPI 1.10 (libmpi.so.12). Training on one machine calls nothing in it that changed,
so a later one will do. Out: links in a folder for LD_LIBRARY_PATH; none if there is no Open MPI.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from epochcost import errors

# The names that CNTK's libraries ask for -> what the library is called without its version.
_WANTED = {"libmpi.so.12": "libmpi.so", "libmpi_cxx.so.1": "libmpi_cxx.so"}


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the links go")
    link(parser.parse_args().folder)


def link(folder: Path) -> None:
    """Make the links, or say what is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, library in _WANTED.items():
        found = _path_of(library)
        if found is None:
            print(
                "epochcost: keras2-cntk will not run: it needs Open MPI (Debian, Ubuntu: "
                "apt-get install libopenmpi3), and then make -C study/2017 after "
                "rm .venvs/keras2/ready"
            )
            return
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(found)


def _path_of(library: str) -> str | None:
    """The path of a shared library that the system's loader knows."""
    loader = shutil.which("ldconfig", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if loader is None:
        return None
    known = subprocess.run([loader, "-p"], capture_output=True, text=True, check=False).stdout
    for line in known.splitlines():
        if line.strip().startswith(f"{library}.") and "x86-64" in line:
            return line.rpartition("=> ")[2]
    return None


if __name__ == "__main__":
    errors.run(main)
