"""Start a training in the interpreter of its framework, and say how far it is."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from epochcost import files
from epochcost.data import staging
from epochcost.durations import worded
from epochcost.errors import InputError
from epochcost.measure import machine, machine_lock, progress, variables
from epochcost.measure.crowd import Crowd
from epochcost.record.names import parts_of_name
from epochcost.record.types import FULL, OWN_TRAINING

_SCRIPTS = Path(__file__).resolve().parents[2]
_TRAIN, _MEASURE = _SCRIPTS / "train.py", _SCRIPTS / "measure.py"
# So seldom that it disturbs nothing; on a terminal more often, in one line that changes.
EVERY_S, ON_TERMINAL_S = 60.0, 5.0


def launch(ready: Path, run: str, settings: dict[str, Any], output: int) -> int:
    """Train with what is ready on the hardware; returns the exit status, as a shell does.

    Args:
        ready: JSON: pythons by framework, data and weights by workload.
        run: such as mnist_mlp/pytorch/default-1.
        settings: options of scripts/train.py by name; `stage` is a disk to copy the data to first.
        output: the descriptor to say on how far it is.
    """
    if not isinstance(settings, dict):
        raise InputError('--settings is a JSON object, such as {"scale": "full"}')
    workload, framework, variant, trial = parts_of_name(run)
    known = files.read_json(ready)
    if framework == OWN_TRAINING:
        return _watched_script(workload, settings, trial, output)
    if workload not in known["workloads"] or framework not in known["pythons"]:
        raise InputError(f"{ready} has not what {run} needs")
    options = {**settings, "variant": variant, "trial": trial, **known["workloads"][workload]}
    if stage := options.pop("stage", None):
        options["data"] = staging.stage(Path(options["data"]), Path(stage))
    variables.forget_python()
    with tempfile.TemporaryFile() as noted:
        options["progress"] = noted.fileno()
        python = known["pythons"][framework]
        command = [python, _TRAIN, workload, framework, *words(options)]
        status = _watched(command, noted.fileno(), Signs(run, noted.fileno(), output))
    if status == -signal.SIGKILL:
        print(
            f"epochcost: {run} was killed; if nobody did that, this machine ran out of memory",
            file=sys.stderr,
        )
    return status if status >= 0 else 128 - status


def _watched_script(workload: str, settings: dict[str, Any], trial: int, output: int) -> int:
    """Measure an own training; a full one runs to its end."""
    options = {
        "workload": workload,
        "hardware": settings.get("hardware"),
        "stop_after": "never" if settings.get("scale") == FULL else None,
        "trial": trial,
    }
    with open(output, "wb", closefd=False) as signs:
        done = subprocess.run([sys.executable, _MEASURE, *words(options)], stderr=signs)
    return done.returncode


def words(options: Mapping[str, Any]) -> list[str]:
    """Options by name as words of a command line; those without a value are left out."""
    return [
        f"--{name.replace('_', '-')}={value}"
        for name, value in options.items()
        if value not in (None, "", [])
    ]


def _watched(command: list, noted: int, signs: "Signs") -> int:
    """Run a training, with signs of life; returns its status."""
    # A process of its own, whose age is that of the training.
    process = subprocess.Popen(command, pass_fds=[noted])
    signs.crowd = Crowd(machine.facts(), process.pid)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    signal.signal(signal.SIGALRM, lambda *_: signs.give())
    signal.setitimer(signal.ITIMER_REAL, signs.every_s, signs.every_s)
    try:
        status = process.wait()
    except KeyboardInterrupt:  # it got the signal, too
        status = process.wait()
    signal.setitimer(signal.ITIMER_REAL, 0)
    if status == 0:
        signs.end()
    return status


class Signs:
    """Says how far a training is.

    Args:
        run: what it is called.
        noted: the descriptor that it notes its progress on.
        output: the descriptor to say it on.
    """

    def __init__(self, run: str, noted: int, output: int) -> None:
        self._run, self._noted, self._output = run, noted, output
        self._began, self._began_at = time.monotonic(), time.strftime("%H:%M:%S")
        self._changes = os.isatty(output)
        self.every_s = ON_TERMINAL_S if self._changes else EVERY_S
        self.crowd: Crowd | None = None

    def give(self) -> None:
        """Say how far it is now, or what it waits for."""
        noted = progress.read(self._noted)
        if noted.get("waits"):
            return self._say(f"waits since {self._began_at} for {machine_lock.holder()}")
        if "epoch" not in noted:
            return self._say(f"prepares, for {self._so_far()}")
        left = progress.seconds_left(noted)
        ahead = f", about {worded(left)} left" if left else ""
        crowded = self.crowd and self.crowd.look()
        beside = f"; {crowded}" if crowded else ""
        where = f"epoch {noted['epoch']} of {noted['epochs']}"
        return self._say(f"{where}, {self._so_far()}{ahead}{beside}")

    def end(self) -> None:
        """Say how it ended."""
        noted = progress.read(self._noted)
        said = f"done, {self._so_far()}"
        if why := noted.get("failed"):
            said = f"failed {why} (recorded)"
        elif why := noted.get("lost"):
            said += f"; its time says nothing: {why}"
        self._say(said, last=True)

    def _so_far(self) -> str:
        return worded(time.monotonic() - self._began)

    def _say(self, what: str, last: bool = False) -> None:
        line = f"epochcost: {self._run}: {what}"
        if self._changes:
            line = f"\r\x1b[K{line}"  # in the place of the line before
        end = "\n" if last or not self._changes else ""
        with suppress(OSError):  # nobody listens any more
            os.write(self._output, f"{line}{end}".encode())
