"""Write the answer and the report page from the tables and figures.

In: results/tables/, results/figures/, results/runs/, data/published/. Out: an HTML file that
needs no network; beside it the answer as text, and this machine's results as DVC's metrics.
"""

import os
from pathlib import Path

import pandas as pd

from epochcost import errors, files, schemas
from epochcost.measure import machine
from epochcost.models import workloads
from epochcost.money import hindsight
from epochcost.record import hosts, record
from epochcost.record.types import document
from epochcost.results import rows, tables
from epochcost.show import answer, page, table
from epochcost.show.figures import selection

# Characters of a sentence of the answer.
_LONGEST = 10_000


def main() -> None:
    parser = errors.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--figures", type=Path, default=Path("results/figures"))
    parser.add_argument("--records", type=Path, default=Path("results/runs"))
    parser.add_argument("--published", type=Path, default=Path("data/published"))
    parser.add_argument("--report", type=Path, default=Path("results/report.html"))
    parser.add_argument("--answer", type=Path, default=Path("results/answer.txt"))
    parser.add_argument("--metrics", type=Path, default=Path("results/metrics.json"))
    parser.add_argument("--given", default="", help="settings that a suggested call must repeat")
    arguments = parser.parse_args()
    relative = selection.side_by_side(tables.read(arguments.tables / "relative.csv"))
    baselines = pd.read_csv(arguments.published / "baselines.csv")
    own = answer.own_rows(relative, baselines)
    runs = tables.read(arguments.tables / "runs.csv")
    about = machine.facts()
    here, container = about.id, os.environ.get("EPOCHCOST_CONTAINER")
    host = hosts.host_of(about, container)
    lost = answer.unusable(runs, here, arguments.given)
    bad = lost + answer.failures(runs)
    sentences = answer.sentences(own, baselines, here, host)
    sentences += answer.worth_a_full_run(runs, here, arguments.given)
    aside = tables.read(arguments.tables / "set_aside.csv")
    sources = pd.read_csv(arguments.published / "sources.csv").fillna("")
    machines, paths = _read(arguments.records, set(aside.path), arguments.report.parent)
    links = page.records_of(runs, paths)
    sections = _sections(relative, baselines, arguments.figures, links, here)
    order = answer.workloads_of(own, baselines, here)
    sections.sort(
        key=lambda one: order.index(one.workload) if one.workload in order else len(order)
    )
    html = page.render(
        sentences,
        own[tables.made_here(own)],
        sections,
        runs,
        machines,
        tables.read(arguments.tables / "noise.csv"),
        sources[sources.source_id.isin(relative.source_id)].to_dict("records"),
        aside.to_dict("records"),
        links,
        here,
        {name: arguments.figures / f"{name}.svg" for name in ("history", f"history{page.NARROW}")},
        bad,
        hindsight.summary(tables.read(arguments.tables / "estimates.csv")).to_dict("records"),
        page.choices_of(tables.read(arguments.tables / "options.csv")),
    )
    files.write_text(arguments.report, html)
    # Shown on a terminal, which would obey control characters in a record.
    lines = [errors.printable(sentence, _LONGEST) for sentence in [*sentences, *bad]]
    measured = table.rows_of(own[tables.made_here(own)], here)
    if len(measured):
        lines += ["", table.written(measured, "text").rstrip()]
    files.write_text(arguments.answer, "\n".join(lines) + "\n" if lines else "")
    files.write_json(arguments.metrics, table.metrics(own[tables.made_here(own)], here))


def _sections(
    relative: pd.DataFrame, baselines: pd.DataFrame, figures: Path, links: dict, here: str
) -> list[page.Section]:
    lists, order = workloads.read(), list(schemas.read("hardware"))
    sections = []
    for base in baselines[baselines.scope.eq("all")].itertuples():
        rows = selection.rows_of(relative, base.workload, base.baseline, order)
        title = lists.title(base.workload)
        drawn = (*page.PICTURES, f"machines{page.NARROW}")
        pictures = {name: figures / f"{base.workload}-{name}.svg" for name in drawn}
        sections.append(page.section(base.workload, title, rows, pictures, links, here))
    for workload in sorted(relative[relative.baseline.isna()].workload.unique()):
        rows = selection.rows_without_baseline(relative, workload)
        title = lists.title(workload)
        sections.append(page.section(workload, title, rows, {}, links, here))
    return sections


def _read(folder: Path, aside: set[str], page_at: Path) -> tuple[list[dict], dict[str, str]]:
    """Each host as its newest record has it, with its software; and the place of each record.

    Args:
        aside: the records that do not count.
        page_at: the folder that places are seen from.
    """
    machines: dict[str, dict] = {}
    found = [(path, one) for path, one in record.read_all(folder) if str(path) not in aside]
    for _, content in sorted(found, key=lambda pair: pair[1].run.started_at):
        key = hosts.key_of(content)
        software = machines.get(key, {"software": []})["software"]
        version = content.software.framework_version
        if version not in software:
            software.append(version)
        machines[key] = {**document(content.machine), "software": software}
    paths = {rows.run_id(one): os.path.relpath(path, page_at) for path, one in found}
    return list(machines.values()), paths


if __name__ == "__main__":
    errors.run(main)
