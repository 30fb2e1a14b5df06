"""Keras 2 on CNTK."""

from epochcost.frameworks import keras2

_SOFTWARE = keras2.software("cntk")


class Keras2Cntk(keras2.Keras2):
    """Keras 2 on CNTK."""

    VERSION = keras2.version(_SOFTWARE)
    backend = "cntk"

    def software(self) -> dict:
        return _SOFTWARE
