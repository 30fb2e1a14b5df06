"""Start a training in the interpreter of its framework, with the data that are ready for it.

In: what is ready on a hardware (results/ready/<hardware>.json). All other words are for train.py.
"""

import json
import signal
import subprocess
from pathlib import Path

from epochcost import errors
from epochcost.datasets import staging


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("ready", type=Path, help="JSON: pythons by framework, data by workload")
    parser.add_argument("workload")
    parser.add_argument("framework")
    parser.add_argument("--stage", type=Path, help="copy the data to this disk of the node first")
    arguments, words = parser.parse_known_args()
    ready = json.loads(arguments.ready.read_text())
    places = ready["workloads"][arguments.workload]
    data = Path(places["data"])
    words += ["--data", str(staging.stage(data, arguments.stage) if arguments.stage else data)]
    if places["weights"]:
        words += ["--weights", places["weights"]]
    python = ready["pythons"][arguments.framework]
    script = Path(__file__).with_name("train.py")
    # A process of its own, whose age is that of the training.
    process = subprocess.Popen([python, script, arguments.workload, arguments.framework, *words])
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        status = process.wait()
    except KeyboardInterrupt:  # it has been told, too
        status = process.wait()
    # Killed by a signal: said as a shell says it.
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    errors.run(main)
