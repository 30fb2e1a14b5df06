"""Say which machine this is, as JSON.

In: the system. Out: a file, or the terminal. The file changes only when the machine does, so
that whatever depends on it is redone on a new machine and only there.
"""

import json
from pathlib import Path

from epochcost import errors, files
from epochcost.measure import machine
from epochcost.record.types import document

# What changes on the same machine with every system update.
_PASSING = ("kernel", "driver", "cuda_driver")


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="file to write; default: the terminal")
    arguments = parser.parse_args()
    facts = document(machine.facts())
    if arguments.output is None:
        print(json.dumps(facts, indent=2))
        return
    lasting = {key: value for key, value in facts.items() if key not in _PASSING}
    # Anybody may change a GPU's power limit.
    lasting["gpus"] = [
        {key: value for key, value in gpu.items() if key != "power_limit_w"}
        for gpu in facts["gpus"]
    ]
    files.write_json(arguments.output, lasting)


if __name__ == "__main__":
    errors.run(main)
