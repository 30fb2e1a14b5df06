"""What the probe leaves for the process that watches: lines of JSON, safe from a sudden end."""

import json
import os


class Journal:
    """The journal of one process; a line is whole or absent."""

    def __init__(self, folder: str, rank: int) -> None:
        path = os.path.join(folder, f"steps-{rank}-{os.getpid()}.jsonl")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)

    def write(self, line: dict) -> None:
        """Add a line."""
        os.write(self._file, (json.dumps(line) + "\n").encode())
