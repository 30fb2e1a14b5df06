"""What the smallest numbers cost PyTorch on a processor, and how many there are as it learns.

A plain loop trains the same epochs in turn with and without `torch.set_flush_denormal(True)`, in a
fresh process each. After each epoch, outside its time, the numbers below 1.2e-38 (denormal ones,
which a processor handles apart) are counted among the weights, their last gradients and the
optimiser's state.
"""

import argparse
import json
import random
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from compare import ENVIRONMENTS, KEEP_MEMORY, ROOT, append, processor, run

from epochcost.measure import machine
from epochcost.measure.machine_lock import hold
from epochcost.record.types import document

RESULT = ROOT / "study/benchmarks/results/small_numbers.csv"
WORKLOADS = ("mnist_mlp", "mnist_cnn", "cifar10_cnn", "imdb_fasttext", "imdb_bilstm")
WAYS = {"kept": [], "flushed": ["--flush"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--epochs", type=int, default=20, help="of each training (20)")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of trainings (3)")
    parser.add_argument("--seed", type=int, help="train once with it, and print JSON")
    parser.add_argument("--flush", action="store_true", help="with --seed: set_flush_denormal")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        print(json.dumps(train(arguments)))
        return
    with hold():
        for number in range(1, arguments.rounds + 1):
            for way in random.sample(list(WAYS), len(WAYS)):
                add_rows(arguments, number, way)


def add_rows(arguments: argparse.Namespace, number: int, way: str) -> None:
    """Train once in a fresh process; a row per epoch."""
    here = document(machine.facts())
    python = ROOT / ".venvs" / ENVIRONMENTS["pytorch"] / "bin/python"
    command = ["env", *(f"{name}={value}" for name, value in KEEP_MEMORY.items()), str(python)]
    command += [__file__, arguments.workload, "--data", str(arguments.data)]
    command += ["--epochs", str(arguments.epochs), "--seed", str(number), *WAYS[way]]
    made = json.loads(run(command).splitlines()[-1])
    for epoch, facts in enumerate(made["epochs"], start=1):
        row = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": processor(here),
            "cores": here["usable_cores"],
            "workload": arguments.workload,
            "framework_version": made["version"],
            "round": number,
            "small_numbers": way,
            "epoch": epoch,
        }
        append(RESULT, row | facts)
    seconds = [facts["train_s"] for facts in made["epochs"]]
    print(
        f"round {number}, {way:7}: first {seconds[0]:.2f} s, last {seconds[-1]:.2f} s, "
        f"median {median(seconds):.2f} s; {made['epochs'][-1]}",
        flush=True,
    )


def train(arguments: argparse.Namespace) -> dict:
    """Train, and give for each epoch its seconds, its loss, and how many numbers are small."""
    import plain_data
    import plain_pytorch
    import torch
    from torch.nn import functional

    torch.set_flush_denormal(arguments.flush)  # before PyTorch starts its threads
    torch.manual_seed(arguments.seed)
    workload, batch = arguments.workload, plain_pytorch.BATCH[arguments.workload]
    data = plain_data.read(workload, arguments.data)
    x, y = plain_pytorch.tensor(data.x), plain_pytorch.labels(workload, data.y)
    binary = workload in plain_pytorch.BINARY
    loss_of = plain_pytorch.binary_loss if binary else functional.cross_entropy
    model = plain_pytorch.model_of(workload, data.vocabulary)
    model.apply(plain_pytorch.initialise)
    optimizer = plain_pytorch.optimizer_of(workload, model)
    epochs = []
    for _ in range(arguments.epochs):
        begin = time.perf_counter()
        total = torch.zeros(())
        for chosen in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            loss = loss_of(model(x[chosen]), y[chosen])
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(chosen)
        seconds = time.perf_counter() - begin
        weights = [weight for weight in model.parameters() if weight.requires_grad]
        states = [part for weight in weights for part in optimizer.state[weight].values()]
        epochs.append(
            {
                "train_s": round(seconds, 3),
                "loss": round(total.item() / len(x), 5),
                "weights": sum(weight.numel() for weight in weights),
                "small_weights": small(weights),
                "small_gradients": small(weight.grad for weight in weights),
                "small_state": small(part for part in states if part.ndim),
            }
        )
    return {"version": f"torch {torch.__version__}", "epochs": epochs}


def small(tensors: Iterable) -> int:
    """How many numbers are denormal: not 0, and smaller than the smallest normal one."""
    import torch

    tiny = torch.finfo(torch.float32).tiny
    return sum(int(((part != 0) & (part.abs() < tiny)).sum()) for part in tensors)


if __name__ == "__main__":
    main()
