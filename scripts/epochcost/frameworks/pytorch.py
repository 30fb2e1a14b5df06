"""PyTorch with a plain training loop over arrays in memory, eager, no workers.

Weights start as Keras starts them (Glorot uniform, zero biases), so that losses compare.
"""

import numpy as np
import torch
from torch import nn

from epochcost.measurement.clock import Clock
from epochcost.workloads import Split

VERSION = f"torch {torch.__version__}"

# What a training can fail with, beside a loss that is no number.
FAILURES = (RuntimeError, MemoryError, ArithmeticError)


def device() -> str:
    """What the model trains on."""
    return "gpu" if torch.cuda.is_available() else "cpu"


def threads() -> int:
    """Threads within one operation."""
    return torch.get_num_threads()


def train(recipe: dict, definition, split: Split, clock: Clock, seed: int) -> None:
    """Train a workload; all that is learnt about it is left in the clock.

    Args:
        recipe: the workload's entry of config/workloads.yaml.
        definition: the workload's module.
    """
    schedule, batch = clock.schedule, recipe["batch_size"]
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    samples = schedule.steps * batch
    held_out = schedule.evaluation_steps * batch
    with clock.phase("data"):
        training = _tensors(split.x_train[:samples], split.y_train[:samples], place)
        validation = _tensors(split.x_validation[:held_out], split.y_validation[:held_out], place)
    with clock.phase("build"):
        torch.manual_seed(seed)
        model = definition.torch_model(split.x_train.shape[1:], recipe["model"])
        model.apply(_initialise)
        model.to(place)
        optimizer = _optimizer(recipe["optimizer"], model)
    if place.type == "cuda":
        clock.synchronise = torch.cuda.synchronize
    for _ in range(schedule.epochs):
        clock.epoch_begin()
        loss = _train_epoch(model, optimizer, training, batch, clock)
        clock.train_end()
        accuracy = _accuracy(model, validation, batch)
        clock.epoch_end(loss.item(), accuracy)
    for _ in range(schedule.evaluations):
        with clock.evaluation():
            _accuracy(model, validation, batch)


def _train_epoch(model, optimizer, training, batch: int, clock: Clock) -> torch.Tensor:
    """One epoch in random order; the mean loss stays on the device until somebody asks."""
    inputs, labels = training
    model.train()
    order = torch.randperm(len(inputs), device=inputs.device)
    total = torch.zeros((), device=inputs.device)
    correct = torch.zeros((), device=inputs.device)
    for step, start in enumerate(range(0, len(inputs), batch)):
        clock.step(step)
        chosen = order[start : start + batch]
        y = labels[chosen]
        optimizer.zero_grad()
        logits = model(inputs[chosen])
        loss = nn.functional.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        # Keras keeps loss and accuracy of the training steps; so does this loop.
        total += loss.detach() * len(y)
        correct += (logits.detach().argmax(1) == y).sum()
    return total / len(inputs)


@torch.inference_mode()
def _accuracy(model, validation, batch: int) -> float:
    """Held-out accuracy, a fraction; the held-out loss is formed too, as Keras does."""
    inputs, labels = validation
    model.eval()
    correct = torch.zeros((), device=inputs.device)
    total = torch.zeros((), device=inputs.device)
    for start in range(0, len(inputs), batch):
        y = labels[start : start + batch]
        logits = model(inputs[start : start + batch])
        total += nn.functional.cross_entropy(logits, y) * len(y)
        correct += (logits.argmax(1) == y).sum()
    return (correct / len(inputs)).item()


def _tensors(inputs: np.ndarray, labels: np.ndarray, place: torch.device):
    """Inputs with channels first, and labels, where the model is."""
    if inputs.ndim == 4:
        inputs = np.ascontiguousarray(np.moveaxis(inputs, -1, 1))
    return torch.from_numpy(inputs).to(place), torch.from_numpy(labels.astype(np.int64)).to(place)


def _initialise(layer: nn.Module) -> None:
    if isinstance(layer, nn.Linear | nn.Conv2d):
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)


def _optimizer(settings: dict, model: nn.Module) -> torch.optim.Optimizer:
    rate, rho, epsilon = settings["learning_rate"], settings["rho"], settings["epsilon"]
    if settings["name"] == "rmsprop":
        return torch.optim.RMSprop(model.parameters(), lr=rate, alpha=rho, eps=epsilon)
    return torch.optim.Adadelta(model.parameters(), lr=rate, rho=rho, eps=epsilon)
