"""Starts a command, watches its training, and says what was seen."""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from epochcost.errors import InputError, say
from epochcost.own import control, files, journals, observed
from epochcost.own.limits import Limits
from epochcost.record.types import Own

__all__ = ["Limits", "watch"]

_INJECT = Path(__file__).parent / "inject"
_LOOK_S, _PROGRESS_S = 0.2, 60.0
# After a stop: an interpreter with a framework may take a quarter of a minute to end.
_GRACE_S, _AGAIN_S = 60.0, 30.0
# Until which the interpreters of a command have said hello, where one must be new enough.
_HELLO_S = 2.0


def watch(command: list[str], limits: Limits, folder: Path | None = None) -> Own:
    """Run a command to its end, or until enough of its training was seen.

    Terminal, streams, working folder and signals are the command's own. What we say goes to
    standard error, after its end; of a whole training (`never`) a line a minute, too, and one on
    SIGUSR1.

    Args:
        folder: in which the command runs; default: the current one.

    Raises:
        InputError: nothing can be said of its training; the line names why, and what to do.
    """
    place = Path(tempfile.mkdtemp(prefix="epochcost-"))
    try:
        return _Watch(command, limits, Path(folder or Path.cwd()), place).run()
    finally:
        shutil.rmtree(place, ignore_errors=True)


class _Watch:
    """A command under way; `place` is what it shares with its probes."""

    def __init__(self, command: list[str], limits: Limits, folder: Path, place: Path) -> None:
        self.command, self.limits, self.folder, self.place = command, limits, folder, place
        self.ask = False
        self.stopped: float | None = None
        self.given_up: str | None = None
        self.signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]

    def run(self) -> Own:
        fixed = self.limits.stop_after if isinstance(self.limits.stop_after, int) else None
        control.make(self.place / "control", fixed)
        self.limits.write(self.place / "limits.json")
        before = files.now(self.place / "marker")
        self.launched = self.said = time.perf_counter()
        with _signals(self) as send:
            self.process = self._launch()
            send.append(self.process)
            while not _has_ended(self.process, _LOOK_S):
                self._look(time.perf_counter())
        ended = time.perf_counter()
        status = self.process.returncode
        status = 128 - status if status < 0 else status
        if self.given_up:
            raise InputError(self.given_up)
        own = observed.own(
            self.place, self.command, self.launched, ended, status, self.limits, self.stopped
        )
        own = observed.with_files(own, files.since(self.folder, before))
        self._say_end(own)
        return own

    def _launch(self) -> subprocess.Popen:
        environment = dict(os.environ)
        paths = [str(_INJECT), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        environment["EPOCHCOST_OWN"] = str(self.place)
        try:
            return subprocess.Popen(self.command, env=environment, cwd=self.folder)
        except FileNotFoundError:
            raise InputError(f"{self.command[0]}: command not found") from None
        except OSError as error:
            raise InputError(f"{self.command[0]}: {error.strerror}") from None

    def _look(self, now: float) -> None:
        """Once in a while: has it stopped, does it take too long, did somebody ask."""
        if self.stopped is None and self._has_stopped():
            self.stopped = now
        if self.stopped is not None:
            self._press(now - self.stopped)
        elif self.given_up is None:
            self._give_up(now)
        whole = self.limits.stop_after == "never"
        if self.ask or (whole and now - self.said >= _PROGRESS_S):
            self.ask, self.said = False, now
            there = control.progress(self.place / "control")
            say(there.worded(self.launched, now, self.limits.price_per_hour))

    def _has_stopped(self) -> bool:
        """Whether a rank has ended its script, or was told to."""
        if self.limits.stop_after == "never":
            return False
        for path in self.place.glob("steps-*.jsonl"):
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - 200))
                if b'"stop": ' in file.read():
                    return True
        return False

    def _give_up(self, now: float) -> None:
        """End what shows no step for too long, or an interpreter that is too old."""
        since = now - self.launched
        if self.limits.loop and since > _HELLO_S and (old := self._too_old()):
            self._end_with(f"--loop needs Python 3.12 or newer; this command runs {old}")
        late = self.limits.stop_after != "never" and since > self.limits.no_step_seconds
        if late and not any(self.place.glob("steps-*")):
            self._end_with(observed.no_step(self.place, self.command, self.limits))

    def _end_with(self, why: str) -> None:
        self.given_up, self.stopped = why, time.perf_counter()
        self.process.terminate()
        for hello in journals.hellos(self.place):
            self._terminate(hello["pid"])

    def _terminate(self, number: int) -> None:
        """End an interpreter that a shell, for one, does not end, if it still is one of ours."""
        try:
            if str(self.place).encode() in Path(f"/proc/{number}/environ").read_bytes():
                os.kill(number, signal.SIGTERM)
        except OSError:  # it has ended
            return

    def _too_old(self) -> str | None:
        found = [hello["python"] for hello in journals.hellos(self.place)]
        new = [one for one in found if tuple(map(int, one.split(".")[:2])) >= (3, 12)]
        return found[0] if found and not new else None

    def _press(self, since: float) -> None:
        """End, ever less gently, what goes on after its stop."""
        if self.signals and since > _GRACE_S + _AGAIN_S * (3 - len(self.signals)):
            self.process.send_signal(self.signals.pop(0))

    def _say_end(self, own: Own) -> None:
        if own.ended in ("finished", "failed"):
            return
        why = {
            "stable": "its step time is stable",
            "limit": f"{self.limits.seconds:g} s are over",
            "steps": "as many as asked for",
        }[own.ended]
        line = f"stopped the training after step {own.resumed_at + own.steps:,}: {why}"
        if own.files:
            named = ", ".join(own.files[:5]) + (" ..." if len(own.files) > 5 else "")
            line += f"; meanwhile appeared or changed: {named}"
        say(line)


def _has_ended(process: subprocess.Popen, seconds: float) -> bool:
    """Whether a process ends within a time; returns as soon as it does."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (OSError, AttributeError):  # another system than Linux
        time.sleep(min(seconds, 0.05))
        return process.poll() is not None
    try:
        select.select([descriptor], [], [], seconds)
    finally:
        os.close(descriptor)
    return process.poll() is not None


@contextmanager
def _signals(watched: _Watch) -> Iterator[list[subprocess.Popen]]:
    """Signals go to the command; yields the list that its process is put into.

    A terminal sends SIGINT to both: it is the command's to obey.
    """
    processes: list[subprocess.Popen] = []

    def forward(number, frame) -> None:
        for process in processes:
            process.send_signal(number)

    def asked(number, frame) -> None:
        watched.ask = True

    wanted = {signal.SIGTERM: forward, signal.SIGHUP: forward, signal.SIGUSR1: asked}
    old = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    # Not SIG_IGN, which the command would inherit.
    old[signal.SIGINT] = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield processes
    finally:
        for number, handler in old.items():
            signal.signal(number, handler or signal.SIG_DFL)


def main() -> None:
    """For a look by hand: `python -m epochcost.own.watch COMMAND...` prints what was seen."""
    own = watch(sys.argv[1:], Limits())
    print(own)


if __name__ == "__main__":
    main()
