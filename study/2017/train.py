"""Train one recipe in Keras 2 and time it: the software of about 2017.

Runs in the environment of the Makefile (Python 3.6), independently of the package epochcost;
keras2.py starts it. In: a folder with job.json and arrays. Out: times.json there.
The models are those of the recipes of 2017: they give probabilities, labels and characters are
one-hot before timing, and CIFAR-10's pictures are shifted by a generator alongside training.
"""

import argparse
import ctypes
import json
import os
import random
import signal
import sys
import time

BORN = time.time()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="with job.json, x_train.npy, y_train.npy and so on")
    parser.add_argument("--backend", choices=["tensorflow", "cntk"], required=True)
    arguments = parser.parse_args()
    end_with_parent()
    os.environ["KERAS_BACKEND"] = arguments.backend
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with open(os.path.join(arguments.folder, "job.json")) as file:
        job = json.load(file)
    job["shape"] = tuple(job["shape"])
    times = {"phase": "import", "phases": {}, "epochs": [], "input": None}
    try:
        train(arguments.folder, job, times)
        times["failure"] = None
    except ImportError:
        raise  # nothing was trained
    except Exception as error:
        times["failure"] = " ".join("{}: {}".format(type(error).__name__, error).split())
    with open(os.path.join(arguments.folder, "times.json"), "w") as file:
        json.dump(times, file)


