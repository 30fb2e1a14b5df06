"""Keras 2 on TensorFlow 1."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import keras2

_SOFTWARE = keras2.software("tensorflow")


class Keras2TensorFlow1(keras2.Keras2):
    """Keras 2 on TensorFlow 1."""

    VERSION = keras2.version(_SOFTWARE)
    backend = "tensorflow"

    def software(self) -> dict:
        return _SOFTWARE
