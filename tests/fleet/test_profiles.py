"""What the shipped profiles must and must not say, whoever edits them."""

import csv
import re

import pytest
import yaml

from epochcost import ROOT, schemas
from epochcost.plan import resources

PROFILES = sorted(path.parent.name for path in ROOT.glob("profiles/*/profile.yaml"))
SENDING = [name for name in PROFILES if name != "default"]
ON_SLURM = ["gce-k80", "slurm"]


def profile(name):
    return yaml.safe_load((ROOT / f"profiles/{name}/profile.yaml").read_text())


def test_each_scheduler_has_one_profile_and_k80s_have_theirs():
    schedulers = [profile(name)["executor"] for name in SENDING if name != "gce-k80"]
    assert sorted(schedulers) == ["aws-batch", "googlebatch", "kubernetes", "slurm"]
    assert profile("gce-k80") == profile("slurm") | {"configfile": "profiles/gce-k80/hardware.yaml"}


@pytest.mark.parametrize("name", SENDING)
def test_a_profile_sends_by_default_what_its_scheduler_can_have(name):
    known = schemas.read("hardware")
    chosen = yaml.safe_load((ROOT / profile(name)["configfile"]).read_text())
    for hardware in chosen["hardware"]:
        assert resources.why_not(known[hardware], profile(name)["executor"], {}) is None
    assert "set-resources" not in profile(name)


@pytest.mark.parametrize("name", ON_SLURM)
def test_slurm_is_asked_in_a_way_that_cannot_hang_or_mix_hardware(name):
    settings = profile(name)
    assert settings["slurm-status-command"] == "squeue"
    assert settings["slurm-requeue"] is True
    assert not any("array" in key for key in settings)
    for entry in schemas.read("hardware").values():
        if "slurm" in entry:
            assert "--exclusive" in resources.resources_of(entry, "slurm")["slurm_extra"]


def test_no_rule_retries_by_itself_and_each_profile_does():
    for path in [ROOT / "Snakefile", *ROOT.glob("rules/**/*.smk")]:
        assert not re.search(r"^\s*retries:", path.read_text(), re.MULTILINE), path
    for name in SENDING:
        settings = profile(name)
        if settings["executor"] == "googlebatch":
            assert "preemptible-retries" not in settings
            assert settings["googlebatch-retry-count"] == 0
        assert settings["retries"] >= 2


def test_what_a_killed_call_left_in_a_bucket_is_taken():
    for name in SENDING:
        settings = profile(name)
        assert settings.get("ignore-incomplete", False) == ("default-storage-provider" in settings)


@pytest.mark.parametrize("name", PROFILES)
def test_no_profile_holds_a_credential(name):
    text = (ROOT / f"profiles/{name}/profile.yaml").read_text()
    for key, value in profile(name).items():
        if re.search("project|bucket|prefix|-queue|role|image$|password|secret|token", key):
            # The last one is what EPOCHCOST_BUCKET says.
            fixed = ("batch-cos", "batch-cos-stable-official", "batch-custom-image", "?prefix")
            assert "$" in str(value) or value in fixed, key
    assert not re.search(r"AKIA|BEGIN|arn:", text)


def test_every_published_hardware_is_in_the_catalogue():
    known = schemas.read("hardware")
    with open(ROOT / "data/published/measurements.csv", newline="") as file:
        published = {row["hardware_id"] for row in csv.DictReader(file)}
    # What the sources do not say enough of to be a machine type.
    unstated = {"gce-k80-unstated", "gcp-cloudml-standard"}
    assert published - set(known) == unstated
