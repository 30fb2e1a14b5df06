"""Train one workload in one framework and leave a record of it.

Runs in the framework's own environment. In: a folder of prepared arrays, config/workloads.yaml.
Out: one JSON record (config/schemas/record.schema.json). A training run that fails leaves a record
too, with the phase and the reason; bad input leaves none.
"""

import argparse
import json
import signal
from pathlib import Path

from epochcost import errors
from epochcost.frameworks import FRAMEWORKS
from epochcost.frameworks.framework import load
from epochcost.measure import termination, variables
from epochcost.training.run import run
from epochcost.training.training import read, recipe_of


def main() -> None:
    # What is not given is left to `read`.
    parser = errors.Parser(description=__doc__.splitlines()[0], argument_default=argparse.SUPPRESS)
    option, number = parser.add_argument, errors.whole_number
    option("workload", help="an id of config/workloads.yaml")
    option("framework", choices=sorted(FRAMEWORKS))
    option("--data", type=Path, required=True, help="folder of prepared arrays")
    option("--weights", type=Path, help="description of fetched weights; default: random ones")
    option("--record", type=Path, help="the record, a .json file; default: one in results/runs")
    option("--hardware", help="an id of config/hardware.yaml; default: local")
    option("--variant", help="default, tuned, no_onednn, bfloat16, or devices_2 (3, 4, ...)")
    option("--settings", type=errors.json_value, help="of the variant tuned, as JSON")
    option("--choices", action="store_true", help="print the settings that there are, and end")
    option("--trial", type=number(1), help="number of this repeated run; default: 1")
    option("--scale", choices=["quick", "full"], help="default: quick")
    option("--batch-size", type=number(1), help="default: the recipe's")
    option("--epochs", type=number(1), help="default: the recipe's")
    option("--time-limit", type=errors.positive, help="seconds after which a run has failed")
    option("--progress", type=int, help="descriptor of a file to note on how far it is")
    # The largest seed of which all frameworks know: those of numpy and PyTorch go further.
    option("--seed", type=number(0, 2**31 - 1), help="the trial is added to it; default: 1")
    arguments = parser.parse_args()
    variables.lift_limits()
    if "choices" in arguments:
        recipe = recipe_of(arguments.workload, arguments.framework)
        print(json.dumps(load(arguments.framework).choices(recipe)))
        return
    signal.signal(signal.SIGTERM, termination.end_now)
    run(read(**vars(arguments)))


if __name__ == "__main__":
    errors.run(main)
