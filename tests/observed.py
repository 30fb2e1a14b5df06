"""Records as tests need them: documents of JSON, which they change, and what is read of them."""

import copy
import json
from dataclasses import is_dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args, get_type_hints

from epochcost.measure import machine
from epochcost.record import record as records
from epochcost.record.types import Record


def typed(document: dict, kind: type = Record) -> Record:
    """A record of a document that may contradict itself, or lack what does not matter."""
    hints = get_type_hints(kind).items()
    return kind(**{name: _part(document.get(name.rstrip("_")), hint) for name, hint in hints})


def _part(value, hint):
    """A value as a field of a record holds it."""
    kinds = [hint, *get_args(hint), *(kind for one in get_args(hint) for kind in get_args(one))]
    part = next(filter(is_dataclass, kinds), None)
    if isinstance(value, list):
        return tuple(typed(one, part) if part else one for one in value)
    return typed(value, part) if part and isinstance(value, dict) else value


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


def put_quick_run(folder: Path, record: dict, wall_s: float | None = None) -> None:
    """Leave a quick run in a clone, as if this machine had made it on generated data."""
    here = machine.facts()
    record["machine"] |= {
        key: getattr(here, key) for key in ("id", "usable_cores", "logical_cores")
    }
    record["data"]["source"] = "synthetic"
    path = folder / "results/runs" / f"{record['run']['id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(coherent(record, wall_s)))
    records.migrate(folder / "results/runs")
