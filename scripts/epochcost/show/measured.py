"""What `epochcost measure` says at the end: what the training takes and costs on this machine."""

import os
import shlex
from pathlib import Path

from epochcost import ROOT
from epochcost.durations import HOUR_S
from epochcost.hardware import LOCAL
from epochcost.record import usable
from epochcost.record.types import Own, Record
from epochcost.show.wording import amounts
from epochcost.statistics import own as statistics
from epochcost.statistics.own import Total

_UNIT_SAMPLES = 1_000_000


def lines(record: Record, path: Path, price: float | None) -> list[str]:
    """The lines: the time, the cost, the way on.

    Args:
        path: of the record.
        price: USD an hour of this machine; None where that is not known.
    """
    own, name, onward = record.own, record.run.workload, []
    if own.ended == "failed":
        said = [_failed(name, own)]
    elif why := usable.why_unusable(record):
        said = [
            f"{name}: no result, as {why}; give the command again when the machine is free",
            f"a step took {amounts.seconds(statistics.whole(own).step_s)} meanwhile",
        ]
    else:
        total = statistics.whole(own)
        said = [_time(name, own, total)]
        if total.loop_s is not None:
            said += _cost(own, total, price)
            onward = _onward(record, path, total, price)
    said += [f"flag: {flag}" for flag in record.noise.flags]
    said += [f"watching was incomplete: {problem}" for problem in own.problems]
    said.append(f"record: {os.path.relpath(path)}")
    return [f"epochcost: {line}" for line in [*said, *onward]]


def _onward(record: Record, path: Path, total: Total, price: float | None) -> list[str]:
    """The call that tells of other machines, where it reads the record."""
    if ROOT / "results/runs" not in path.resolve().parents:
        return []
    words, there = [f"workload={record.run.workload}"], ""
    # Of another hardware the record may go to another clone, and the price is another setting.
    if record.run.hardware == LOCAL:
        words += [f"price={price:g}"] if price is not None else []
        there = "" if Path.cwd() == ROOT else f"cd {shlex.quote(str(ROOT))} && "
    words += ["steps=N"] * (total.steps is None)
    return [f"other machines: {there}snakemake advise --config {' '.join(words)}"]


def _failed(name: str, own: Own) -> str:
    when = f"after {own.steps} steps" if own.steps else "before the end of its first step"
    peaks = ((own.host_mib, "its process"), (own.device_mib, "its GPUs"))
    used = [f"{mib / 1024:.1f} GiB by {whose}" for mib, whose in peaks if mib]
    most = f"; most memory: {', '.join(used)}" if used and own.error else ""
    return f"{name} failed {when}: {own.error or f'status {own.status}'} (recorded){most}"


def _time(name: str, own: Own, total: Total) -> str:
    step = f"{amounts.seconds(total.step_s)} a step"
    waited = sum(one.waited_s for one in own.stretches)
    spent = sum(one.seconds for one in own.stretches)
    if waited > 0.01 * spent:
        step += f", {waited / spent:.0%} of it waiting for data"
    if total.loop_s is None:
        return f"{name}: one step alone says nothing of the whole; let it do more (--stop-after)"
    if total.steps is None:
        return f"{name}: {step}; how many there are is not known"
    whole = total.start_s + total.loop_s + (total.end_s or 0.0)
    if not total.predicted:
        return f"{name} took {amounts.seconds(whole)} here (measured, {own.steps} steps; {step})"
    within = f"{amounts.seconds(total.low_s)} to {amounts.seconds(total.high_s)}"
    least = "at least" if total.lower_limit else "about"
    seen = f"predicted from {own.steps:,} of {total.steps:,} steps"
    return f"{name} takes {least} {amounts.seconds(whole)} here ({within}; {seen}, {step})"


def _cost(own: Own, total: Total, price: float | None) -> list[str]:
    if price is None:
        return ["for the cost, say --price USD_AN_HOUR"]
    if total.steps is not None:
        whole = total.start_s + total.loop_s + (total.end_s or 0.0)
        usd = amounts.dollars(whole * price / HOUR_S)
        return [f"that costs {usd} at {amounts.price(price)} an hour"]
    usd = statistics.UNIT_STEPS * total.step_s * price / HOUR_S
    steps = f"{amounts.dollars(usd)} for {statistics.UNIT_STEPS:,} steps"
    for count, unit in ((own.samples, "samples"), (own.tokens, "tokens")):
        if count:
            usd = _UNIT_SAMPLES / count * total.step_s * price / HOUR_S
            steps += f", {amounts.dollars(usd)} for a million {unit}"
    return [f"{steps}, at {amounts.price(price)} an hour"]