def end_with_parent():
    """Have Linux end this process when the one that started it ends, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def train(folder, job, times):
    """Train as the job says; everything measured is left in `times`."""
    import keras
    import numpy as np

    backend = __import__(keras.backend.backend())
    times["phases"]["import"] = time.time() - BORN
    recipe, batch, schedule = job["recipe"], job["recipe"]["batch_size"], job["schedule"]

    times["phase"] = "data"
    start = time.perf_counter()
    data = read(folder, job)
    times["phases"]["data"] = time.perf_counter() - start

    times["phase"] = "build"
    start = time.perf_counter()
    np.random.seed(job["seed"])
    random.seed(job["seed"])  # for the order of CIFAR-10's batches
    if keras.backend.backend() == "tensorflow":
        backend.set_random_seed(job["seed"])
    if job["workload"] not in MODELS:
        raise ValueError("train.py has no model of " + job["workload"])
    model = MODELS[job["workload"]](recipe["model"], job)
    model.compile(
        loss=recipe["loss"],
        optimizer=optimizer_of(recipe["optimizer"]),
        metrics=["accuracy"] if "x_validation" in data else [],
    )
    times["phases"]["build"] = time.perf_counter() - start

    times["phase"] = "first_step"
    options = {"epochs": schedule["epochs"], "verbose": 0}
    options["callbacks"] = [make_stopwatch(times, schedule)]
    if "x_validation" in data:
        options["validation_data"] = (data["x_validation"], data["y_validation"])
    if "shift" in recipe["model"]:
        batches = moved(recipe["model"]["shift"], data, batch)
        validate_in_batches_of(batch, model.model)
        model.fit_generator(batches, steps_per_epoch=schedule["steps"], **options)
    else:
        batches = plain(data, batch)
        model.fit(data["x_train"], data["y_train"], batch_size=batch, **options)

    times["phase"] = "measuring"
    start = time.perf_counter()
    for _ in range(job["input_steps"]):
        next(batches)
    times["input"] = {"steps": job["input_steps"], "seconds": time.perf_counter() - start}


def read(folder, job):
    """The arrays; labels are one-hot if the loss needs it, and so are characters."""
    import numpy as np

    data = {}
    for part in ("train", "validation"):
        path = os.path.join(folder, "x_{}.npy".format(part))
        if not os.path.exists(path):
            continue
        x, y = np.load(path), np.load(path.replace("x_", "y_"))
        if job["workload"] == "nietzsche_lstm":
            x = np.eye(job["vocabulary"], dtype=bool)[x]
        if job["recipe"]["loss"] == "categorical_crossentropy":
            classes = job["recipe"]["model"].get("classes", job["vocabulary"])
            y = np.eye(classes, dtype="float32")[y]
        data["x_" + part], data["y_" + part] = x, y
    return data


def plain(data, batch):
    """Batches in random order, as `fit` cuts them from arrays."""
    import numpy as np

    samples = len(data["x_train"])
    while True:
        order = np.random.permutation(samples)
        for start in range(0, samples, batch):
            chosen = order[start : start + batch]
            yield data["x_train"][chosen], data["y_train"][chosen]


def moved(share, data, batch):
    """Batches of pictures, each shifted and perhaps mirrored."""
    from keras.preprocessing.image import ImageDataGenerator

    generator = ImageDataGenerator(
        width_shift_range=share, height_shift_range=share, horizontal_flip=True
    )
    return generator.flow(data["x_train"], data["y_train"], batch_size=batch)


def validate_in_batches_of(size, model):
    """Without this, `fit_generator` uses the size of its last batch, which may be a smaller one."""
    evaluate = model.evaluate
    model.evaluate = lambda *given, **options: evaluate(*given, **dict(options, batch_size=size))


def make_stopwatch(times, schedule):
    """A callback that reads the time where the schedule says so; Keras 2 waits for every step."""
    import keras

    class Stopwatch(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.now = {"marks": {}, "train_s": None}
            self.begin = time.perf_counter()

        def on_batch_begin(self, step, logs=None):
            if step in schedule["marks"]:
                self.now["marks"][step] = time.perf_counter() - self.begin
                times["phase"] = "train"

        def on_batch_end(self, step, logs=None):
            if step == schedule["steps"] - 1:
                self.now["train_s"] = time.perf_counter() - self.begin
                times["phase"] = "evaluate"

        def on_epoch_end(self, epoch, logs=None):
            if "val_acc" in logs:
                self.now["eval_s"] = time.perf_counter() - self.begin - self.now["train_s"]
            self.now["loss"] = float(logs["loss"])
            self.now["accuracy"] = float(logs["val_acc"]) if "val_acc" in logs else None
            times["epochs"].append(self.now)
            times["phase"] = "train"

    return Stopwatch()


def mnist_mlp(hyper, job):
    from keras.layers import Dense, Dropout
    from keras.models import Sequential

    units, dropout = hyper["units"], hyper["dropout"]
    return Sequential(
        [
            Dense(units, activation="relu", input_shape=job["shape"]),
            Dropout(dropout),
            Dense(units, activation="relu"),
            Dropout(dropout),
            Dense(hyper["classes"], activation="softmax"),
        ]
    )


def mnist_cnn(hyper, job):
    from keras.layers import Conv2D, Dense, Dropout, Flatten, MaxPooling2D
    from keras.models import Sequential

    kernel = (hyper["kernel"], hyper["kernel"])
    first, second = hyper["filters"]
    return Sequential(
        [
            Conv2D(first, kernel, activation="relu", input_shape=job["shape"]),
            Conv2D(second, kernel, activation="relu"),
            MaxPooling2D((2, 2)),
            Dropout(hyper["dropout"][0]),
            Flatten(),
            Dense(hyper["units"], activation="relu"),
            Dropout(hyper["dropout"][1]),
            Dense(hyper["classes"], activation="softmax"),
        ]
    )


def cifar10_cnn(hyper, job):
    from keras.layers import Conv2D, Dense, Dropout, Flatten, InputLayer, MaxPooling2D
    from keras.models import Sequential

    kernel = (hyper["kernel"], hyper["kernel"])
    model = Sequential([InputLayer(job["shape"])])
    for filters in hyper["filters"]:
        model.add(Conv2D(filters, kernel, padding="same", activation="relu"))
        model.add(Conv2D(filters, kernel, activation="relu"))
        model.add(MaxPooling2D((2, 2)))
        model.add(Dropout(hyper["dropout"][0]))
    model.add(Flatten())
    model.add(Dense(hyper["units"], activation="relu"))
    model.add(Dropout(hyper["dropout"][1]))
    model.add(Dense(hyper["classes"], activation="softmax"))
    return model


def imdb_fasttext(hyper, job):
    from keras.layers import Dense, Embedding, GlobalAveragePooling1D
    from keras.models import Sequential

    return Sequential(
        [
            Embedding(job["vocabulary"], hyper["embedding"], input_length=job["shape"][0]),
            GlobalAveragePooling1D(),
            Dense(1, activation="sigmoid"),
        ]
    )


def bilstm(hyper, job):
    from keras.layers import LSTM, Bidirectional, Dense, Dropout, Embedding
    from keras.models import Sequential

    return Sequential(
        [
            Embedding(job["vocabulary"], hyper["embedding"], input_length=job["shape"][0]),
            Bidirectional(LSTM(hyper["units"])),
            Dropout(hyper["dropout"]),
            Dense(1, activation="sigmoid"),
        ]
    )


def nietzsche_lstm(hyper, job):
    from keras.layers import LSTM, Dense
    from keras.models import Sequential

    characters = job["vocabulary"]
    return Sequential(
        [
            LSTM(hyper["units"], input_shape=(job["shape"][0], characters)),
            Dense(characters, activation="softmax"),
        ]
    )


MODELS = {
    "mnist_mlp": mnist_mlp,
    "mnist_cnn": mnist_cnn,
    "cifar10_cnn": cifar10_cnn,
    "imdb_fasttext": imdb_fasttext,
    "imdb_bilstm": bilstm,
    "twitter_bilstm": bilstm,
    "nietzsche_lstm": nietzsche_lstm,
}


def optimizer_of(settings):
    """The optimiser of a recipe."""
    from keras import optimizers

    rate, epsilon = settings["learning_rate"], settings["epsilon"]
    if settings["name"] == "rmsprop":
        return optimizers.RMSprop(lr=rate, rho=settings["rho"], epsilon=epsilon)
    if settings["name"] == "adadelta":
        return optimizers.Adadelta(lr=rate, rho=settings["rho"], epsilon=epsilon)
    return optimizers.Adam(
        lr=rate, beta_1=settings["beta_1"], beta_2=settings["beta_2"], epsilon=epsilon
    )


if __name__ == "__main__":
    main()
