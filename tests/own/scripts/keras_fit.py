"""Keras, on the backend that KERAS_BACKEND names."""

import os
import sys

import keras
import numpy as np

if keras.backend.backend() == "torch":
    import torch

    torch.set_num_threads(1)
keras.utils.set_random_seed(0)
layers = [keras.layers.Dense(128, activation="relu"), keras.layers.Dense(10)]
model = keras.Sequential([keras.Input((64,)), *layers])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
at_once = int(os.environ.get("AT_ONCE", "1"))
model.compile("adam", loss, steps_per_execution=at_once)
rng = np.random.default_rng(0)
x, y = rng.random((4000, 64), np.float32), rng.integers(0, 10, 4000)
epochs = 4 * int(sys.argv[1] if len(sys.argv) > 1 else 1)
kept = [keras.callbacks.ModelCheckpoint("keras.keras")]
done = model.fit(
    x, y, batch_size=32, epochs=epochs, validation_split=0.2, verbose=0, callbacks=kept
)
model.save("keras_final.keras")
print(len(done.history["loss"]), f"{done.history['loss'][-1]:.3f}")
