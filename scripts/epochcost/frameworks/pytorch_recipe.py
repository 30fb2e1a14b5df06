"""A recipe in PyTorch and fastai: loss, optimiser, initial weights, arrays, operations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from epochcost.errors import InputError
from epochcost.models import Model
from epochcost.models.recipes import own_parts


class CategoricalCrossentropy:
    """Cross-entropy of logits and class numbers, as the mean over a batch."""

    label_type = torch.int64

    def __call__(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        try:
            return nn.functional.cross_entropy(logits, labels)
        except IndexError as error:  # on a processor
            raise InputError(f"the model has {logits.shape[1]} outputs, and {error}") from error

    def activation(self, logits: torch.Tensor) -> torch.Tensor:
        """Logits as probabilities; fastai averages these over several views."""
        return logits.softmax(1)

    def classes(self, logits: torch.Tensor) -> torch.Tensor:
        """The class that logits predict."""
        return logits.argmax(1)

    def judged(self, value: Any, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """How many of a batch are right."""
        return (self.classes(logits) == labels).sum()


class BinaryCrossentropy:
    """Cross-entropy of one logit (samples x 1) and labels 0 or 1, as the mean over a batch."""

    label_type = torch.float32

    def __call__(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logit = logits.squeeze(1)
        if logit.shape != labels.shape:
            raise InputError(f"the model has {logits.shape[1]} outputs; the loss wants 1, a logit")
        return nn.functional.binary_cross_entropy_with_logits(logit, labels)

    def classes(self, logits: torch.Tensor) -> torch.Tensor:
        """The class that logits predict, as a float."""
        return (logits.squeeze(1) > 0).float()

    def judged(self, value: Any, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """How many of a batch are right."""
        return (self.classes(logits) == labels).sum()


class OwnLoss:
    """The loss of a model's Python file (`Model.torch_loss`), of whatever outputs and labels."""

    label_type = None

    def __init__(self, loss: Callable) -> None:
        self._loss = loss

    def __call__(self, outputs: Any, labels: torch.Tensor) -> torch.Tensor:
        value = self._loss(outputs, labels)
        if not isinstance(value, torch.Tensor) or value.ndim:
            shape = list(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
            raise InputError(f"torch_loss gives {shape}, and no mean of the batch, a scalar tensor")
        return value

    def judged(self, value: torch.Tensor, outputs: Any, labels: torch.Tensor) -> torch.Tensor:
        """The loss `value` of a batch, summed over it."""
        return value * len(labels)


LOSSES = {
    "categorical_crossentropy": CategoricalCrossentropy(),
    "binary_crossentropy": BinaryCrossentropy(),
}


def loss_of(recipe: dict[str, Any], model: Model) -> Any:
    """The loss of a recipe, one of its own or of `LOSSES`.

    What held-out data are judged by is the mean of its `judged` over all samples.
    """
    if "loss" in own_parts(recipe):
        return OwnLoss(model.torch_loss(recipe["model"]))
    return LOSSES[recipe["loss"]]


class Scheduled:
    """An optimiser whose rate follows a schedule, step by step; with the methods a loop calls."""

    def __init__(self, optimizer: torch.optim.Optimizer, schedule: Any) -> None:
        self._parts = (optimizer, schedule)
        self.zero_grad = optimizer.zero_grad

    def step(self) -> None:
        for part in self._parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        """The states of both."""
        optimizer, schedule = (part.state_dict() for part in self._parts)
        return {"optimizer": optimizer, "schedule": schedule}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        for part, of_it in zip(self._parts, (state["optimizer"], state["schedule"]), strict=True):
            part.load_state_dict(of_it)


def own_optimizer(made: Any) -> torch.optim.Optimizer | Scheduled:
    """What `Model.torch_optimizer` gave, as a loop takes it.

    Raises:
        InputError: it is no optimiser, alone or with its schedule.
    """
    parts = made if isinstance(made, tuple) else (made,)
    if not isinstance(parts[0], torch.optim.Optimizer) or len(parts) > 2:
        raise InputError("torch_optimizer gives no torch.optim.Optimizer, alone or with a schedule")
    return Scheduled(*parts) if len(parts) == 2 else parts[0]


def check_logits(model: nn.Module) -> None:
    """Refuse a model that ends in probabilities.

    Raises:
        InputError: it does.
    """
    last = model[-1] if isinstance(model, nn.Sequential) and len(model) else None
    if isinstance(last, nn.Softmax | nn.Sigmoid):
        raise InputError(
            f"the model ends in probabilities ({type(last).__name__}), and the loss wants logits: "
            "leave the last layer out"
        )


def initialise(layer: nn.Module) -> None:
    """Initialise weights as Keras does: Glorot uniform, biases 0, embeddings uniform in +-0.05.

    An LSTM starts with orthogonal recurrent weights and a forget bias of 1. PyTorch's LSTM has
    two biases where Keras has one; the second stays at 0 and is not trained.
    """
    if isinstance(layer, nn.Linear | nn.Conv2d):
        nn.init.xavier_uniform_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    elif isinstance(layer, nn.Embedding | nn.EmbeddingBag):
        nn.init.uniform_(layer.weight, -0.05, 0.05)
    elif isinstance(layer, nn.LSTM):
        for name, weights in layer.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.xavier_uniform_(weights)
            elif name.startswith("weight_hh"):
                nn.init.orthogonal_(weights)
            else:
                nn.init.zeros_(weights)
            if name.startswith("bias_ih"):
                with torch.no_grad():
                    weights[layer.hidden_size : 2 * layer.hidden_size] = 1  # forget gate
            elif name.startswith("bias_hh"):
                weights.requires_grad_(False)


def optimizer_of(optimizer: dict, model: nn.Module, settings: dict) -> torch.optim.Optimizer:
    """The optimiser of a recipe, for the trainable weights of a model."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    rate, epsilon = optimizer["learning_rate"], optimizer["epsilon"]
    match optimizer["name"]:
        case "rmsprop":
            return torch.optim.RMSprop(weights, lr=rate, alpha=optimizer["rho"], eps=epsilon)
        case "adadelta":
            return torch.optim.Adadelta(weights, lr=rate, rho=optimizer["rho"], eps=epsilon)
    return torch.optim.Adam(
        weights,
        lr=rate,
        betas=(optimizer["beta_1"], optimizer["beta_2"]),
        eps=epsilon,
        # None leaves the choice to PyTorch.
        fused=settings.get("fused_optimizer") or None,
    )


def tensors(
    inputs: np.ndarray, labels: np.ndarray, loss, place: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (pictures with channels first) and labels, where the model is."""
    wanted = loss.label_type
    if wanted is None:
        wanted = torch.float32 if labels.dtype.kind == "f" else torch.int64
    return inputs_of(inputs).to(place), torch.from_numpy(labels).to(place, wanted)


def inputs_of(inputs: np.ndarray) -> torch.Tensor:
    """Samples as PyTorch expects them: pictures with channels first."""
    if inputs.ndim == 4:
        # Always a copy: for grey pictures a view would do, but PyTorch takes it for channels last.
        inputs = np.moveaxis(inputs, -1, 1).copy(order="C")
    # PyTorch accepts no read-only views, such as overlapping windows of a text.
    return torch.from_numpy(inputs if inputs.flags.writeable else inputs.copy())


_MULTIPLIES = (nn.Conv2d, nn.Linear, nn.LSTM)
_LOOKS_UP = (nn.Embedding, nn.EmbeddingBag)


def _is_counted(layer: nn.Module) -> bool:
    """Whether a layer is of a kind that is counted, or has no matrices of its own."""
    matrices = [weights for weights in layer.parameters(recurse=False) if weights.ndim > 1]
    return not matrices or isinstance(layer, (*_MULTIPLIES, *_LOOKS_UP))


@torch.no_grad()
def multiply_adds(model: nn.Module, sample: torch.Tensor) -> int | None:
    """Multiply-adds in the forward pass of one sample: each weight, each time it is used.

    None if a layer with matrices is of a kind that is not counted here, or if a layer does not take
    a batch of one sample.

    Args:
        sample: a batch of one sample as the model expects it.
    """
    if not all(_is_counted(layer) for layer in model.modules()):
        return None
    counts: list[int] = []

    def count(layer: nn.Module, given: tuple, result) -> None:
        if isinstance(layer, nn.Conv2d):
            counts.append(layer.weight.numel() * result[0, 0].numel())
        elif isinstance(layer, nn.Linear):
            counts.append(result.numel() * layer.in_features)
        else:
            steps = given[0].shape[1 if layer.batch_first else 0]
            products = [w for name, w in layer.named_parameters() if name.startswith("weight")]
            counts.append(steps * sum(weights.numel() for weights in products))

    hooks = [
        layer.register_forward_hook(count)
        for layer in model.modules()
        if isinstance(layer, _MULTIPLIES)
    ]
    training = model.training
    model.eval()
    try:
        model(sample)
    except Exception:  # whatever it is, a model that was trained to its end is not lost by it
        return None
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()
    return sum(counts)
