"""Keras on TensorFlow."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from epochcost.frameworks import keras_fit

VERSION = f"keras {keras_fit.keras.__version__}, tensorflow {tf.__version__}"
# What a training can fail with, beside a loss that is no number.
FAILURES = (tf.errors.OpError, RuntimeError, MemoryError, ArithmeticError)
train = keras_fit.train


def device() -> str:
    """What the model trains on."""
    return "gpu" if tf.config.list_physical_devices("GPU") else "cpu"


def threads() -> int:
    """Threads within one operation; 0 is TensorFlow's word for one per core."""
    return tf.config.threading.get_intra_op_parallelism_threads()
