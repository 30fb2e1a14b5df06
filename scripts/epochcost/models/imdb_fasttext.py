"""IMDb reviews with fastText's model: the mean of the vectors of words and bi-grams.

A review is its words followed by its bi-grams; only bi-grams of the training reviews are known.
"""

from epochcost.data.sequences import joined, padded
from epochcost.models import Model, Split


class ImdbFastText(Model):
    """The mean of the vectors of words and bi-grams, and one logit."""

    def inputs(self, arrays, hyper: dict) -> Split:
        """The last `length` of each review's words and bi-grams; shorter ones start with zeros."""

        def words_and_bigrams(part: str):
            both = joined(
                (arrays[f"words_{part}"], arrays[f"ends_{part}"]),
                (arrays[f"bigrams_{part}"], arrays[f"bigram_ends_{part}"]),
            )
            return padded(*both, hyper["length"])

        return Split(
            words_and_bigrams("train"),
            arrays["y_train"],
            words_and_bigrams("validation"),
            arrays["y_validation"],
            vocabulary=int(arrays["vocabulary_with_bigrams"]),
        )

    def keras_model(self, split: Split, hyper: dict):
        import keras
        from keras import layers

        return keras.Sequential(
            [
                keras.Input(split.shape, dtype="int32"),
                layers.Embedding(split.vocabulary, hyper["embedding"]),
                layers.GlobalAveragePooling1D(),
                layers.Dense(1),
            ]
        )

    def torch_model(self, split: Split, hyper: dict):
        from torch import nn

        return nn.Sequential(
            nn.EmbeddingBag(split.vocabulary, hyper["embedding"], mode="mean"),
            nn.Linear(hyper["embedding"], 1),
        )
