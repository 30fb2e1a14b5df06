"""Start a training in the interpreter of its framework, with the data that are ready for it.

In: what is ready on a hardware (results/ready/<hardware>.json). All other words are for train.py.
"""

import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ready", type=Path, help="JSON: pythons by framework, data by workload")
    parser.add_argument("workload")
    parser.add_argument("framework")
    arguments, words = parser.parse_known_args()
    ready = json.loads(arguments.ready.read_text())
    places = ready["workloads"][arguments.workload]
    words += ["--data", places["data"]]
    if places["weights"]:
        words += ["--weights", places["weights"]]
    python = ready["pythons"][arguments.framework]
    script = Path(__file__).with_name("train.py")
    # A process of its own, whose age is that of the training.
    process = subprocess.Popen([python, script, arguments.workload, arguments.framework, *words])
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        return process.wait()
    except KeyboardInterrupt:  # it has been told, too
        return process.wait()


if __name__ == "__main__":
    status = main()
    # Killed by a signal: said as a shell says it.
    sys.exit(status if status >= 0 else 128 - status)
