"""Models of users' own may have layers that those of the study do not have."""

import pytest
from trainings import answer

SCRIPT = """
import json, os
os.environ["KERAS_BACKEND"] = "torch"
import keras, torch
import numpy as np
from keras import layers
from torch import nn
from epochcost.errors import InputError
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

CATEGORICAL, labels = "categorical_crossentropy", np.array([0, 1, 2], np.uint8)

def ending(activation, outputs):
    return keras.Sequential([keras.Input((4,)), layers.Dense(outputs, activation=activation)])

def said(check, *given):
    try:
        check(*given)
    except InputError as error:
        return str(error)

called = Subclassed()
called(keras.ops.zeros((1, 2)))
convolution = nn.Conv2d(1, 2, 3, bias=False)
pytorch_recipe.initialise(convolution)
sequence = torch.zeros(1, 7, 4)

def scheduled(steps):
    optimizer = torch.optim.AdamW(nn.Linear(2, 1).parameters())
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=10)
    made = pytorch_recipe.own_optimizer((optimizer, rates))
    for _ in range(steps):
        made.step()
    return made, lambda: optimizer.param_groups[0]["lr"]

half, rate = scheduled(5)
again, resumed = scheduled(0)
again.load_state_dict(half.state_dict())
half.step(), again.step()
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
    "no_mean": [
        said(pytorch_recipe.OwnLoss(lambda outputs, labels: given), None, None)
        for given in (torch.zeros(3), 1.0, torch.zeros(()))
    ],
    "rates": [rate(), resumed(), scheduled(6)[1]()],
    "largest": float(convolution.weight.abs().max()),
    "refused": [said(*case) for case in (
        (keras_recipe.check_outputs, ending("softmax", 3), CATEGORICAL, labels),
        (keras_recipe.check_outputs, ending(None, 2), CATEGORICAL, labels),
        (keras_recipe.check_outputs, ending(None, 3), "binary_crossentropy", labels),
        (keras_recipe.check_outputs, ending(None, 3), CATEGORICAL, labels),
        (keras_recipe.check_outputs, called, CATEGORICAL, labels),
        (keras_recipe.check_outputs, Subclassed(), CATEGORICAL, labels),
        (pytorch_recipe.check_logits, nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())),
        (pytorch_recipe.check_logits, nn.Sequential(nn.Linear(4, 1))),
        (pytorch_recipe.LOSSES[CATEGORICAL], torch.zeros(3, 2), torch.tensor([0, 1, 2])),
        (pytorch_recipe.LOSSES["binary_crossentropy"], torch.zeros(3, 2), torch.zeros(3)),
    )],
}))
"""


@pytest.fixture(scope="module")
def found(pythons):
    return answer(pythons["keras-torch"], "-c", SCRIPT)


def test_outputs_that_the_loss_would_take_for_something_else_are_refused(found):
    softmax, few, many, *fit, sigmoid, logit, fewer, two = found["refused"]
    assert softmax.startswith("the model ends in probabilities (softmax), and the loss wants logit")
    assert few == "the model has 2 outputs, and a label is 2"
    assert many == "the model has 3 outputs; binary_crossentropy wants 1, a logit"
    assert sigmoid.startswith("the model ends in probabilities (Sigmoid)")
    assert [*fit, logit] == [None] * 4
    assert fewer == "the model has 2 outputs, and Target 2 is out of bounds."
    assert two == "the model has 2 outputs; the loss wants 1, a logit"


def test_what_is_not_understood_is_not_counted_and_a_bias_may_be_missing(found):
    assert found["keras"] == [7 * 4 * 5, None, None, None, None]
    lstm = 7 * 4 * 5 * (4 + 5)
    assert found["pytorch"] == [7 * 4 * 5, None, None, lstm, lstm]
    # Glorot's for 9 inputs and 18 outputs of each weight.
    assert 0 < found["largest"] <= (6 / 27) ** 0.5


def test_a_schedule_goes_on_where_it_was(found):
    rate, resumed, at_once = found["rates"]
    assert rate == resumed == at_once


def test_a_loss_that_is_no_mean_is_refused(found):
    several, number, mean = found["no_mean"]
    assert several == "torch_loss gives [3], and no mean of the batch, a scalar tensor"
    assert number.startswith("torch_loss gives float")
    assert mean is None
