"""Train one recipe in plain PyTorch: a loop over tensors. Prints its times as one line of JSON."""

import argparse
import json
import time
from pathlib import Path

import plain_data
import torch
from torch import nn
from torch.nn import functional

BATCH = {
    "mnist_mlp": 128,
    "mnist_cnn": 128,
    "cifar10_cnn": 32,
    "imdb_fasttext": 32,
    "imdb_bilstm": 32,
    "twitter_bilstm": 32,
    "nietzsche_lstm": 128,
}
BINARY = ("imdb_fasttext", "imdb_bilstm", "twitter_bilstm")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=BATCH)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument(
        "--steps", type=int, help="of an epoch, and of a validation pass; default: all"
    )
    parser.add_argument("--epochs", type=int, default=1, help="(1)")
    parser.add_argument("--seed", type=int, help="of the weights and the order; default: random")
    print(json.dumps(train(parser.parse_args())))


def train(arguments: argparse.Namespace) -> dict:
    """Train, and give the times: seconds by epoch."""
    workload, steps, batch = arguments.workload, arguments.steps, BATCH[arguments.workload]
    data = plain_data.read(workload, arguments.data)
    samples = plain_data.short(len(data.y), batch, steps)
    x, y = tensor(data.x), labels(workload, data.y)
    validated = data.y_validation is not None
    if validated:
        held_out = plain_data.short(len(data.y_validation), batch, steps)
        x_validation = tensor(data.x_validation[:held_out])
        y_validation = labels(workload, data.y_validation[:held_out])
    loss_of = binary_loss if workload in BINARY else functional.cross_entropy
    classes_of = binary_classes if workload in BINARY else categorical_classes
    if arguments.seed is not None:
        torch.manual_seed(arguments.seed)
    model = model_of(workload, data.vocabulary)
    model.apply(initialise)
    model.to(DEVICE)
    optimizer = optimizer_of(workload, model)

    times: dict = {"train_s": [], "eval_s": [], "loss": []}
    for _ in range(arguments.epochs):
        begin = now()
        model.train()
        total = torch.zeros((), device=DEVICE)
        correct = torch.zeros((), device=DEVICE)
        order = torch.randperm(len(x), device=DEVICE)[:samples]
        for chosen in order.split(batch):
            inputs, targets = x[chosen], y[chosen]
            optimizer.zero_grad()
            logits = model(inputs)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(targets)
            if validated:
                correct += (classes_of(logits.detach()) == targets).sum()
        train_end = now()
        times["train_s"].append(train_end - begin)
        times["loss"].append(total.item() / samples)
        if validated:
            validate(model, loss_of, classes_of, x_validation, y_validation, batch)
            times["eval_s"].append(now() - train_end)
    return times


@torch.inference_mode()
def validate(model, loss_of, classes_of, x, y, batch: int) -> tuple[float, float]:
    """Loss and accuracy on the validation data."""
    model.eval()
    total = torch.zeros((), device=DEVICE)
    correct = torch.zeros((), device=DEVICE)
    for start in range(0, len(x), batch):
        targets = y[start : start + batch]
        logits = model(x[start : start + batch])
        total += loss_of(logits, targets) * len(targets)
        correct += (classes_of(logits) == targets).sum()
    return (total / len(x)).item(), (correct / len(x)).item()


