"""Adds the hooks of a framework as soon as the script has imported it."""

import os
import sys
from functools import wraps
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location

from . import keras_hooks, torch_hooks, tqdm_hooks, trainer_hooks

# By module: what hooks it, right after it was executed. None is imported by us.
_HOOKS = {
    "torch.optim.optimizer": torch_hooks.optimizers,
    "torch.utils.data.dataloader": torch_hooks.loaders,
    "torch.optim.lr_scheduler": torch_hooks.schedulers,
    "torch.serialization": torch_hooks.saving,
    "torch.amp.grad_scaler": torch_hooks.scalers,
    "transformers.optimization": trainer_hooks.schedulers,
    "transformers.trainer_callback": trainer_hooks.transformers,
    "lightning.pytorch.trainer.call": trainer_hooks.lightning,
    "pytorch_lightning.trainer.call": trainer_hooks.lightning,
    "fastai.learner": trainer_hooks.fastai,
    "keras.src.callbacks.callback_list": keras_hooks.callbacks,
    "keras.src.trainers.epoch_iterator": keras_hooks.batches,
    "tqdm.std": tqdm_hooks.bars,
}


class Hooking:
    """What a hook is given: the marks, and two ways to wrap what a framework has."""

    def __init__(self, marks) -> None:
        self.marks = marks

    def guarded(self, function):
        """A hook that cannot hurt: an error in it is a problem of ours."""

        @wraps(function)
        def hook(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Exception as error:
                self.marks.problem(function.__qualname__, error)

        return hook

    def wrap(self, owner, name: str, before=None, after=None) -> None:
        """Replace a function by one that calls `before` and `after` around it.

        Both get its arguments; their errors stay with us, but the stop goes through.
        """
        original = getattr(owner, name)
        before, after = (hook and self.guarded(hook) for hook in (before, after))

        @wraps(original)
        def function(*args, **kwargs):
            if before:
                before(*args, **kwargs)
            result = original(*args, **kwargs)
            if after:
                after(*args, **kwargs)
            return result

        setattr(owner, name, function)


class Finder:
    """Finds no module itself: lets the others find those above, and hooks them once executed."""

    def __init__(self, hooking: Hooking) -> None:
        self._hooking = hooking
        self._busy: set[str] = set()

    def find_spec(self, name, path=None, target=None):
        """The spec that another finder has, with our hook in its loader."""
        if name not in _HOOKS or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = self._found(name, path, target)
        finally:
            self._busy.discard(name)
        if spec is not None and spec.loader is not None:
            self._hooking.guarded(self._prepare)(spec.loader, name)
        return spec

    def _found(self, name, path, target):
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None

    def _prepare(self, loader, name: str) -> None:
        original = loader.exec_module
        hook = self._hooking.guarded(_HOOKS[name])

        def exec_module(module):
            # On the instance alone, and gone before it is used: the loader stays what it is.
            del loader.exec_module
            original(module)
            hook(self._hooking, module)

        loader.exec_module = exec_module


class Fallback:
    """Finds `epochcost` for `epochcost.steps` where the script's environment has none."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name, path=None, target=None):
        """The spec of our own package, or of a module in it."""
        if name == "epochcost":
            begin = os.path.join(self._package, "__init__.py")
            places = [self._package]
            return spec_from_file_location(name, begin, submodule_search_locations=places)
        if name.startswith("epochcost.") and path:
            return PathFinder.find_spec(name, path, target)
        return None


def install(marks, package: str) -> None:
    """Begin to wait for the frameworks; `package` is the folder of epochcost."""
    sys.meta_path.insert(0, Finder(Hooking(marks)))
    sys.meta_path.append(Fallback(package))
