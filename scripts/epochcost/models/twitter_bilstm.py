"""Tweets with a bidirectional LSTM over all their words; every word in the data has a vector."""

from epochcost.data.sequences import padded
from epochcost.models import Split
from epochcost.models.bilstm import Bilstm


class TwitterBilstm(Bilstm):
    """`Bilstm` over all words of a tweet."""

    def inputs(self, arrays, hyper: dict) -> Split:
        """Tweets padded with zeros to the length of the longest."""
        longest = int(arrays["longest"])

        def words(part: str):
            return padded(arrays[f"words_{part}"], arrays[f"ends_{part}"], longest, zeros="behind")

        return Split(
            words("train"),
            arrays["y_train"],
            words("validation"),
            arrays["y_validation"],
            vocabulary=int(arrays["vocabulary"]),
        )