def now() -> float:
    """The time when the device has done all that it was given."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def tensor(x) -> torch.Tensor:
    """Inputs; pictures with channels first."""
    if x.ndim == 4:
        x = x.transpose(0, 3, 1, 2).copy()
    return torch.from_numpy(x).to(DEVICE)


def labels(workload: str, y) -> torch.Tensor:
    """Labels: floats for two classes, else class numbers."""
    return torch.from_numpy(y).to(DEVICE, torch.float32 if workload in BINARY else torch.int64)


def binary_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.binary_cross_entropy_with_logits(logits.squeeze(1), targets)


def binary_classes(logits: torch.Tensor) -> torch.Tensor:
    return (logits.squeeze(1) > 0).float()


def categorical_classes(logits: torch.Tensor) -> torch.Tensor:
    return logits.argmax(1)


def model_of(workload: str, vocabulary: int) -> nn.Module:
    """The model of a workload; it gives logits."""
    match workload:
        case "mnist_mlp":
            return nn.Sequential(
                nn.Linear(784, 512),
                nn.ReLU(),
                nn.Dropout(0.2),
                nn.Linear(512, 512),
                nn.ReLU(),
                nn.Dropout(0.2),
                nn.Linear(512, 10),
            )
        case "mnist_cnn":
            return nn.Sequential(
                nn.Conv2d(1, 32, 3),
                nn.ReLU(),
                nn.Conv2d(32, 64, 3),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Dropout(0.25),
                nn.Flatten(),
                nn.Linear(64 * 12 * 12, 128),
                nn.ReLU(),
                nn.Dropout(0.5),
                nn.Linear(128, 10),
            )
        case "cifar10_cnn":
            return nn.Sequential(
                ShiftAndMirror(),
                nn.Conv2d(3, 32, 3, padding="same"),
                nn.ReLU(),
                nn.Conv2d(32, 32, 3),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Dropout(0.25),
                nn.Conv2d(32, 64, 3, padding="same"),
                nn.ReLU(),
                nn.Conv2d(64, 64, 3),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Dropout(0.25),
                nn.Flatten(),
                nn.Linear(64 * 6 * 6, 512),
                nn.ReLU(),
                nn.Dropout(0.5),
                nn.Linear(512, 10),
            )
        case "imdb_fasttext":
            return nn.Sequential(nn.EmbeddingBag(vocabulary, 50, mode="mean"), nn.Linear(50, 1))
        case "imdb_bilstm" | "twitter_bilstm":
            return BidirectionalLSTM(vocabulary)
    return CharacterLSTM(vocabulary)


class ShiftAndMirror(nn.Module):
    """In training, moves each picture by up to a tenth of its side and mirrors half of them."""

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return pictures
        count = len(pictures)
        moved = (torch.rand(count, 2, device=DEVICE) * 2 - 1) * 2 * 0.1
        mirrored = torch.randint(0, 2, (count,), device=DEVICE) * 2 - 1
        change = torch.zeros(count, 2, 3, device=DEVICE)
        change[:, 0, 0] = mirrored
        change[:, 1, 1] = 1
        change[:, :, 2] = moved
        grid = functional.affine_grid(change, pictures.shape, align_corners=False)
        return functional.grid_sample(
            pictures, grid, "nearest", padding_mode="border", align_corners=False
        )


class BidirectionalLSTM(nn.Module):
    """Word vectors, a bidirectional LSTM, one logit from its two last states."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 128)
        self.lstm = nn.LSTM(128, 64, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.5)
        self.dense = nn.Linear(128, 1)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        _, (last, _) = self.lstm(self.embedding(words))
        return self.dense(self.dropout(torch.cat([last[0], last[1]], dim=1)))


class CharacterLSTM(nn.Module):
    """One-hot characters, an LSTM, the logits of the next character."""

    def __init__(self, characters: int) -> None:
        super().__init__()
        self.characters = characters
        self.lstm = nn.LSTM(characters, 128, batch_first=True)
        self.dense = nn.Linear(128, characters)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        one_hot = functional.one_hot(text.long(), self.characters).float()
        _, (last, _) = self.lstm(one_hot)
        return self.dense(last[0])


def initialise(layer: nn.Module) -> None:
    """Weights as the recipe starts them; an LSTM has one bias that is trained, as in Keras."""
    if isinstance(layer, nn.Linear | nn.Conv2d):
        nn.init.xavier_uniform_(layer.weight)
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
                    weights[layer.hidden_size : 2 * layer.hidden_size] = 1
            elif name.startswith("bias_hh"):
                weights.requires_grad_(False)


def optimizer_of(workload: str, model: nn.Module) -> torch.optim.Optimizer:
    """The optimiser of a workload."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    match workload:
        case "mnist_mlp":
            return torch.optim.RMSprop(weights, lr=0.001, alpha=0.9, eps=1e-8)
        case "mnist_cnn":
            return torch.optim.Adadelta(weights, lr=1.0, rho=0.95, eps=1e-8)
        case "cifar10_cnn":
            return torch.optim.RMSprop(weights, lr=0.0001, alpha=0.9, eps=1e-8)
        case "nietzsche_lstm":
            return torch.optim.RMSprop(weights, lr=0.01, alpha=0.9, eps=1e-8)
        case "twitter_bilstm":
            return torch.optim.Adam(weights, lr=0.001, betas=(0.9, 0.999), eps=1e-7)
    return torch.optim.Adam(weights, lr=0.001, betas=(0.9, 0.999), eps=1e-8)


if __name__ == "__main__":
    main()
