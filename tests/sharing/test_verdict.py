"""What a stranger's file of measurements may be."""

import json
import subprocess
import sys

import measured as shipped
import pytest

from epochcost import ROOT, estimate, schemas
from epochcost.models import workloads
from epochcost.record import shipped as files_of_records
from epochcost.sharing import verdict


@pytest.fixture(scope="module")
def known():
    return schemas.read("hardware"), workloads.read().recipes, estimate.read()


@pytest.fixture
def bundle(tmp_path):
    """A file with two records of one machine, as scripts/bundle.py writes it."""
    some = [one for one in shipped.read() if one.machine.id == "98bf594c8309"][:2]
    (path,) = files_of_records.write(some, tmp_path, "at home")
    return path


@pytest.mark.parametrize("path", sorted((ROOT / "data/measured").glob("*.jsonl")), ids=str)
def test_what_is_shipped_would_be_believed(known, path):
    assert verdict.of_file(path, *known).problems == []


def changed(path, change, line=1):
    """Change a line of a file; line 0 is the header."""
    lines = path.read_text().splitlines()
    content = json.loads(lines[line])
    change(content)
    lines[line] = json.dumps(content)
    path.write_text("\n".join(lines) + "\n")


def divide_epochs(content, by=10_000):
    for epoch in content["epochs"]:
        epoch["train_s"] /= by


def divide_everything(content, by=10_000):
    """A forger who knows what fits together."""
    divide_epochs(content, by)
    for epoch in content["epochs"]:
        epoch["eval_s"] = epoch["eval_s"] and epoch["eval_s"] / by
    for block in content["blocks"]:
        block["seconds"] /= by
    for name, seconds in content["phases"].items():
        content["phases"][name] = seconds and seconds / by
    for name in ("samples_per_second", "low", "high"):
        content["steady_state"][name] *= by


def set_run(key, value):
    return lambda content: content["run"].update({key: value})


def rename(workload):
    def change(content):
        run = content["run"]
        run |= {"id": run["id"].replace(run["workload"], workload), "workload": workload}

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_run("workload", "$(touch pwn)"), "is no part of a run's name"),
        (rename("mnist_mpl"), "did you mean 'mnist_mlp'?"),
        (divide_epochs, "by its phases"),
        (divide_everything, "GFLOP/s, and its machine can do"),
        (lambda one: one["machine"].update(cpu_model="\x1b[31mEPYC"), "control characters in"),
        (
            lambda one: one["machine"].update(cpu_model='=HYPERLINK("http://x","y")'),
            "a spreadsheet would take '=HYPERLINK",
        ),
        (
            lambda one: (divide_everything(one), one.update(steady_state=None)),
            "GFLOP/s, and its machine can do",
        ),
        (
            lambda one: (divide_everything(one), one.update(flop_per_sample=None)),
            "GFLOP/s, and its machine can do",
        ),
        (lambda one: one.update(flop_per_sample=1), "operations a sample; other records have"),
        (
            lambda one: (divide_everything(one), one.update(yardstick=None)),
            "GFLOP/s, and its machine can do",
        ),
        (lambda one: one["yardstick"].update(matmul_gflops=1e12), "cores cannot be"),
        (lambda one: one["software"].update(device="cpu "), "it says not what trained"),
        (lambda one: one["software"].update(device="gpu"), "nobody here knows how fast its GPU"),
        (lambda one: one["machine"].update(cpu_model="-2+3+cmd|' /C calc'!A0"), "for a formula"),
        (set_run("variant", "Default"), "its name is not <variant>"),
        (set_run("trial", 10**12), "its name is not <variant>"),
        (set_run("id", "../../x"), "is called '../../x', and is"),
        (lambda one: one["settings"].update(epochs=1), "epochs"),
        (lambda one: one.pop("wall_s"), "no wall_s"),
        (set_run("started_at", "2096-11-24T10:00:00+00:00"), "finished before it started"),
    ],
)  # fmt: skip
def test_what_cannot_be_believed_is_refused_and_named(known, bundle, change, said):
    changed(bundle, change)
    found = verdict.of_file(bundle, *known)
    assert any(said in problem for problem in found.problems), found.problems
    assert found.lines()[-1] == "verdict: it cannot join"
    assert all(line.isprintable() for line in found.lines())


def test_a_file_that_hides_how_fast_its_processor_is_is_refused(known, bundle):
    for line in (1, 2):
        changed(bundle, lambda one: (divide_everything(one, 3), one.update(yardstick=None)), line)
    found = verdict.of_file(bundle, *known)
    assert [problem for problem in found.problems if "says how fast its processor is" in problem]


def test_a_machine_that_calls_itself_another_one_is_refused(known, bundle):
    text = bundle.read_text().replace('"hardware":"local"', '"hardware":"gce-t4"')
    text = text.replace('"id":"local/', '"id":"gce-t4/')
    forged = bundle.with_name(bundle.name.replace("local", "gce-t4"))
    forged.write_text(text)
    found = verdict.of_file(forged, *known)
    assert found.records == [] and len(found.problems) == 2
    assert all(
        "its machine is not gce-t4: it has no GPU" in problem for problem in found.problems
    ), found.problems


def test_a_gpu_that_was_measured_as_another_machine_is_refused(known, tmp_path):
    one = next(one for one in shipped.read() if one.machine.gpus)
    (path,) = files_of_records.write([one], tmp_path, "")
    forged = tmp_path / f"local-{'0' * 12}.jsonl"
    forged.write_text(path.read_text().replace(one.machine.id, "0" * 12))
    found = verdict.of_file(forged, *known)
    assert found.problems == [
        f"line 2: its GPU was measured as that of the machine {one.machine.id}"
    ]


def test_the_command_prints_a_verdict_to_paste(bundle):
    command = [sys.executable, ROOT / "scripts/check.py"]
    good = subprocess.run([*command, bundle], capture_output=True, text=True, cwd=ROOT)
    assert good.returncode == 0 and good.stdout.endswith("here already: 2\nverdict: it can join\n")
    changed(bundle, lambda header: header.update(kind="=1+1", rented="\x1b[2J"), line=0)
    bad = subprocess.run([*command, bundle], capture_output=True, text=True, cwd=ROOT)
    assert bad.returncode == 1 and "verdict: it cannot join" in bad.stdout
    assert "\x1b" not in bad.stdout + bad.stderr
    gone = subprocess.run([*command, "nothing"], capture_output=True, text=True, cwd=ROOT)
    assert (gone.returncode, gone.stderr) == (1, "epochcost: nothing is no file\n")
