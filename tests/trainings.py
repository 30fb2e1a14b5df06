"""A real training, as the workflow starts it."""

import subprocess

import jsonschema

from epochcost import files
from epochcost.configuration import ROOT

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
    )
    assert done.returncode == 0, done.stderr
    content = files.read_json(record)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    return content
