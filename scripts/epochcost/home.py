"""A home folder that can be written, for users without one, as in a container.

Snakemake, the installers and the frameworks keep caches there, and end with tracebacks otherwise.
"""

import os
import pwd
from pathlib import Path


def make_usable(folder: Path) -> None:
    """Put caches below `folder` if the home folder cannot be written, or a home if there is none.

    A user ID without a name gets its number as one. What is set already stays.

    Args:
        folder: an existing or new folder that can be written.
    """
    home = os.environ.get("HOME", "")
    if not Path(home).is_dir() or not home:
        os.environ["HOME"] = str(_made(folder / "home"))
    elif not os.access(home, os.W_OK):
        # What it holds may be needed: settings, keys, a mirror.
        os.environ.setdefault("XDG_CACHE_HOME", str(_made(folder / "cache")))
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        if not any(os.environ.get(name) for name in ("LOGNAME", "USER", "LNAME", "USERNAME")):
            os.environ["USER"] = str(os.getuid())


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
