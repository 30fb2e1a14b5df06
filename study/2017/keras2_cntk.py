"""Keras 2 on CNTK."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import keras2

_SOFTWARE = keras2.software("cntk")


class Keras2Cntk(keras2.Keras2):
    """Keras 2 on CNTK."""

    VERSION = keras2.version(_SOFTWARE)
    backend = "cntk"

    def software(self) -> dict:
        return _SOFTWARE
