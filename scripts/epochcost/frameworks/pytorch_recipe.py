"""A recipe in PyTorch and fastai: loss, optimiser, initial weights, arrays, operations."""

import numpy as np
import torch
from torch import nn

from epochcost.errors import InputError


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


LOSSES = {
    "categorical_crossentropy": CategoricalCrossentropy(),
    "binary_crossentropy": BinaryCrossentropy(),
}


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
    return inputs_of(inputs).to(place), torch.from_numpy(labels).to(place, loss.label_type)


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
