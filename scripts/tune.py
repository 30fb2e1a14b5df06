"""Find the fastest settings of a framework for one workload on this machine.

A search of quick runs, then of whole epochs in turn with the defaults (training/search.py). In: a
folder of prepared arrays. Out: an entry in config/tuned.yaml, and a record of every run below
results/tuning/.
"""

import argparse
import signal
import sys
from pathlib import Path

from epochcost import errors
from epochcost.frameworks import FRAMEWORKS
from epochcost.measure import variables
from epochcost.training.search import Search, tune


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0], argument_default=argparse.SUPPRESS)
    parser.add_argument("workload", help="an id of config/workloads.yaml")
    parser.add_argument("framework", choices=sorted(FRAMEWORKS))
    parser.add_argument("--data", type=Path, required=True, help="folder of prepared arrays")
    parser.add_argument("--python", help="one that has the framework; default: this one")
    parser.add_argument("--weights", type=Path, help="as for scripts/train.py")
    parser.add_argument("--records", type=Path, help="default: results/tuning")
    parser.add_argument("--output", type=Path, help="default: config/tuned.yaml")
    arguments = parser.parse_args()
    variables.forget_python()
    # As an exception it ends the training that is under way, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    tune(Search(**vars(arguments)))


if __name__ == "__main__":
    errors.run(main)
