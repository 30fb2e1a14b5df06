"""Models of users' own may have layers that those of the study do not have."""

from trainings import answer

SCRIPT = """
import json, os
os.environ["KERAS_BACKEND"] = "torch"
import keras, torch
from keras import layers
from torch import nn
from epochcost.frameworks import keras_recipe, pytorch_recipe

class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(3)
    def call(self, x):
        return self.dense(x)

class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 5, batch_first=True)
    def forward(self, x):
        return self.gru(x)[0]

class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True)
    def forward(self, x):
        return self.lstm(nn.utils.rnn.pack_padded_sequence(x, [7], batch_first=True))[0].data

called = Subclassed()
called(keras.ops.zeros((1, 2)))
convolution = nn.Conv2d(1, 2, 3, bias=False)
pytorch_recipe.initialise(convolution)
sequence = torch.zeros(1, 7, 4)
print(json.dumps({
    "keras": [
        keras_recipe.multiply_adds(keras.Sequential([keras.Input((7, 4)), layers.Dense(5)])),
        keras_recipe.multiply_adds(keras.Sequential([keras.Input((7, 4)), layers.GRU(5)])),
        keras_recipe.multiply_adds(keras.Sequential([keras.Input((None, 4)), layers.LSTM(5)])),
        keras_recipe.multiply_adds(Subclassed()),
        keras_recipe.multiply_adds(called),
    ],
    "pytorch": [
        pytorch_recipe.multiply_adds(nn.Linear(4, 5), sequence),
        pytorch_recipe.multiply_adds(Recurrent(), sequence),
        pytorch_recipe.multiply_adds(Packed(), sequence),
        pytorch_recipe.multiply_adds(nn.LSTM(4, 5, batch_first=True), sequence),
        pytorch_recipe.multiply_adds(nn.LSTM(4, 5), sequence.transpose(0, 1)),
    ],
    "largest": float(convolution.weight.abs().max()),
}))
"""


def test_what_is_not_understood_is_not_counted_and_a_bias_may_be_missing(pythons):
    found = answer(pythons["keras-torch"], "-c", SCRIPT)
    assert found["keras"] == [7 * 4 * 5, None, None, None, None]
    lstm = 7 * 4 * 5 * (4 + 5)
    assert found["pytorch"] == [7 * 4 * 5, None, None, lstm, lstm]
    # Glorot's for 9 inputs and 18 outputs of each weight.
    assert 0 < found["largest"] <= (6 / 27) ** 0.5
