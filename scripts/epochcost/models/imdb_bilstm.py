"""IMDb reviews with a bidirectional LSTM over their last words."""

from epochcost.data.sequences import padded
from epochcost.models import Split
from epochcost.models.bilstm import keras_model, torch_model

__all__ = ["inputs", "keras_model", "torch_model"]


def inputs(arrays, hyper: dict) -> Split:
    """The last `length` words of each review; shorter ones start with zeros."""

    def words(part: str):
        return padded(arrays[f"words_{part}"], arrays[f"ends_{part}"], hyper["length"])

    return Split(
        words("train"),
        arrays["y_train"],
        words("validation"),
        arrays["y_validation"],
        vocabulary=int(arrays["vocabulary"]),
    )
