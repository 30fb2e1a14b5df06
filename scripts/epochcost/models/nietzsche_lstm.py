"""Nietzsche's writings with an LSTM that predicts the next character, and then writes text."""

import numpy as np

from epochcost.data.nietzsche import windows
from epochcost.models import Model, Split


class NietzscheLstm(Model):
    """An LSTM over characters, encoded one-hot, that predicts the next one."""

    def inputs(self, arrays, hyper: dict) -> Split:
        """Windows of 40 characters, as a view of the text; the model encodes them one-hot."""
        _sampling(hyper)  # bad input is refused now, not after the last epoch
        x, y = windows(arrays["text"])
        alphabet = "".join(chr(point) for point in arrays["alphabet"])
        return Split(x, y, vocabulary=len(alphabet), alphabet=alphabet)

    def keras_model(self, split: Split, hyper: dict):
        import keras
        from keras import layers

        return keras.Sequential(
            [
                keras.Input(split.shape, dtype="int32"),
                layers.CategoryEncoding(split.vocabulary, output_mode="one_hot"),
                layers.LSTM(hyper["units"]),
                layers.Dense(split.vocabulary),
            ]
        )

    def torch_model(self, split: Split, hyper: dict):
        from torch import nn

        class CharacterLSTM(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.lstm = nn.LSTM(split.vocabulary, hyper["units"], batch_first=True)
                self.dense = nn.Linear(hyper["units"], split.vocabulary)

            def forward(self, characters):
                one_hot = nn.functional.one_hot(characters.long(), split.vocabulary).float()
                _, (last, _) = self.lstm(one_hot)
                return self.dense(last[0])

        return CharacterLSTM()

    def sample(self, predict, split: Split, hyper: dict, seed: int) -> str:
        """Let the model continue a window of the text, sampling one character at a time.

        Args:
            predict: one window as (1, 40) integers -> (1, characters) logits.

        Raises:
            FloatingPointError: the model predicts what is no finite number.
        """
        rng = np.random.default_rng(seed)
        characters, temperature = _sampling(hyper)
        window = split.x_train[rng.integers(len(split.x_train))].copy()
        written = []
        for _ in range(characters):
            logits = predict(window[np.newaxis])[0].astype(np.float64) / temperature
            if not np.isfinite(logits).all():
                raise FloatingPointError("the model predicts what is no finite number")
            odds = np.exp(logits - logits.max())
            chosen = rng.choice(split.vocabulary, p=odds / odds.sum())
            written.append(split.alphabet[chosen])
            window = np.append(window[1:], np.uint8(chosen))
        return "".join(written)


def _sampling(hyper: dict) -> tuple[int, float]:
    """How many characters to write, and the temperature."""
    return hyper["sample"]["characters"], hyper["sample"]["temperature"]
