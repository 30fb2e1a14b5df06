"""What scripts/fetch.py says of the files that it fetched: <kind>.json beside them."""

from dataclasses import dataclass
from pathlib import Path

from epochcost import files
from epochcost.errors import InputError


@dataclass(frozen=True)
class Fetched:
    """The files of a data set as they were fetched.

    source: canonical or mirror.
    checksums: the sha256 of each file, by its name.
    """

    dataset: str
    source: str
    checksums: dict[str, str]


def read(path: Path) -> Fetched:
    """What a description says.

    Raises:
        InputError: it is none.
    """
    content = files.read_json(path)
    try:
        checksums = {file["name"]: file["sha256"] for file in content["files"]}
        found = Fetched(content["dataset"], content["source"], checksums)
    except (KeyError, TypeError):
        found = None
    if found is None or not found.checksums:
        raise InputError(f"{path} is no description of fetched files; delete it and run again")
    return found
