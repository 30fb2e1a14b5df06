"""PyTorch with a plain training loop over arrays in memory, eager, no workers.

Weights are initialised as in Keras (pytorch_recipe.py), so that losses are comparable.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from epochcost.frameworks import pytorch_group, pytorch_process, pytorch_recipe
from epochcost.frameworks.choices import memory_choices, of_device, thread_choices
from epochcost.frameworks.framework import Framework, Task
from epochcost.frameworks.pytorch_group import Group
from epochcost.measure import machine
from epochcost.measure.clock import Clock, Epoch
from epochcost.measure.extent import Extent
from epochcost.models.recipes import own_parts


class PyTorch(Framework):
    """A plain loop: forward, backward, step."""

    VERSION = f"torch {torch.__version__}"

    def device(self) -> str:
        return "gpu" if torch.cuda.is_available() else "cpu"

    def devices(self) -> int:
        """Without a GPU each is a process."""
        return torch.cuda.device_count() or machine.usable_cores()

    def threads(self) -> int:
        return torch.get_num_threads()

    def choices(self, recipe: dict) -> dict[str, list]:
        """The settings.

        channels_last: whether pictures and convolutions are stored with channels last.
        fused_optimizer: whether the optimiser takes its step in one pass over the weights.
        flush_denormal: whether the processor flushes denormal numbers to 0.
        compile: whether torch.compile compiles the model.
        onednn: whether oneDNN's kernels are used.
        """
        known = memory_choices() | {
            "onednn": [True, False],
            "channels_last": [False, True],
            "fused_optimizer": [False, True],
            **pytorch_process.flush_choices(),
            "compile": [False, True],
            **thread_choices(pytorch_process.DEFAULT_THREADS),
        }
        if recipe["optimizer"]["name"] != "adam":
            del known["fused_optimizer"]  # of the three, PyTorch has it only for Adam
        if "kernel" not in recipe["model"]:
            del known["channels_last"]
        return of_device(self.device(), known)

    def train(self, task: Task, clock: Clock) -> Callable[[np.ndarray], np.ndarray]:
        pytorch_process.apply(task.settings)
        extent, split, batch = clock.extent, task.split, task.recipe["batch_size"]
        loss, host = pytorch_recipe.loss_of(task.recipe, task.model), torch.device("cpu")
        held_out = extent.evaluation_samples
        validation = None
        with clock.phase("data"):
            # All of them, even if an epoch is short: picking from few is faster than from many.
            data = pytorch_recipe.tensors(split.x_train, split.y_train, loss, host)
            if held_out:
                validation = pytorch_recipe.tensors(
                    split.x_validation[:held_out], split.y_validation[:held_out], loss, host
                )
        share = _Share(task, data, validation)
        others = (share, extent, clock.epochs, clock.resume_from)
        with ExitStack() as stack:
            with clock.phase("build"):
                count = task.settings.get("devices", 1)
                group = stack.enter_context(
                    pytorch_group.started(count, _train_as_another, *others)
                )
            model = share.fit(group, clock)
        with clock.phase("measuring"):  # after training, which it would warm up
            clock.multiply_adds = pytorch_recipe.multiply_adds(model, share.data[0][:1])
        order = torch.Generator(group.place)
        time_input(clock, lambda: batches_of(group, share.data, extent.samples, batch, order))
        return partial(predict, model, place=group.place)


def time_input(clock: Clock, batches: Callable[[], Iterable]) -> None:
    """Time the batches alone; each call of `batches` starts an epoch of them."""
    steps = clock.extent.input_steps

    def take() -> None:
        for _, _ in zip(range(steps), batches(), strict=False):
            pass
        clock.synchronise()

    clock.time_input(steps, take)


def _train_as_another(
    group: Group, share: "_Share", extent: Extent, done: list[Epoch], resume_from: Path | None
) -> None:
    """What the other processes of a group do: the same, with a clock that nobody reads."""
    pytorch_process.apply(share.task.settings)
    clock = Clock(extent)
    clock.epochs, clock.resume_from = list(done), resume_from
    share.fit(group, clock)


@dataclass
class _Share:
    """What each process of a group trains on.

    task: each process has a copy.
    data, held_out: inputs and labels.
    """

    task: Task
    data: tuple[torch.Tensor, torch.Tensor]
    held_out: tuple[torch.Tensor, torch.Tensor] | None

    def fit(self, group: Group, clock: Clock) -> nn.Module:
        """Build the model and train it to the end of the clock's extent."""
        recipe, seed = self.task.recipe, self.task.seed
        extent, batch = clock.extent, recipe["batch_size"]
        place, loss = group.place, pytorch_recipe.loss_of(recipe, self.task.model)
        with clock.phase("data"):
            self.data, self.held_out = (
                part and tuple(tensor.to(place) for tensor in part)
                for part in (self.data, self.held_out)
            )
        with clock.phase("build"):
            torch.manual_seed(seed)
            model, optimizer = self._build(place)
            trained = group.wrap(model)
            if self.task.settings.get("compile"):
                trained = torch.compile(trained)
            order = torch.Generator(place).manual_seed(seed)
            if group.size > 1:
                torch.manual_seed(seed + group.rank)  # or all would drop the same units
        clock.synchronise = synchronise_of(place)
        clock.resume(partial(restore, model, optimizer, order))
        if clock.resume_from and group.rank:
            # The saved state is the first process's, so all would drop the same units.
            torch.manual_seed(seed + group.rank + group.size * len(clock.epochs))
        for _ in range(len(clock.epochs), extent.epochs):
            clock.epoch_begin()
            batches = batches_of(group, self.data, extent.samples, batch, order)
            mean_loss = train_epoch(group, trained, optimizer, loss, batches, clock)
            clock.train_end()
            held_out = None
            if self.held_out:
                # A share may be empty, so no process waits for the others in a forward pass.
                evaluated = group.alike(model) if group.size > 1 else trained
                held_out = evaluate(group, evaluated, loss, self.held_out, batch, clock)
            clock.epoch_end(mean_loss.item(), held_out)
            clock.checkpoint(partial(save, model, optimizer, order))
        return model

    def _build(self, place: torch.device) -> tuple[nn.Module, torch.optim.Optimizer]:
        task = self.task
        model = task.model.torch_model(task.split, task.recipe["model"])
        if "loss" not in own_parts(task.recipe):  # otherwise it is no model that Keras has, too
            pytorch_recipe.check_logits(model)
            if task.split.weights is None:
                model.apply(pytorch_recipe.initialise)
        model.to(place)
        optimizer = self._optimizer(model)
        self.data, self.held_out = arrange(model, self.data, self.held_out, task.settings)
        if task.settings.get("precision") == "bfloat16":
            compute_in_bfloat16(model, place)
        return model, optimizer

    def _optimizer(self, model: nn.Module) -> torch.optim.Optimizer | pytorch_recipe.Scheduled:
        task, recipe = self.task, self.task.recipe
        if "optimizer" not in own_parts(recipe):
            return pytorch_recipe.optimizer_of(recipe["optimizer"], model, task.settings)
        steps = recipe["epochs"] * math.ceil(len(task.split.x_train) / recipe["batch_size"])
        made = task.model.torch_optimizer(model, recipe["model"], steps)
        return pytorch_recipe.own_optimizer(made)


