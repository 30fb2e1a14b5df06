"""Say which machine this is, as JSON.

In: the system. Out: the terminal.
"""

import json

from epochcost import errors
from epochcost.measure import machine
from epochcost.record.types import document


def main() -> None:
    errors.Parser(description=__doc__.splitlines()[0]).parse_args()
    print(json.dumps(document(machine.facts()), indent=2))


if __name__ == "__main__":
    errors.run(main)
