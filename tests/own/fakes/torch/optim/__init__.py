from .optimizer import SGD, Optimizer

__all__ = ["SGD", "Optimizer"]
