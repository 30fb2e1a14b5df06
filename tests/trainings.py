"""A real training, as the workflow starts it, or a part of one."""

import json
import subprocess

import jsonschema

from epochcost import ROOT, files

# Waiting for the trainings of other tests included.
_LONGEST_S = 1200
SCHEMA = files.read_json(ROOT / "config/schemas/record.schema.json")


def train(python, workload, framework, data, record, *options, prefix=()):
    """Run scripts/train.py in a framework's environment; returns the record."""
    done = subprocess.run(
        [
            *(*prefix, python, ROOT / "scripts/train.py", workload, framework),
            *("--data", data, "--record", record, *options),
        ],
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
    )
    assert done.returncode == 0, done.stderr
    content = files.read_json(record)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    return content


def refused(python, workload, framework, data, record, *options) -> str:
    """What scripts/train.py says where it refuses to train; it leaves no record."""
    done = subprocess.run(
        [
            *(python, ROOT / "scripts/train.py", workload, framework),
            *("--data", data, "--record", record, *options),
        ],
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
    )
    assert done.returncode == 1
    assert not record.exists()
    return done.stderr


def learnt(record) -> float:
    """The loss of the second epoch, by which two runs of one recipe may be compared.

    A run on TensorFlow draws its own order of samples, and the loss of its first epoch, in which it
    falls most, differs by a tenth from that of another: eight runs of mnist_mlp on 1,000 samples
    had 1.52 to 1.81 in it, and 0.58 to 0.61 in the second.
    """
    return record["epochs"][1]["loss"]


def answer(python, *command):
    """What a program that the interpreter of a framework runs prints last, as JSON.

    command: `-c` and the code, or a script; then its arguments.
    """
    done = subprocess.run(
        [python, *map(str, command)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "scripts"), "PATH": "/usr/bin:/bin"},
        timeout=_LONGEST_S,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
