"""As much of PyTorch as the watcher hooks, without any arithmetic."""

from contextlib import contextmanager

__version__ = "0.0"
_grad = [True]


def is_grad_enabled():
    return _grad[0]


@contextmanager
def no_grad():
    _grad[0] = False
    yield
    _grad[0] = True


from . import amp, optim, utils  # noqa: E402
from .serialization import save  # noqa: E402

__all__ = ["amp", "optim", "save", "utils"]
