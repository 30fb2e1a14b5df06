"""Train one recipe in plain Keras: model, compile, fit. Prints its times as one line of JSON."""

import argparse
import json
import os
import time
from pathlib import Path

import plain_data

BATCH = {
    "mnist_mlp": 128,
    "mnist_cnn": 128,
    "cifar10_cnn": 32,
    "imdb_fasttext": 32,
    "imdb_bilstm": 32,
    "twitter_bilstm": 32,
    "nietzsche_lstm": 128,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=BATCH)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument(
        "--steps", type=int, help="of an epoch, and of a validation pass; default: all"
    )
    parser.add_argument("--epochs", type=int, default=1, help="(1)")
    parser.add_argument("--backend", choices=["tensorflow", "torch", "jax"], default="tensorflow")
    parser.add_argument("--seed", type=int, help="of the weights and the order; default: random")
    arguments = parser.parse_args()
    os.environ["KERAS_BACKEND"] = arguments.backend
    print(json.dumps(train(arguments)))


def train(arguments: argparse.Namespace) -> dict:
    """Train, and give the times: seconds by epoch."""
    import keras

    batch = BATCH[arguments.workload]
    data = plain_data.read(arguments.workload, arguments.data)
    if arguments.seed is not None:
        keras.utils.set_random_seed(arguments.seed)
        if arguments.backend == "tensorflow":
            import tensorflow as tf

            # With a seed every epoch would have the same order of samples.
            tf.random.set_seed(None)
    model = compiled_model(arguments.workload, data.vocabulary, data.x.shape[1])
    stopwatch = make_stopwatch()
    samples = plain_data.short(len(data.y), batch, arguments.steps)
    held_out = None
    if data.y_validation is not None:
        held_out_samples = plain_data.short(len(data.y_validation), batch, arguments.steps)
        held_out = (data.x_validation[:held_out_samples], data.y_validation[:held_out_samples])
    history = model.fit(
        data.x[:samples],
        data.y[:samples],
        batch_size=batch,
        epochs=arguments.epochs,
        validation_data=held_out,
        verbose=0,
        callbacks=[stopwatch],
    )
    return stopwatch.times | {"loss": history.history["loss"]}


def compiled_model(workload: str, vocabulary: int, length: int):
    """The model of a workload with its loss and optimiser; `length` is that of a text."""
    import keras
    from keras import Input, Sequential, layers, losses, metrics, optimizers

    loss: keras.losses.Loss = losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy: list | None = ["accuracy"]
    match workload:
        case "mnist_mlp":
            model = Sequential(
                [
                    Input((784,)),
                    layers.Dense(512, activation="relu"),
                    layers.Dropout(0.2),
                    layers.Dense(512, activation="relu"),
                    layers.Dropout(0.2),
                    layers.Dense(10),
                ]
            )
            # RMSprop: epsilon 1e-8 added to the root is its square added under the root.
            optimizer = optimizers.RMSprop(0.001, rho=0.9, epsilon=1e-16)
        case "mnist_cnn":
            model = Sequential(
                [
                    Input((28, 28, 1)),
                    layers.Conv2D(32, 3, activation="relu"),
                    layers.Conv2D(64, 3, activation="relu"),
                    layers.MaxPooling2D(2),
                    layers.Dropout(0.25),
                    layers.Flatten(),
                    layers.Dense(128, activation="relu"),
                    layers.Dropout(0.5),
                    layers.Dense(10),
                ]
            )
            optimizer = optimizers.Adadelta(1.0, rho=0.95, epsilon=1e-8)
        case "cifar10_cnn":
            model = Sequential(
                [
                    Input((32, 32, 3)),
                    layers.RandomTranslation(0.1, 0.1, "nearest", "nearest"),
                    layers.RandomFlip("horizontal"),
                    layers.Conv2D(32, 3, padding="same", activation="relu"),
                    layers.Conv2D(32, 3, activation="relu"),
                    layers.MaxPooling2D(2),
                    layers.Dropout(0.25),
                    layers.Conv2D(64, 3, padding="same", activation="relu"),
                    layers.Conv2D(64, 3, activation="relu"),
                    layers.MaxPooling2D(2),
                    layers.Dropout(0.25),
                    layers.Flatten(),
                    layers.Dense(512, activation="relu"),
                    layers.Dropout(0.5),
                    layers.Dense(10),
                ]
            )
            optimizer = optimizers.RMSprop(0.0001, rho=0.9, epsilon=1e-16)
        case "imdb_fasttext":
            model = Sequential(
                [
                    Input((400,), dtype="int32"),
                    layers.Embedding(vocabulary, 50),
                    layers.GlobalAveragePooling1D(),
                    layers.Dense(1),
                ]
            )
            optimizer = optimizers.Adam(0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-8)
            loss = losses.BinaryCrossentropy(from_logits=True)
            accuracy = [metrics.BinaryAccuracy("accuracy", threshold=0.0)]
        case "imdb_bilstm" | "twitter_bilstm":
            model = Sequential(
                [
                    Input((length,), dtype="int32"),
                    layers.Embedding(vocabulary, 128),
                    layers.Bidirectional(layers.LSTM(64)),
                    layers.Dropout(0.5),
                    layers.Dense(1),
                ]
            )
            epsilon = 1e-8 if workload == "imdb_bilstm" else 1e-7
            optimizer = optimizers.Adam(0.001, beta_1=0.9, beta_2=0.999, epsilon=epsilon)
            loss = losses.BinaryCrossentropy(from_logits=True)
            accuracy = [metrics.BinaryAccuracy("accuracy", threshold=0.0)]
        case "nietzsche_lstm":
            model = Sequential(
                [
                    Input((40,), dtype="int32"),
                    layers.CategoryEncoding(vocabulary, output_mode="one_hot"),
                    layers.LSTM(128),
                    layers.Dense(vocabulary),
                ]
            )
            optimizer = optimizers.RMSprop(0.01, rho=0.9, epsilon=1e-16)
            accuracy = None
    model.compile(optimizer=optimizer, loss=loss, metrics=accuracy)
    return model


def make_stopwatch():
    """A callback that reads the time at the borders of training and validation."""
    import keras

    class Stopwatch(keras.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.times: dict = {"train_s": [], "eval_s": []}

        def now(self) -> float:
            """The time when all steps so far are done: reading a weight waits for them."""
            if keras.backend.backend() == "jax":
                self.model.jax_state_sync()
            keras.ops.convert_to_numpy(self.model.trainable_variables[-1])
            return time.perf_counter()

        def on_epoch_begin(self, epoch, logs=None):
            self.begin = self.now()
            self.train_end = None

        def on_test_begin(self, logs=None):
            self.train_end = self.now()

        def on_epoch_end(self, epoch, logs=None):
            end = self.now()
            self.times["train_s"].append((self.train_end or end) - self.begin)
            if self.train_end:
                self.times["eval_s"].append(end - self.train_end)

    return Stopwatch()


if __name__ == "__main__":
    main()
