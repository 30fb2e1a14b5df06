"""Start a training in the interpreter of its framework, with the data that are ready for it.

In: what is ready on the hardware (results/ready/<hardware>.json), and the name of a run. Out: once
a minute, how far it is, or what it waits for. All other arguments are for train.py.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from epochcost import errors, files
from epochcost.data import staging
from epochcost.measure import progress, variables
from epochcost.measure.exclusive import holder
from epochcost.record.names import parts_of_name
from epochcost.show.wording import amounts

# So seldom that it disturbs nothing.
EVERY_S = 60.0


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("ready", type=Path, help="JSON: pythons by framework, data by workload")
    parser.add_argument("run", help="such as mnist_mlp/pytorch/default-1")
    parser.add_argument("--stage", type=Path, help="copy the data to this disk of the node first")
    parser.add_argument(
        "--signs", type=int, default=1, help="descriptor to say on how far it is; default: 1"
    )
    arguments, words = parser.parse_known_args()
    workload, framework, variant, trial = parts_of_name(arguments.run)
    words += ["--variant", variant, "--trial", str(trial)]
    ready = files.read_json(arguments.ready)
    if workload not in ready["workloads"] or framework not in ready["pythons"]:
        raise errors.InputError(f"{arguments.ready} has not what {arguments.run} needs")
    places = ready["workloads"][workload]
    data = Path(places["data"])
    words += ["--data", str(staging.stage(data, arguments.stage) if arguments.stage else data)]
    if places["weights"]:
        words += ["--weights", places["weights"]]
    python = ready["pythons"][framework]
    script = Path(__file__).with_name("train.py")
    variables.forget_python()
    with tempfile.TemporaryFile() as noted:
        signs = Signs(arguments.run, noted.fileno(), arguments.signs)
        words += ["--progress", str(noted.fileno())]
        # A process of its own, whose age is that of the training.
        process = subprocess.Popen(
            [python, script, workload, framework, *words], pass_fds=[noted.fileno()]
        )
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        signal.signal(signal.SIGALRM, lambda *_: signs.give())
        signal.setitimer(signal.ITIMER_REAL, EVERY_S, EVERY_S)
        try:
            status = process.wait()
        except KeyboardInterrupt:  # it got the signal, too
            status = process.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
        if status == 0:
            signs.end()
    if status == -signal.SIGKILL:
        print(
            f"epochcost: {arguments.run} was killed; if nobody did that, this machine ran out of "
            "memory",
            file=sys.stderr,
        )
    # Killed by a signal: reported as a shell does.
    return status if status >= 0 else 128 - status


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

    def give(self) -> None:
        """Say how far it is now, or what it waits for."""
        noted = progress.read(self._noted)
        if noted.get("waits"):
            return self._say(f"waits since {self._began_at} for {holder()}")
        if "epoch" not in noted:
            return self._say(f"prepares, for {self._so_far()}")
        left = progress.seconds_left(noted)
        ahead = f", about {amounts.seconds(left)} left" if left else ""
        return self._say(f"epoch {noted['epoch']} of {noted['epochs']}, {self._so_far()}{ahead}")

    def end(self) -> None:
        """Say how it ended."""
        why = progress.read(self._noted).get("failed")
        self._say(f"failed {why} (recorded)" if why else f"done, {self._so_far()}")

    def _so_far(self) -> str:
        return amounts.seconds(time.monotonic() - self._began)

    def _say(self, what: str) -> None:
        with suppress(OSError):  # nobody listens any more
            os.write(self._output, f"epochcost: {self._run}: {what}\n".encode())


if __name__ == "__main__":
    errors.run(main)
