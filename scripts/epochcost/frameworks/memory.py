"""Whether memory that a training step frees is kept for the next one.

By default, glibc's allocator returns large blocks to the system at once, and the next step pays
for new, empty pages. Whether a block counts as large depends on what the process freed before, so
the times of two programs that do the same can differ by half.
"""

import ctypes
import platform

from epochcost.errors import InputError

# Parameters of mallopt(3), from glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def can_be_kept() -> bool:
    """Whether this system's allocator can be told to keep memory."""
    return platform.libc_ver()[0] == "glibc"


def keep() -> None:
    """Keep what is freed from now on: no separate blocks for large arrays, nothing returned."""
    if not can_be_kept():
        raise InputError("the setting keep_memory is for glibc alone, and this system has another")
    library = ctypes.CDLL(None)
    if not (library.mallopt(_MMAP_MAX, 0) and library.mallopt(_TRIM_THRESHOLD, -1)):
        raise RuntimeError("the allocator does not take the settings of keep_memory")
