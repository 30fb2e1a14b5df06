"""Records as tests need them."""

import copy
from datetime import datetime, timedelta


def full_run(record: dict, seconds: float, trial: int = 1) -> dict:
    """A full run of mnist_mlp that took so long."""
    result = copy.deepcopy(record)
    result["run"] |= {"scale": "full", "trial": trial, "id": f"full-{trial}"}
    epoch = result["epochs"][0] | {"train_s": seconds - 1, "eval_s": 1.0}
    result["epochs"] = [epoch]
    result["quality"] |= {"value": 0.981, "reached": True}
    return result


def coherent(record: dict, wall_s: float | None = None) -> dict:
    """A record whose parts agree with its epochs, so that it can be believed.

    Args:
        wall_s: what the run took; by default somewhat more than its epochs.
    """
    result = copy.deepcopy(record)
    epochs = [one | {"epoch": number} for number, one in enumerate(result["epochs"], 1)]
    training = sum(one["train_s"] for one in epochs)
    validating = sum(one["eval_s"] or 0.0 for one in epochs)
    wall = training + validating + 2 if wall_s is None else wall_s
    if result["run"]["scale"] == "full":
        whole = {"samples": "train_samples", "eval_samples": "validation_samples"}
        epochs = [one | {key: result["data"][of] for key, of in whole.items()} for one in epochs]
        result |= {"settings": result["settings"] | {"epochs": len(epochs)}, "blocks": []}
    begun = datetime.fromisoformat(result["run"]["started_at"])
    ended = (begun + timedelta(seconds=wall)).isoformat(timespec="seconds")
    phases = dict.fromkeys(result["phases"]) | {"train": training, "evaluate": validating}
    return result | {
        "run": result["run"] | {"finished_at": ended},
        "wall_s": wall,
        "phases": phases | {"other": wall - training - validating},
        "epochs": epochs,
    }
