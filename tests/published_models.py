"""The models of the published studies, which several tests compare with."""

# Sample shape, size of the vocabulary, and number of parameters: as the Keras examples of 2017
# print it, or that of the same model with a smaller vocabulary to save memory (fastText, and
# Twitter, which has no example).
PUBLISHED = {
    "mnist_mlp": ([784], 0, 669_706),
    "mnist_cnn": ([28, 28, 1], 0, 1_199_882),
    "cifar10_cnn": ([32, 32, 3], 0, 1_250_858),
    "imdb_fasttext": ([400], 20_000, 20_000 * 50 + 51),
    "imdb_bilstm": ([100], 20_000, 2_658_945),
    "twitter_bilstm": ([40], 10_000, 2_658_945 - 10_000 * 128),
    "nietzsche_lstm": ([40], 57, 102_585),
}

# The options of the optimisers as Keras 2.0.9 has them of itself, beside the rate. The study of
# Twitter used Keras 2.1.3, where Adam takes the backend's epsilon.
PUBLISHED_OPTIONS = {
    "rmsprop": {"rho": 0.9, "epsilon": 1e-8},
    "adadelta": {"rho": 0.95, "epsilon": 1e-8},
    "adam": {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8},
}
PUBLISHED_EPSILONS = {"twitter_bilstm": 1e-7}

# Batch, epochs, optimiser and its rate, shares that dropout takes, as the studies had them.
PUBLISHED_RECIPES = {
    "mnist_mlp": (128, 20, "rmsprop", 0.001, [0.2, 0.2]),
    "mnist_cnn": (128, 12, "adadelta", 1.0, [0.25, 0.5]),
    "cifar10_cnn": (32, 20, "rmsprop", 0.0001, [0.25, 0.25, 0.5]),
    "imdb_fasttext": (32, 5, "adam", 0.001, []),
    "imdb_bilstm": (32, 4, "adam", 0.001, [0.5]),
    "twitter_bilstm": (32, 4, "adam", 0.001, [0.5]),
    "nietzsche_lstm": (128, 10, "rmsprop", 0.01, []),
}
