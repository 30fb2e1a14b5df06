"""How good predictions of own trainings are: stopped ones beside ones that ran to their end.

The scripts of tests/own/scripts, in nine styles; each stopped and whole in turn. Needs `make own`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from own.styles import STYLES, quiet_environment

from epochcost.own.watch import Limits, watch
from epochcost.record.types import Own
from epochcost.statistics import own as whole
from epochcost.statistics import spread

# How much longer than in the tests, so that a loop takes about a minute.
TIMES = {
    **{"plain PyTorch": 150, "GAN": 40, "Hugging Face": 24, "Lightning": 50},
    **{"Keras on JAX": 120, "Keras on torch": 30, "fastai": 60, "JAX and tqdm": 60},
    **{"nanoGPT": 25, "torchrun": 40},
}


def main() -> None:
    import os

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("styles", nargs="*", help="default: all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", type=float, default=1.0, help="of a minute of each loop")
    arguments = parser.parse_args()
    os.environ.update(quiet_environment())
    deviation = spread.shipped()[spread.PREDICTED].hour
    held = tried = 0
    for name in arguments.styles or STYLES:
        times = max(1, round(TIMES[name] * arguments.part))
        command = STYLES[name].command(ROOT / ".venvs/own/bin", str(times))
        for _ in range(arguments.rounds):
            found = whole.total(run(command, Limits("stable", 60)), deviation)
            true = run(command, Limits("never"))
            true_s = true.start_s + sum(stretch.seconds for stretch in true.stretches)
            if found.loop_s is None or not found.predicted:
                why = "it ended before it was stable" if found.loop_s else "no total"
                print(f"{name}: no prediction: {why}", flush=True)
                continue
            predicted_s = found.start_s + found.loop_s
            inside = found.low_s <= true_s <= found.high_s
            held, tried = held + inside, tried + 1
            loop = found.loop_s / (true_s - true.start_s)
            print(
                f"{name}: {predicted_s:.1f} s predicted, {true_s:.1f} s true: "
                f"{predicted_s / true_s:.3f}, the loop alone {loop:.3f}, steps {found.steps} of "
                f"{true.steps}; interval {'holds' if inside else 'misses'} it",
                flush=True,
            )
    print(f"the interval held the truth in {held} of {tried}")


def run(command: list[str], limits: Limits) -> Own:
    """A run in a folder of its own, without what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        silent = ["sh", "-c", 'exec "$@" > out.txt 2>&1', "sh", *command]
        return watch(silent, limits, Path(folder))


if __name__ == "__main__":
    main()
