"""Start a training in the interpreter of its framework, with the data that are ready for it.

In: what is ready on the hardware (results/ready/<hardware>.json), and the name of a run. All other
arguments are for train.py.
"""

import signal
import subprocess
import sys
from pathlib import Path

from epochcost import errors, files
from epochcost.datasets import staging
from epochcost.measurement import variables
from epochcost.records.names import parts_of_name


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("ready", type=Path, help="JSON: pythons by framework, data by workload")
    parser.add_argument("run", help="such as mnist_mlp/pytorch/default-1")
    parser.add_argument("--stage", type=Path, help="copy the data to this disk of the node first")
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
    # A process of its own, whose age is that of the training.
    process = subprocess.Popen([python, script, workload, framework, *words])
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        status = process.wait()
    except KeyboardInterrupt:  # it got the signal, too
        status = process.wait()
    if status == -signal.SIGKILL:
        print(
            f"epochcost: {arguments.run} was killed; if nobody did that, this machine ran out of "
            "memory",
            file=sys.stderr,
        )
    # Killed by a signal: reported as a shell does.
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    errors.run(main)
