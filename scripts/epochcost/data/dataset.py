"""What a data set is to the rest of the package: a class that turns its files into arrays."""

from collections import Counter
from pathlib import Path

import numpy as np


class DataSet:
    """A data set: from its files to arrays, and generated arrays where there are no files.

    To add one, write a module of this folder with a class like this one (`my_data.py` for the data
    set `my-data`), and its entry in config/datasets.yaml: title, terms, and the size and sha256 of
    every file. A workload can also bring one along: in its own module, with the entry in place of
    the data set's name (`models/template`).

    The same files always give the same arrays; a split at random has a seed of its own. Mistakes
    may raise anything: they are reported with the line of the file.
    """

    def prepare(self, paths: dict[str, Path], skipped: Counter[str]) -> dict[str, np.ndarray]:
        """The arrays by name.

        Args:
            paths: of the files, verified, by their names in the entry.
            skipped: counts the samples that are left out, by reason.
        """
        raise NotImplementedError

    def synthetic(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Generated arrays of the same names, shapes and types; fewer samples will do."""
        raise NotImplementedError
