"""The answer in one sentence per workload and framework."""

import pandas as pd

from epochcost.costs import prices
from epochcost.costs.repeats import best_known
from epochcost.costs.rows import OWN
from epochcost.hardware import LOCAL
from epochcost.records.load import OVERLOADED
from epochcost.words import amounts, names, remarks

# What makes a run a repetition of another one, for the plan.
_SAME_RUN = ["workload", "framework", "variant", "hardware_id", "machine", "vcpus", "scale"]


def own_rows(relative: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """The rows measured here, relative to the baseline common to all studies, if there is one."""
    main = baselines[baselines.scope.eq("all")].set_index("workload").baseline
    over_main = relative.baseline.fillna("").eq(relative.workload.map(main).fillna(""))
    return best_known(relative[relative.source_id.eq(OWN) & over_main])


def sentences(own: pd.DataFrame, baselines: pd.DataFrame, machine_id: str) -> list[str]:
    """What the own rows say, this machine first, and of a workload the quickest first.

    Those that missed their quality target or are of a different recipe come after the others.

    Args:
        own: rows of relative.csv (`own_rows`).
        machine_id: the machine called `this machine`.
    """
    own = own.assign(apart=names.tell_apart(own))
    years = baselines[baselines.scope.eq("all")].set_index("workload").price_book.str[:4]
    elsewhere = own.machine_id.ne(machine_id)
    unfit = own.quality_reached.eq(False) | ~own.own_recipe.astype(bool)
    ordered = own.assign(elsewhere=elsewhere, unfit=unfit).sort_values(
        ["elsewhere", "workload", "unfit", "time_s"]
    )
    return [
        _sentence(row, years.get(row.workload), row.machine_id == machine_id)
        for row in ordered.itertuples()
    ]


def failures(runs: pd.DataFrame) -> list[str]:
    """A sentence for each own run that failed.

    Args:
        runs: runs.csv.
    """
    failed = runs[runs.source_id.eq(OWN) & runs.status.eq("failed")]
    return [
        f"{row.workload} with {names.framework(row.framework, row.variant)} failed on "
        f"{row.hardware_label} (trial {row.trial}, {row.reason})."
        for row in failed.itertuples()
    ]


def overloads(runs: pd.DataFrame, machine_id: str) -> list[str]:
    """What others overloaded, with how to measure it again: a sentence per workload and machine.

    Nothing is said of runs that were made again since.

    Args:
        runs: runs.csv.
        machine_id: the machine at hand.
    """
    own = runs[runs.source_id.eq(OWN)]
    lost = own[own.status.eq(OVERLOADED)]
    sound = own.loc[own.status.eq("ok"), _SAME_RUN].drop_duplicates()
    made_again = lost[_SAME_RUN].merge(sound, how="left", indicator=True)["_merge"].eq("both")
    lost = lost[~made_again.to_numpy()].sort_values("started_at")
    keys = ["workload", "hardware_id", "hardware_label", "machine", "scale"]
    return [
        _overload(group, group.machine.iloc[0] == machine_id)
        for _, group in lost.groupby(keys, sort=True)
    ]


def _overload(group: pd.DataFrame, is_here: bool) -> str:
    """The sentence for runs of one workload and scale on one machine."""
    newest = group.iloc[-1]
    trained = dict.fromkeys(zip(group.framework, group.variant, strict=True))
    named = ", ".join(names.framework(*one) for one in trained)
    where = "" if is_here else f" on {newest.hardware_label} ({newest.machine})"
    runs, say = ("the run", "its time says") if len(group) == 1 else ("the runs", "their times say")
    wanted = {
        "again": "true",
        "hardware": newest.hardware_id if newest.hardware_id != LOCAL else "",
        "scale": newest.scale if newest.scale != "quick" else "",
        "workloads": newest.workload,
        "frameworks": ",".join(dict.fromkeys(group.framework)),
        "variants": "" if set(group.variant) == {"default"} else ",".join(
            dict.fromkeys(group.variant)
        ),
    }  # fmt: skip
    command = " ".join(f"{key}={value}" for key, value in wanted.items() if value)
    return (
        f"{newest.workload} with {named}{where}: {newest.reason} during {runs}, so {say} nothing; "
        f"when {'the' if is_here else 'that'} machine is free, run"
        f"{'' if is_here else ' there'}: snakemake --config {command}"
    )


def _sentence(row, year: str | None, is_here: bool) -> str:
    who = row.hardware_label
    if is_here:
        who = f"This machine ({who})"
    elif row.hardware_id == LOCAL:
        who = f"{who} ({row.machine_id})"
    framework = names.framework(row.framework, row.variant)
    facts = f"({framework}, {_how(row)}) {_cost(row, is_here)}"
    if pd.isna(row.time_relative):
        return f"{who} trains {row.workload} {facts}; no published run compares with it."
    ratio = amounts.ratio(row.time_relative)
    return f"{who} trains {row.workload} in {ratio} the time of the K80 of {year} {facts}."


def _how(row) -> str:
    """The absolute time, how reliable it is, and what a reader must know about it."""
    facts = [row.apart, amounts.seconds(row.time_s)]
    spread = pd.notna(row.time_low) and pd.notna(row.time_high)
    within = (
        f"{amounts.seconds(row.time_low)} to {amounts.seconds(row.time_high)}" if spread else ""
    )
    if row.predicted:
        facts[1] = f"predicted {facts[1]}"
    if row.runs > 1:
        machines = f" on {row.machines} machines" if row.machines > 1 else ""
        facts.append(f"median of {row.runs} {'quick ' if row.predicted else ''}runs{machines}")
    elif not row.predicted:
        facts.append("a single run")
    if within:
        facts.append(f"{within} {'this hour' if row.predicted else 'in these hours'}")
    facts.append(_later(row))
    facts += [note for note in remarks.of_row(row) if note != "predicted"]
    return ", ".join(fact for fact in facts if fact)


def _later(row) -> str:
    """The time to expect in another hour, for a row whose runs are too few to say."""
    if pd.isna(row.later_low) or row.runs > 1:
        return ""
    return f"{amounts.seconds(row.later_low)} to {amounts.seconds(row.later_high)} in another hour"


def _cost(row, is_here: bool) -> str:
    if pd.isna(row.cost_usd):
        if row.hardware_id == LOCAL and not is_here:
            return "at an unknown cost (set its price on that machine)"
        if is_here:
            return "at an unknown cost (no price configured; set one: --config price=0.10)"
        return f"at an unknown cost (the price book has none of {row.hardware_id})"
    said_below = row.mixed_price_kinds and pd.notna(row.cost_relative)
    usual = row.price_kind == prices.ON_DEMAND or said_below
    kind = "" if usual else f" ({names.price_kind(row.price_kind)})"
    price = (
        f"{amounts.dollars(row.cost_usd)} at {amounts.price(row.price_per_hour_usd)} an hour"
        f"{kind}, {amounts.dollars(row.billed_usd)} billed"
    )
    if pd.isna(row.cost_relative):
        return f"for {price}"
    text = f"and costs {amounts.ratio(row.cost_relative)} as much ({price}"
    if row.mixed_price_kinds:
        text += f", a {names.price_kind(row.price_kind)} price against an on-demand one"
    return text + ")"
