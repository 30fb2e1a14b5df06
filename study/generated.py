"""Write the generated parts of the documents anew: each stands between marks that name its command.

    <!-- made by: study/benchmarks/predicted.py --tables TABLES -->
    ...
    <!-- end -->

TABLES is the folder of tables that scripts/runs.py makes of the shipped records. A command that
prints several tables, divided by empty lines, is named with the one that is meant: `[2]`.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost import errors, files

_PART = re.compile(
    r"(?P<head><!-- made by: (?P<command>.*?)(?: \[(?P<number>\d)\])? -->\n\n)"
    r".*?(?P<end>\n\n<!-- end -->)",
    re.DOTALL,
)
_PAGES = ("*.md", "docs/**/*.md", "study/*/*.md", "study/*.md")


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if it would")
    arguments = parser.parse_args()
    stale = {page: text for page in pages() if (text := anew(page)) != page.read_text()}
    for page, text in stale.items():
        print(page.relative_to(ROOT))
        if not arguments.check:
            files.write_text(page, text)
    return int(arguments.check and bool(stale))


def pages() -> list[Path]:
    """The documents that have such tables."""
    found = [page for pattern in _PAGES for page in sorted(ROOT.glob(pattern))]
    # The site holds copies.
    found = [page for page in found if "_build" not in page.parts]
    return [page for page in found if _PART.search(page.read_text())]


def anew(page: Path) -> str:
    """The text of a document with what its commands print today."""

    def fill(match: re.Match) -> str:
        made = _printed(match["command"])
        if match["number"]:
            made = made.split("\n\n")[int(match["number"]) - 1]
        return match["head"] + made.strip() + match["end"]

    return _PART.sub(fill, page.read_text())


@cache
def _printed(command: str) -> str:
    words = shlex.split(command)
    words = [_tables() if word == "TABLES" else word for word in words]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise errors.InputError(f"{command}: {done.stderr.strip()}")
    return done.stdout


@cache
def _tables() -> str:
    """What the workflow makes of the shipped records."""
    folder = tempfile.mkdtemp()
    words = ["scripts/runs.py", "--records", folder, "--measured", "data/measured"]
    words += ["--output", folder]
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder


if __name__ == "__main__":
    errors.run(main)
