"""config/datasets.yaml as objects, and where to get a data set from."""

import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from epochcost.data import fetched
from epochcost.errors import InputError

# The environment variable that names a mirror of the data sets.
MIRROR = "EPOCHCOST_MIRROR"
SYNTHETIC, RANDOM = "synthetic", "random"
KINDS = ("complete", "subset", SYNTHETIC)
_PROBE_SECONDS = 5


@dataclass(frozen=True)
class File:
    """One file of an archive; `url` is None where only mirrors hold it."""

    name: str
    sha256: str
    bytes: int
    url: str | None = None


@dataclass(frozen=True)
class Archive:
    """One way to get a data set: files that together are `complete`, or a `subset`."""

    dataset: str
    kind: str
    files: tuple[File, ...]

    @property
    def downloadable(self) -> bool:
        """Whether canonical servers hold all of its files."""
        return all(file.url for file in self.files)

    def missing_in(self, mirror: Path) -> list[str]:
        """The names of the files that the mirror folder lacks."""
        folder = mirror / self.dataset
        return [file.name for file in self.files if not (folder / file.name).is_file()]


@dataclass(frozen=True)
class Origin:
    """The decision on where a data set, or the weights to start from, come from.

    source: canonical, mirror or synthetic; of weights also random.
    kind: what training on it counts as: complete, subset or synthetic; of weights also random.
    notice: one line for the user when data are generated or a part, or weights are random, else
        None.
    """

    source: str
    kind: str
    notice: str | None = None


def archives(name: str, registry: dict[str, Any]) -> list[Archive]:
    """The archives of data set `name`, in the order of config/datasets.yaml."""
    return [
        Archive(name, entry["kind"], tuple(File(**file) for file in entry["files"]))
        for entry in registry[name]["archives"]
    ]


def choose_origin(
    name: str,
    registry: dict[str, Any],
    source: str,
    mirror: Path | None,
    raw: Path,
    reachable: Callable[[str], bool] | None = None,
) -> Origin:
    """Decide where data set `name` comes from; only `auto` may choose.

    Args:
        source: `data.source` of the configuration.
        mirror: the mirror folder, or None.
        raw: the folder of files fetched before; `auto` keeps to what is there.
        reachable: tells whether a URL can be fetched (used only by `auto`); None: assume it.

    Raises:
        InputError: the named source does not hold the data set, or the mirror does not exist.
    """
    choices = archives(name, registry)
    if mirror is not None and source in ("auto", "mirror") and not mirror.is_dir():
        raise InputError(f"the mirror folder {mirror} does not exist")
    match source:
        case "synthetic":
            return Origin(SYNTHETIC, SYNTHETIC)
        case "canonical":
            return _from_server(name, choices)
        case "mirror":
            return _from_mirror(name, choices, mirror)
    mirrored = archive_in_mirror(choices, mirror) if mirror else None
    for origin in (
        _fetched_before(name, "complete", choices, raw),
        Origin("mirror", mirrored.kind) if mirrored else None,
        _fetched_before(name, "subset", choices, raw),
    ):
        if origin is not None:
            return origin if origin.kind == "complete" else _noticed(origin, name, choices)
    downloadable = next((a for a in choices if a.downloadable), None)
    if downloadable and reachable is None:
        notice = f"{name}: its server is asked when jobs run; generated data may take their place"
        return Origin("canonical", downloadable.kind, notice)
    if downloadable and reachable(downloadable.files[0].url):
        return Origin("canonical", downloadable.kind)
    return Origin(
        SYNTHETIC,
        SYNTHETIC,
        f"{name}: its server cannot be reached, and "
        + (
            f"the mirror {mirror} lacks it"
            if mirror
            else "no mirror is set (EPOCHCOST_MIRROR=FOLDER)"
        )
        + "; generated data of the same shape take their place, marked synthetic in every record, "
        "row and figure",
    )


def choose_weights(
    name: str,
    registry: dict[str, Any],
    source: str,
    mirror: Path | None,
    raw: Path,
    reachable: Callable[[str], bool] | None = None,
) -> Origin:
    """Decide where the weights `name` come from; if not available, training starts from scratch.

    Arguments as for `choose_origin`. Only data.source `canonical` insists on the weights.
    """
    if source == "mirror":
        archive = archive_in_mirror(archives(name, registry), mirror) if mirror else None
        origin = Origin("mirror", "complete") if archive else Origin(SYNTHETIC, SYNTHETIC)
    else:
        origin = choose_origin(name, registry, source, mirror, raw, reachable)
    if origin.source != SYNTHETIC:
        return origin
    return Origin(
        RANDOM,
        RANDOM,
        f"{name}: "
        + ("not requested" if source == SYNTHETIC else "not available")
        + "; training from random weights, and every record, row and figure says so",
    )


def _noticed(origin: Origin, name: str, choices: list[Archive]) -> Origin:
    """The origin of a part of a data set, with a notice."""
    notice = f"{name}: only a part of it is at hand, and counts as a part"
    if any(archive.kind == "complete" and archive.downloadable for archive in choices):
        notice += '; all of it is on its server: --config "data={source: canonical}"'
    return replace(origin, notice=notice)


def _from_server(name: str, choices: list[Archive]) -> Origin:
    archive = next((a for a in choices if a.downloadable), None)
    if archive is None:
        raise InputError(f"{name} is on no canonical server (no url for its files)")
    return Origin("canonical", archive.kind)


def _from_mirror(name: str, choices: list[Archive], mirror: Path | None) -> Origin:
    if mirror is None:
        raise InputError("data.source is mirror, but no mirror folder is set (data.mirror)")
    archive = archive_in_mirror(choices, mirror)
    if archive is None:
        raise InputError(f"the mirror {mirror} lacks {name}/{choices[0].missing_in(mirror)[0]}")
    return Origin("mirror", archive.kind)


def _fetched_before(name: str, kind: str, choices: list[Archive], raw: Path) -> Origin | None:
    """What is there; None if nothing, or an edition that the registry does not have."""
    description = raw / name / f"{kind}.json"
    if not description.is_file():
        return None
    about = fetched.read(description)
    for archive in choices:
        if archive.kind == kind and all(
            # For some files only the start of the checksum is published.
            about.checksums.get(file.name, "").startswith(file.sha256)
            for file in archive.files
        ):
            return Origin(about.source, kind)
    return None


def archive_in_mirror(choices: list[Archive], mirror: Path) -> Archive | None:
    """The first archive of which the mirror holds all files, complete ones first."""
    held = [archive for archive in choices if not archive.missing_in(mirror)]
    return min(held, key=lambda archive: KINDS.index(archive.kind), default=None)


def can_fetch(url: str) -> bool:
    """Whether `url` answers within a few seconds."""
    request = urllib.request.Request(url, method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_PROBE_SECONDS):
            return True
    except (OSError, ValueError):
        return False
