"""IMDb reviews with a bidirectional LSTM over their last words."""

from epochcost.data.sequences import padded
from epochcost.models import Split
from epochcost.models.bilstm import Bilstm


class ImdbBilstm(Bilstm):
    """`Bilstm` over the last words of each review."""

    def inputs(self, arrays, hyper: dict) -> Split:
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