def save(model: nn.Module, optimizer, order: torch.Generator | None, path: Path) -> None:
    """Write all that is needed to resume from the end of an epoch.

    Args:
        order: the generator for the order of the samples; None for PyTorch's own.
    """
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "random_of_gpus": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "order": order and order.get_state(),
    }
    write(state, path)


def write(state: dict, path: Path) -> None:
    """Write tensors to a file; failures are raised as OSError, as everywhere else."""
    try:
        torch.save(state, path)
    except RuntimeError as error:
        raise OSError(f"{path} cannot be written: {error}") from error


def restore(model: nn.Module, optimizer, order: torch.Generator | None, path: Path) -> None:
    """Resume from what `save` wrote."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    if torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["random_of_gpus"])
    if order:
        order.set_state(state["order"])


def train_epoch(group, model, optimizer, loss, batches, clock: Clock) -> torch.Tensor:
    """Train one epoch; the mean loss per sample stays on the device until it is asked for."""
    model.train()
    extent = clock.extent
    total = torch.zeros((), device=group.place)
    judged = torch.zeros((), device=group.place)
    for step in range(extent.steps):
        clock.step(step)
        x, y, weight = next(batches)
        optimizer.zero_grad()
        logits = model(x)
        value = loss(logits, y)
        (value if weight == 1 else value * weight).backward()
        optimizer.step()
        if not weight:
            continue
        # Keras keeps loss and accuracy of the training steps; so does this loop.
        value = value.detach()
        total += value * len(y)
        if extent.evaluation_steps:
            judged += loss.judged(value, logits, y).detach()
    return group.sum(total) / extent.samples


def batches_of(
    group: Group, data, samples: int, batch: int, order: torch.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor, float]]:
    """A process's shares of the batches of an epoch, in random order, with their weights.

    An epoch of fewer samples than there are draws from all of them anew each time.

    The mean over the processes of weight x mean loss is the mean loss of the batch, even if it
    cannot be divided evenly.
    """
    inputs, labels = data
    shuffled = torch.randperm(len(inputs), generator=order, device=inputs.device)[:samples]
    for start in range(0, samples, batch):
        whole = shuffled[start : start + batch]
        chosen = group.share(whole)
        weight = len(chosen) * group.size / len(whole)
        if not len(chosen):
            chosen = whole[:1]  # its weight is 0, and a step must have samples
        yield inputs[chosen], labels[chosen], weight


@torch.inference_mode()
def evaluate(group: Group, model, loss, held_out, batch: int, clock: Clock) -> float:
    """Held-out accuracy, or loss (`judged`); the loss is computed in any case, as in Keras."""
    samples = len(held_out[0])
    model.eval()
    judged = torch.zeros((), device=group.place)
    total = torch.zeros((), device=group.place)
    for step, start in enumerate(range(0, samples, batch)):
        clock.evaluation_step(step)
        x, y = (group.share(part[start : start + batch]) for part in held_out)
        if not len(y):
            continue
        logits = model(x)
        value = loss(logits, y)
        total += value * len(y)
        judged += loss.judged(value, logits, y)
    return (group.sum(judged) / samples).item()


@torch.inference_mode()
def predict(model, inputs: np.ndarray, place: torch.device) -> np.ndarray:
    """The logits of a batch of samples."""
    model.eval()
    return model(pytorch_recipe.inputs_of(inputs).to(place)).cpu().numpy()


def arrange(model, training, validation, settings: dict):
    """Apply the settings for the model's memory layout; returns the arrays to train on."""
    if settings.get("channels_last"):
        model.to(memory_format=torch.channels_last)
        training, validation = (
            part and (part[0].contiguous(memory_format=torch.channels_last), part[1])
            for part in (training, validation)
        )
    return training, validation


