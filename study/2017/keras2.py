"""Keras 2.0.9 on TensorFlow 1.4, as in the study of November 2017, or on the last CNTK (2.7).

It needs Python 3.6, so it trains in a process of its own (train.py beside this file, in the
environment of the Makefile) whose times are put into the clock here. On the processor only.
"""

import json
import os
import re
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from epochcost import files
from epochcost.errors import InputError
from epochcost.frameworks.framework import Framework, Task
from epochcost.measure.clock import Clock, Epoch
from epochcost.measure.termination import end_with_parent

HERE = Path(__file__).resolve().parent
MAKE = "make -C study/2017"
PYTHON = HERE.parents[1] / ".venvs/keras2/bin/python"


class Keras2(Framework):
    """Keras 2 on one of its backends; there is nothing to tune."""

    backend = ""
    FAILURES = (RuntimeError, MemoryError)

    def device(self) -> str:
        return "cpu"

    def threads(self) -> None:
        """Neither backend reports how many."""

    def choices(self, recipe: dict) -> dict[str, list]:
        return {}

    def train(self, task: Task, clock: Clock) -> None:
        """The trained model is gone when its process ends."""
        _train(self.backend, task, clock)


def _train(backend: str, task: Task, clock: Clock) -> None:
    """Train in a process of its own.

    Args:
        backend: tensorflow or cntk.

    Raises:
        InputError: the environment does not exist, or cannot import Keras 2.
        RuntimeError: the training failed.
    """
    if not PYTHON.exists():
        raise InputError(f"Keras 2 needs an environment of its own; run: {MAKE}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with clock.phase("data"):
            _write_job(folder, task, clock)
        clock.phase_now = "train"
        done = subprocess.run(
            [PYTHON, "-E", HERE / "train.py", folder, "--backend", backend],
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=_environment(folder),
            preexec_fn=end_with_parent,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            if "ImportError" in last or "ModuleNotFoundError" in last:
                raise InputError(f"Keras 2 cannot be imported ({last}); run: {MAKE}")
            raise RuntimeError(f"Keras 2 ended with status {done.returncode}: {last}")
        _read_times(files.read_json(folder / "times.json"), clock)


def _environment(home: Path) -> dict[str, str]:
    """Environment of the process: its own home, as Keras 2 would read and write Keras 3's files."""
    # Where the Makefile puts links to the MPI that CNTK needs.
    libraries = f"{PYTHON.parents[1] / 'lib/mpi'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    return os.environ | {"LD_LIBRARY_PATH": libraries.strip(":"), "HOME": str(home)}


def _write_job(folder: Path, task: Task, clock: Clock) -> None:
    split, extent = task.split, clock.extent
    parts = {"x_train": split.x_train, "y_train": split.y_train}
    counts = dict.fromkeys(parts, extent.samples)
    if extent.evaluation_steps:
        held_out = {"x_validation": split.x_validation, "y_validation": split.y_validation}
        counts |= dict.fromkeys(held_out, extent.evaluation_samples)
        parts |= held_out
    for name, values in parts.items():
        np.save(folder / f"{name}.npy", values[: counts[name]])
    job = {
        "workload": task.model.name,
        "recipe": task.recipe,
        "schedule": asdict(extent),
        "input_steps": extent.input_steps,
        "seed": task.seed,
        "shape": split.shape,
        "vocabulary": split.vocabulary,
    }
    files.write_text(folder / "job.json", json.dumps(job))


def _read_times(times: dict, clock: Clock) -> None:
    """Put the times of the process into the clock."""
    clock.phase_now = times["phase"]
    for name, seconds in times["phases"].items():
        clock.phases[name] = clock.phases.get(name, 0.0) + seconds
    for number, epoch in enumerate(times["epochs"], start=1):
        marks = {int(step): seconds for step, seconds in epoch.pop("marks").items()}
        clock.epochs.append(Epoch(number, marks=marks, **epoch))
    clock.input = times["input"]
    if clock.input:
        clock.add("measuring", clock.input["seconds"])
    if times["failure"]:
        raise RuntimeError(times["failure"])


def software(package: str) -> dict:
    """The software that trains: Python, Keras, numpy and the backend, as installed there."""
    found, folder = {}, PYTHON.parents[1]
    for path in folder.glob("lib/python3.6/site-packages/*.dist-info"):
        name, _, number = path.name.removesuffix(".dist-info").partition("-")
        found[name.lower()] = number
    settings = folder / "pyvenv.cfg"
    python = re.search(r"version = (\S+)", settings.read_text()) if settings.exists() else None
    return {
        "python": python[1] if python else "not installed",
        "packages": {name: found[name] for name in ("keras", package, "numpy") if name in found},
    }


def version(software: dict) -> str:
    """Keras and its backend, in a few words."""
    packages = software["packages"].items()
    return ", ".join(f"{name} {number}" for name, number in packages if name != "numpy")
