"""What the watcher costs a training: the same loop in one process each, watched and not, in turn.

The loop is of PyTorch's: a loader, a model, AdamW, on one thread. Of its steps the median time
counts, as others on the machine hit either by chance, and the mean time of the processor, which
they disturb less and which has what comes once a second alone. Needs `make own`.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from epochcost.own.watch import Limits, watch

LOOP = """
import json, sys, time, torch
from torch import nn
passes, steps, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
data = torch.randn(64, 64)
loader = torch.utils.data.DataLoader(range(steps), batch_size=None)
model = nn.Sequential(nn.Linear(64, 200), nn.ReLU(), nn.Linear(200, 10))
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
times, begin = [time.perf_counter()], time.thread_time()
for batch in loader:
    for _ in range(passes):
        model(data).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    times.append(time.perf_counter())
later = sorted(after - before for before, after in zip(times[20:], times[21:]))
cpu = (time.thread_time() - begin) / steps
json.dump([later[len(later) // 2], cpu], open(out, "w"))
"""
# Milliseconds of a step, about: as many passes through the model as take so long.
STEPS_MS = (1, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=5, help="of a loop, about")
    parser.add_argument("--python", type=Path, default=ROOT / ".venvs/own/bin/python")
    arguments = parser.parse_args()
    start = [str(arguments.python), "-c", LOOP]
    one, ten = (timed([*start, str(passes), "500"], False)[0][0] * 1e3 for passes in (1, 10))
    for wanted_ms in STEPS_MS:
        passes = max(1, round(1 + (wanted_ms - one) / (ten - one) * 9))
        steps = int(arguments.seconds * 1000 / wanted_ms)
        command = [*start, str(passes), str(steps)]
        pairs, costs = [], []
        for _ in range(arguments.rounds):
            both = {}
            for watched in random.sample((False, True), 2):
                both[watched], cost = timed(command, watched)
                costs += [cost] if watched else []
            pairs.append(both)
        plain = median(pair[False][0] for pair in pairs)
        print(f"steps of {plain * 1e3:.2f} ms, watched over plain in {len(pairs)} pairs:")
        for place, what in enumerate(("time", "processor time")):
            ratios = sorted(pair[True][place] / pair[False][place] for pair in pairs)
            print(f"  {what}: {median(ratios):.4f} ({ratios[0]:.4f} to {ratios[-1]:.4f})")
        print(f"  by the watcher's own clock: {median(costs) * 1e6:.1f} us a step", flush=True)


def timed(command: list[str], watched: bool) -> tuple[list[float], float]:
    """Seconds of a step, and of the processor; what the watcher says that it costs."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "seconds.json"
        words = [*command, str(out)]
        cost = 0.0
        if watched:
            cost = watch(words, Limits("never"), Path(folder)).hook_s
        else:
            subprocess.run(words, check=True, env=os.environ, cwd=folder)
        return json.loads(out.read_text()), cost


if __name__ == "__main__":
    main()
