"""Watch a training script, which is not changed, and record what it takes on this machine.

measure.py -- python train.py --epochs 30
measure.py --workload NAME      (an entry with a `command` in config/workloads.yaml)

In: a command, which runs where you are. Out: a record in results/runs, and what the training takes
and costs here. Once the time of a step is stable, after a few minutes at most, the script is ended
between two steps, and the whole is predicted. With --stop-after never it runs to its end.
"""

import argparse
import sys
from pathlib import Path

from epochcost import ROOT, errors, files, settings
from epochcost.hardware import LOCAL
from epochcost.measure import crowd, machine
from epochcost.own import asked, run
from epochcost.show import measured


def main() -> int:
    parser = errors.Parser(
        description=__doc__.splitlines()[0],
        epilog="For example: measure.py -- python train.py --epochs 30",
    )
    option, number = parser.add_argument, errors.whole_number
    option("command", nargs=argparse.REMAINDER, help="after --: the words of the command")
    option("--workload", help="what it is called; default: as its script")
    option("--hardware", default=LOCAL, help="what this machine is, by config/hardware.yaml")
    option("--stop-after", default="stable", help="stable (default), never, or a number of steps")
    option("--for", dest="most", help="at most so long after the first step; default: 5min")
    option("--total-steps", type=number(1), help="of the whole training, where nothing says so")
    option("--loop", help="FILE:LINE, the first line in the training loop (Python 3.12)")
    option("--environment", type=Path, help="a requirements file, with which the command runs")
    option("--price", type=errors.positive, help="USD an hour; default: that of config.yaml")
    option("--trial", type=number(1), help="its number; default: the next")
    option("--record", type=Path, help="the record, a .json file; default: one in results/runs")
    option("--write-entry", action="store_true", help="add it to config/workloads.yaml")
    option("--host", help="measure there, by ssh: a name of ~/.ssh/config, or user@address")
    option("--folder", default="epochcost", help="the folder for epochcost on the host")
    option("--ssh", default="ssh", help="the ssh command with options of its own")
    option("--python", default="python3", help="the host's Python, for epochcost itself")
    option("--there", action="store_true", help="this folder is on the host, and is not sent")
    given = parser.parse_args()
    if given.host:
        return asked.on_host(**vars(given))
    configured = settings.read(files.read_yaml(ROOT / "config/config.yaml")).price.per_hour_usd
    price = given.price or (configured if given.hardware == LOCAL else None)
    wanted = asked.read(**vars(given) | {"price": price})
    if given.write_entry:
        errors.say(f"{asked.write_entry(wanted)} is in config/workloads.yaml now")
    if said := crowd.warning(machine.facts()):
        errors.say(said)
    record, path = run.run(wanted)
    for line in measured.lines(record, path, price):
        print(line, file=sys.stderr)
    return record.own.status if record.own.ended in ("finished", "failed") else 0


if __name__ == "__main__":
    errors.run(main)
