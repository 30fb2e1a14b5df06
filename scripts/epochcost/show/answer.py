"""The answer in a few sentences per workload: what is best here, and how that compares."""

import pandas as pd

from epochcost.hardware import LOCAL
from epochcost.money import prices
from epochcost.record.types import OWN_TRAINING
from epochcost.record.usable import UNUSABLE
from epochcost.results.identity import GROUP
from epochcost.results.repeats import best_known
from epochcost.results.rows import OWN
from epochcost.results.tables import is_shipped, made_here
from epochcost.show.wording import amounts, names, remarks

# What makes a run a repetition of another one, for the plan.
_SAME_RUN = ["workload", "framework", "variant", "hardware_id", "machine", "vcpus", "scale"]
# More failed runs than these are counted instead.
_FEW = 3
# Of a full run: a quick one that takes more is hardly worth its uncertainty.
_MOST_OF_FULL = 0.5
# What two rows of a workload must share to be compared across machines and frameworks.
_SAME_TRAINING = [
    "synthetic",
    "data_complete",
    "train_samples",
    "weights",
    "own_recipe",
    "epochs",
]


def own_rows(relative: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """The own rows, relative to the baseline common to all studies, if there is one.

    Of those that came with the clone, the undisturbed ones.
    """
    main = baselines[baselines.scope.eq("all")].set_index("workload").baseline
    over_main = relative.baseline.fillna("").eq(relative.workload.map(main).fillna(""))
    counts = ~is_shipped(relative) | relative.noisy_runs.eq(0)
    return best_known(relative[relative.source_id.eq(OWN) & over_main & counts])


def sentences(
    own: pd.DataFrame, baselines: pd.DataFrame, machine_id: str, host: str = ""
) -> list[str]:
    """At most three sentences a workload, and a line that counts what they leave out.

    The fastest here, or the fastest known where this machine was not measured; that against the
    K80; and the fastest on any other machine that trained the same. Workloads measured here come
    first; what came with the clone is not said. What missed its quality target, is of a different
    recipe, of generated data, or compares with no published run counts only where there is nothing
    else.

    Args:
        own: rows of relative.csv (`own_rows`).
        machine_id: the machine called `this machine`.
        host: what it is now (`record.hosts`); empty where that is not known. Where it was measured
            like this, what it was before, such as with another kernel, does not count.
    """
    own = own[made_here(own)]
    years = baselines[baselines.scope.eq("all")].set_index("workload").price_book.str[:4]
    here = own.machine_id.eq(machine_id)
    # What is trained on a part of the data misses a target that is for all of them.
    missed = own.quality_reached.eq(False) & own.data_complete.astype(bool)
    ranked = own.assign(
        here=here,
        unfit=missed | ~own.own_recipe.astype(bool),
        uncompared=own.time_relative.isna(),
    ).sort_values(["unfit", "synthetic", "uncompared", "time_s", "mixed_price_kinds"])
    said, left_out, unpriced = [], 0, False
    for workload in workloads_of(own, baselines, machine_id):
        rows = ranked[ranked.workload.eq(workload)]
        first = _first_choice(rows, host)
        shown = pd.concat([first, _best_other(rows, first.iloc[0])])
        shown = shown.assign(apart=names.tell_apart(shown, but="machine_id"))
        if host and host not in set(first.host):
            was = pd.Series("maybe on another host", index=first.index)
            shown["apart"] = was.where(first.here).combine_first(shown.apart)
        best, *others = shown.itertuples()
        said.append(_of_best(best, len(rows[rows.here]) > 1))
        said.append(_over_baseline(best, years.get(workload)))
        said += [_of_other(other, best) for other in others]
        left_out += len(rows.drop_duplicates(GROUP)) - len(shown)
        unpriced |= best.here and pd.isna(best.cost_usd)
    if unpriced:
        said.append("For the cost, set the price of this machine: --config price=0.10.")
    if left_out:
        plural = "s are" if left_out > 1 else " is"
        said.append(f"{left_out} other result{plural} in the tables of the report.")
    return said


def workloads_of(own: pd.DataFrame, baselines: pd.DataFrame, machine_id: str) -> list[str]:
    """The workloads of own rows in the order of the answer.

    Those measured on this machine come first, then those that compare with a published run; all in
    the order of baselines.csv.
    """
    own = own[made_here(own)]
    here, compared = own.machine_id.eq(machine_id), own.time_relative.notna()
    order = list(dict.fromkeys(baselines.workload))

    def place(name: str) -> tuple:
        rank = order.index(name) if name in order else len(order)
        return not _any(here, own, name), not _any(compared, own, name), rank, name

    return sorted(own.workload.unique(), key=place)


def failures(runs: pd.DataFrame) -> list[str]:
    """A sentence for each own run that failed, or one for all if there are many.

    Args:
        runs: runs.csv.
    """
    failed = runs[made_here(runs) & runs.status.eq("failed")]
    if len(failed) > _FEW:
        return [f"{len(failed)} runs failed; the report names each, with the reason."]
    return [
        f"{row.workload} with {names.framework(row.framework, row.variant)} failed on "
        f"{row.hardware_label} (trial {row.trial}, {row.reason})."
        for row in failed.itertuples()
    ]


def unusable(runs: pd.DataFrame, machine_id: str, given: str = "") -> list[str]:
    """Runs whose time says nothing, and how to repeat them: a sentence per workload and machine.

    Nothing is said of runs that were made again since.

    Args:
        runs: runs.csv.
        machine_id: the machine at hand.
        given: the settings that a command must repeat (`settings.REPEATED`).
    """
    own = runs[made_here(runs)]
    lost = own[own.status.eq(UNUSABLE)]
    sound = own.loc[own.status.eq("ok"), _SAME_RUN].drop_duplicates()
    made_again = lost[_SAME_RUN].merge(sound, how="left", indicator=True)["_merge"].eq("both")
    lost = lost[~made_again.to_numpy()].sort_values("started_at")
    keys = ["workload", "hardware_id", "hardware_label", "machine", "scale"]
    return [
        _unusable(group, group.machine.iloc[0].partition(" ")[0] == machine_id, given)
        for _, group in lost.groupby(keys, sort=True)
    ]


def _unusable(group: pd.DataFrame, is_here: bool, given: str) -> str:
    """The sentence for runs of one workload and scale on one machine."""
    newest = group.iloc[-1]
    trained = dict.fromkeys(zip(group.framework, group.variant, strict=True))
    named = ", ".join(names.framework(*one) for one in trained)
    where = "" if is_here else f" on {newest.hardware_label} ({newest.machine})"
    runs, say = ("the run", "its time says") if len(group) == 1 else ("the runs", "their times say")
    said = f"{newest.workload} with {named}{where}: {newest.reason} during {runs}, so {say} nothing"
    if set(group.framework) == {OWN_TRAINING}:
        return f"{said}; when {'the' if is_here else 'that'} machine is free, measure it again"
    wanted = {
        "again": "true",
        "hardware": newest.hardware_id if newest.hardware_id != LOCAL else "",
        "scale": newest.scale if newest.scale != "quick" else "",
    }
    # The price at hand is not that of another machine.
    command = _command(wanted, group, given if is_here else "")
    return (
        f"{said}; when {'the' if is_here else 'that'} machine is free, run"
        f"{'' if is_here else ' there'}: {command}"
    )


def _command(wanted: dict[str, str], rows: pd.DataFrame, given: str) -> str:
    """The command that trains what rows of runs.csv are of, with some settings."""
    named = {
        name: ",".join(dict.fromkeys(rows[name[:-1]]))
        for name in ("workloads", "frameworks", "variants")
    }
    if named["variants"] == "default":
        del named["variants"]
    words = [f"{key}={value}" for key, value in (wanted | named).items() if value]
    return " ".join(["snakemake --config", *words, *([given] if given else [])])


def worth_a_full_run(runs: pd.DataFrame, machine_id: str, given: str = "") -> list[str]:
    """A sentence that names the workloads here whose full run takes hardly longer than a quick one.

    That is where most of both is start, as with few data or on a fast GPU.

    Args:
        runs: runs.csv.
        given: as for `unusable`.
    """
    there = best_known(runs[made_here(runs) & runs.status.eq("ok")])
    quick = there[there.predicted.astype(bool) & there.machine_id.eq(machine_id)]
    quick = quick[quick.framework.ne(OWN_TRAINING)]  # which has no such rule, or no known end
    long = quick[quick.wall_s >= _MOST_OF_FULL * (quick.time_s + quick.overhead_s)]
    if long.empty:
        return []
    return [
        "A full run takes less than twice as long as the quick one, and measures, for "
        f"{', '.join(sorted(long.workload.unique()))}: {_command({'scale': 'full'}, long, given)}."
    ]


def _any(mask: pd.Series, own: pd.DataFrame, workload: str) -> bool:
    return bool((mask & own.workload.eq(workload)).any())


def _first_choice(rows: pd.DataFrame, host: str) -> pd.DataFrame:
    """The best row of this machine as it is now; else of it as it was; else of all."""
    for chosen in (rows.here & rows.host.eq(host), rows.here):
        if chosen.any():
            return rows[chosen].head(1)
    return rows.head(1)


def _best_other(rows: pd.DataFrame, best: pd.Series) -> pd.DataFrame:
    """The fastest row on another machine, of a training that `best` can be compared with."""
    alike = rows.hardware_id.ne(best.hardware_id) | rows.machine_id.ne(best.machine_id)
    for name in _SAME_TRAINING:
        alike &= rows[name].isna() if pd.isna(best[name]) else rows[name].eq(best[name])
    return rows[alike].head(1)


def _of_best(row, of_several: bool) -> str:
    framework = names.framework(row.framework, row.variant)
    if row.here:
        most = " fastest so far" if of_several else ""
        what = f"This machine ({row.hardware_label}) trains {row.workload}{most} with {framework}"
    else:
        what = (
            f"{row.workload} was not measured on this machine; the fastest so far is "
            f"{_machine(row)} with {framework}"
        )
    return f"{what} ({_how(row)}) {_price(row)}."


def _over_baseline(row, year: str | None) -> str:
    if pd.isna(row.time_relative):
        return "No published run compares with it."
    text = f"That is {amounts.ratio(row.time_relative)} the time of the K80 of {year}"
    if pd.isna(row.cost_usd) or pd.isna(row.cost_relative):
        return f"{text}."
    text += f" and {amounts.ratio(row.cost_relative)} its cost"
    if row.mixed_price_kinds:
        text += f", a {names.price_kind(row.price_kind)} price against an on-demand one"
    return f"{text}."


def _of_other(row, best) -> str:
    """The best other machine against the best one."""
    framework = names.framework(row.framework, row.variant)
    ratio = amounts.ratio(row.time_s / best.time_s)
    text = f"The fastest other machine, {_machine(row)}, takes {ratio} that time with {framework}"
    price = "" if pd.isna(row.cost_usd) else f" {_price(row)}"
    return f"{text} ({_how(row)}){price}."


def _machine(row) -> str:
    """What a machine is called that is not this one."""
    local = row.hardware_id == LOCAL
    return f"{row.hardware_label} ({row.machine_id})" if local else row.hardware_label


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
    later = _later(row)
    if within and not later:
        facts.append(f"{within} this hour" if row.predicted else f"{within} in these hours")
    facts.append(later)
    facts += [note for note in remarks.of_row(row) if note != "predicted"]
    return ", ".join(fact for fact in facts if fact)


def _later(row) -> str:
    """The time to expect in another hour, for a row whose runs are too few to say."""
    if pd.isna(row.later_low) or row.runs > 1:
        return ""
    return f"{amounts.seconds(row.later_low)} to {amounts.seconds(row.later_high)} in another hour"


def _price(row) -> str:
    """What the training costs there."""
    if pd.isna(row.cost_usd):
        if row.here:
            return "at an unknown cost"
        if row.hardware_id == LOCAL:
            return "at an unknown cost (set its price on that machine)"
        return f"at an unknown cost (the price book has none of {row.hardware_id})"
    said_beside = row.mixed_price_kinds and pd.notna(row.cost_relative)
    usual = row.price_kind == prices.ON_DEMAND or said_beside
    kind = "" if usual else f" ({names.price_kind(row.price_kind)})"
    return (
        f"for {amounts.dollars(row.cost_usd)} at {amounts.price(row.price_per_hour_usd)} an hour"
        f"{kind}"
    )
