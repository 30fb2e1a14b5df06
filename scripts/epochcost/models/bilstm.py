"""The model of imdb_bilstm and twitter_bilstm: word vectors, a bidirectional LSTM, one logit."""

from epochcost.models import Model, Split


class Bilstm(Model):
    """Word vectors, a bidirectional LSTM, dropout, one logit."""

    def keras_model(self, split: Split, hyper: dict):
        import keras
        from keras import layers

        return keras.Sequential(
            [
                keras.Input(split.shape, dtype="int32"),
                layers.Embedding(split.vocabulary, hyper["embedding"]),
                layers.Bidirectional(layers.LSTM(hyper["units"])),
                layers.Dropout(hyper["dropout"]),
                layers.Dense(1),
            ]
        )

    def torch_model(self, split: Split, hyper: dict):
        import torch
        from torch import nn

        class BidirectionalLSTM(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.embedding = nn.Embedding(split.vocabulary, hyper["embedding"])
                self.lstm = nn.LSTM(
                    hyper["embedding"], hyper["units"], batch_first=True, bidirectional=True
                )
                self.dropout = nn.Dropout(hyper["dropout"])
                self.dense = nn.Linear(2 * hyper["units"], 1)

            def forward(self, words):
                _, (last, _) = self.lstm(self.embedding(words))
                return self.dense(self.dropout(torch.cat([last[0], last[1]], dim=1)))

        return BidirectionalLSTM()
