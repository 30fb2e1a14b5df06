"""Records with something wrong in them: each gives a right row, or none and a reason.

`EPOCHCOST_FUZZ` is the number of examples (100); ten thousand take some minutes.
"""

import json
import random
import shutil
from dataclasses import asdict
from functools import cache
from pathlib import Path

import measured
import pandas as pd
import pytest
from expect import script
from fuzz import damage
from hypothesis import given

from epochcost import ROOT, schemas
from epochcost.record import merge, record
from epochcost.results import noise, rows
from epochcost.show import page

# Each mutant is the second trial of a workload, beside good ones of that workload and another.
MUTANT = "default-2.json"
GOOD = (
    "local/mnist_mlp/pytorch/default-1@9552f777d6a3*.json",
    "local/imdb_bilstm/keras-tensorflow/default-1@9552f777d6a3*.json",
)
CATALOGUE = schemas.read("hardware")


@cache
def shipped() -> list[Path]:
    """The records that ship with the project."""
    return record.find(measured.folder())


def mutant(seed: int, value) -> tuple[Path, bytes]:
    """A shipped record with something wrong in it: where it was, and its bytes."""
    rng = random.Random(seed)
    path = rng.choice(shipped())
    if rng.random() < 0.2:
        return path, damage.of_bytes(path.read_bytes(), seed)
    text = json.dumps(damage.of_values(json.loads(path.read_text()), value, seed), indent=1)
    match rng.randrange(12):
        case 0:
            text = text.replace('"seed":', f'"seed": {rng.randrange(9)},\n "seed":', 1)
        case 1:  # nesting that no reader follows
            depth = rng.choice([5, 100, 900, 5_000, 100_000])
            deep = "[" * depth + "]" * depth
            text = text.replace('"settings": {', f'"settings": {{ "deep": {deep},', 1)
        case 2:
            text = text.replace('"seed":', '"seed": ' + "9" * 5_000 + ', "was":', 1)
    return path, text.encode()


def look_at(folder: Path) -> rows.Rows:
    return rows.of_folder(folder, {}, also=noise.noise_row)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> tuple[Path, rows.Rows]:
    """A folder with the good ones alone, and their rows."""
    folder = tmp_path_factory.mktemp("records")
    for name in GOOD:
        (good,) = measured.folder().glob(name)
        place = (folder / name).parent
        place.mkdir(parents=True)
        shutil.copy(good, place)
    return folder, look_at(folder)


@damage.fuzzed
@given(seed=damage.seeds, value=damage.values)
def test_a_mutant_gives_a_right_row_or_none_and_the_good_ones_theirs(alone, seed, value):
    """As the analysis and a merge see it beside the good ones."""
    folder, before = alone
    origin, content = mutant(seed, value)
    path = folder.joinpath(*origin.parts[-4:-1], MUTANT)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    try:
        found = look_at(folder)
        merged = merge.merge(path, folder.with_name(f"own-{folder.name}"), CATALOGUE)
    finally:
        path.unlink()
        for own in (f"own-{folder.name}", f"own-{folder.name}-kept"):
            shutil.rmtree(folder.with_name(own), ignore_errors=True)
    (mine,) = [run for run in found.runs if run not in before.runs] or [None]
    assert [run for run in found.runs if run is not mine] == before.runs
    assert [row for row in found.epochs if row in before.epochs] == before.epochs
    if mine is None:
        (reason,) = found.aside.values()
        assert reason.startswith(str(path)) and reason.isprintable() and len(reason) < 1500
        if "is a copy of" not in reason and "gives no row" not in reason:
            assert merged.refused == {path: reason}
        return
    assert not found.aside
    unknown = mine.hardware_id not in CATALOGUE
    assert list(merged.refused if unknown else merged.added) == [path]
    assert_right(asdict(mine), json.loads(content))


def assert_right(row: dict, said: dict) -> None:
    """Whether a row says what its record says, by other code than that of the product."""
    own = {name: said["run"][name] for name in ("workload", "framework", "variant", "scale")}
    own |= {name: said["settings"][name] for name in ("epochs", "batch_size")}
    own |= {"hardware_id": said["run"]["hardware"], "trial": 2, "seed": said["seed"]}
    own |= {"train_samples": said["data"]["train_samples"], "metric": said["quality"]["metric"]}
    if said.get("wall_s") is not None:  # the first records had none
        own |= {"wall_s": said["wall_s"]}
    assert {name: row[name] for name in own} == own
    assert row["machine"].split()[0] == said["machine"]["id"]
    if row["status"] == "unusable":
        assert said["status"] == "ok" and row["reason"] and row["time_s"] is None
        return
    assert row["status"] == said["status"]
    begun = pd.Timestamp(said["run"]["started_at"])
    assert row["started_at"] == begun.tz_convert("UTC").isoformat()
    if said["status"] != "ok":
        assert row["time_s"] is None
    elif said["run"]["scale"] == "full":
        took = sum(one["train_s"] + (one["eval_s"] or 0) for one in said["epochs"])
        took += said["phases"].get("predict") or 0
        assert row["time_s"] == pytest.approx(took)
        assert 0 < took <= row["wall_s"] * 1.02
        assert len(said["epochs"]) == said["settings"]["epochs"]


def test_mutants_together_leave_every_table_and_the_report_whole(tmp_path):
    """All in one folder with the shipped records: what groups them must not break either."""
    folder = tmp_path / "runs"
    shutil.copytree(measured.folder(), folder)
    for number in range(damage.EXAMPLES):
        origin, content = mutant(number, number)
        path = folder.joinpath(*origin.parts[-4:-1], f"default-{1000 + number}.json")
        path.write_bytes(content)
    (folder / "<b>note.json").write_text("{}")
    there = len(list(folder.rglob("*.json")))
    output, figures = tmp_path / "tables", tmp_path / "figures"
    script("runs", "--records", folder, "--output", output)
    script("costs", "--tables", output, "--output", output)
    script("figures", "mnist_mlp", "history", "--tables", output, "--output", figures)
    for workload in pd.read_csv(ROOT / "data/published/baselines.csv").workload:
        for picture in (*page.PICTURES, f"machines{page.NARROW}"):  # the others look alike
            (figures / f"{workload}-{picture}.svg").touch()
    outputs = ("--report", tmp_path / "report.html", "--answer", tmp_path / "answer.txt")
    script("report", "--tables", output, "--figures", figures, "--records", folder, *outputs)
    runs, aside = (pd.read_csv(output / f"{name}.csv") for name in ("runs", "set_aside"))
    own = runs[runs.source_id.eq("own")]
    assert len(own) + len(aside) == there
    good = {rows.run_id(one) for one in measured.read()}
    assert len(good - set(own.run_id)) < damage.EXAMPLES
