"""Start a training in the interpreter of its framework, with the data that are ready for it.

In: what is ready on the hardware (results/ready/<hardware>.json), and the name of a run. Out: once
a minute, how far it is, or what it waits for; a record, as from train.py.
"""

from pathlib import Path

from epochcost import errors
from epochcost.training.launch import launch


def main() -> int:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("ready", type=Path, help="JSON: pythons by framework, data by workload")
    parser.add_argument("run", help="such as mnist_mlp/pytorch/default-1")
    parser.add_argument(
        "--settings", type=errors.json_value, default={},
        help='options of train.py as JSON, such as {"hardware": "local", "scale": "full"}; '
        '"stage" is a disk of the node to copy the data to first',
    )  # fmt: skip
    parser.add_argument(
        "--signs", type=int, default=1, help="descriptor to say on how far it is; default: 1"
    )
    arguments = parser.parse_args()
    return launch(arguments.ready, arguments.run, arguments.settings, arguments.signs)


if __name__ == "__main__":
    errors.run(main)