def compute_in_bfloat16(model: nn.Module, place: torch.device) -> None:
    """Let a model compute in bfloat16 where PyTorch deems it safe; weights stay as they are.

    On a GPU LSTMs stay in float32: PyTorch's autocast takes them to float16, whatever it is told
    (`_cudnn_rnn_cast_reflatten`).
    """
    forward = torch.autocast(place.type, torch.bfloat16)(model.forward)
    model.forward = lambda inputs: _in_full(forward(inputs))
    if place.type == "cuda":
        for layer in model.modules():
            if isinstance(layer, nn.LSTM):
                layer.forward = in_float32(layer.forward, place)


def _in_full(outputs: Any) -> Any:
    """A tensor in float32; whatever else a loss of one's own takes stays as it is."""
    return outputs.float() if isinstance(outputs, torch.Tensor) else outputs


def in_float32(forward: Callable, place: torch.device) -> Callable:
    """A layer's function of one tensor, computed in float32 even where autocast is on."""
    exact = torch.autocast(place.type, enabled=False)(forward)
    return lambda inputs: exact(inputs.float())


def synchronise_of(place: torch.device) -> Callable[[], None]:
    """A function that returns when the device is idle; a processor has nothing to wait for."""
    return torch.cuda.synchronize if place.type == "cuda" else lambda: None
