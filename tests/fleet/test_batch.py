"""Google Batch: what is asked of it, and a training through a stand-in of it on this machine."""

import json
import signal
import subprocess

import pytest
import yaml
from clones import make_clone
from expect import wait_until

from epochcost import ROOT

pytestmark = pytest.mark.slow

CLOUD = ROOT / ".venvs/cloud/bin"
SYNTHETIC = ["--config", "data={source: synthetic}", "workloads=mnist_mlp", "frameworks=pytorch"]


@pytest.fixture(scope="module")
def batch(tmp_path_factory, pythons, google_credentials):
    """Runs Snakemake with the profile, and returns what it did and what was asked of Google."""
    if not (CLOUD / "snakemake").exists():
        pytest.skip("the executors of clouds are not installed (make cloud)")
    clone = make_clone(tmp_path_factory.mktemp("batch") / "epochcost")
    profile = clone.folder / "profiles/googlebatch/hardware.yaml"
    settings = yaml.safe_load(profile.read_text())
    own = yaml.safe_load((clone.folder / "config/config.yaml").read_text())["python"]
    profile.write_text(yaml.safe_dump(settings | {"python": own}))
    catalogue = clone.folder / "config/hardware.yaml"
    # This machine is to be one of them.
    known = yaml.safe_load(catalogue.read_text())
    known["gce-n1-highcpu-8"]["vcpus"] = clone.cores
    catalogue.write_text(yaml.safe_dump(known, sort_keys=False).replace("'", ""))
    # What is sent to a machine is what git knows.
    commit = clone.commit()
    clone.environment |= {
        "PATH": f"{CLOUD}:{clone.environment['PATH']}",
        "GOOGLE_APPLICATION_CREDENTIALS": google_credentials,
        "GOOGLE_CLOUD_PROJECT": "payer",
        "EPOCHCOST_BUCKET": "bucket",
        "EPOCHCOST_IMAGE": "registry.example/epochcost:1",
    }

    def command(folder, *words):
        store = folder / "bucket"
        store.mkdir(exist_ok=True)
        return [
            str(CLOUD / "python"), str(ROOT / "tests/fleet/batch.py"), str(folder),
            "--profile", "googlebatch", "--default-storage-provider", "fs",
            "--default-storage-prefix", str(store), "--seconds-between-status-checks", "1", *words,
        ]  # fmt: skip

    def run(*words, folder=None, **environment):
        folder = folder or tmp_path_factory.mktemp("call")
        before = set(folder.glob("*.json"))
        done = clone.run(*command(folder, *words), check=False, **environment)
        asked = [json.loads(path.read_text()) for path in set(folder.glob("*.json")) - before]
        # What machines said, where the call does not say why it failed.
        done.machines = "".join(path.read_text() for path in folder.glob("machine-*/log"))
        return done, asked

    run.clone = clone
    run.commit = commit
    run.command = command
    return run


def policy_of(request):
    return request["job"]["allocationPolicy"]["instances"][0]["policy"]


def test_a_training_goes_out_and_its_record_comes_home(batch):
    done, asked = batch(*SYNTHETIC, "hardware=gce-n1-highcpu-8")
    assert done.returncode == 0, done.stderr[-3000:] + done.machines[-3000:]
    records = batch.clone.records()
    assert list(records) == ["gce-n1-highcpu-8/mnist_mlp/pytorch/default-1"]
    # There is no git on a machine of theirs.
    assert json.loads(*records.values())["git"] == {"commit": batch.commit, "dirty": False}
    (request,) = asked
    assert request["parent"] == "projects/payer/locations/us-central1"
    assert policy_of(request)["machineType"] == "n1-highcpu-8"
    assert not policy_of(request)["accelerators"]
    task = request["job"]["taskGroups"][0]["taskSpec"]
    assert task["computeResource"]["cpuMilli"] == f"{1000 * batch.clone.cores}"
    assert task["maxRetryCount"] == 0
    images = [step.get("container", {}).get("imageUri") for step in task["runnables"]]
    assert "registry.example/epochcost:1" in images
    again = batch.clone.run(
        str(CLOUD / "snakemake"), "-n", "--profile", "googlebatch",
        "--default-storage-provider", "fs", "--default-storage-prefix", str(batch.clone.folder),
        *SYNTHETIC, "hardware=gce-n1-highcpu-8",
    )  # fmt: skip
    assert "Nothing to be done" in again.stdout + again.stderr


def test_a_record_that_was_made_after_a_kill_is_not_paid_twice(batch, tmp_path):
    before = batch.clone.records()
    words = (*SYNTHETIC, "hardware=gce-n1-highcpu-8", "again=true")
    with open(tmp_path / "log", "w") as log:
        call = subprocess.Popen(
            batch.command(tmp_path, *words),
            cwd=batch.clone.folder, env=batch.clone.environment, stdout=log, stderr=log,
        )  # fmt: skip
        # The machine goes on when who asked for it is gone.
        wait_until(lambda: list(tmp_path.glob("machine-*/workdir/**/train.py")), "it trains")
        call.send_signal(signal.SIGKILL)
        call.wait()
    wait_until(lambda: list(tmp_path.glob("bucket/runs/**/default-*.json")), "a record")
    assert batch.clone.records() == before
    batch.clone.run("python", "scripts/unlock.py")
    done, asked = batch(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:] + done.machines[-3000:]
    assert asked == []
    assert len(batch.clone.records()) == len(before) + 1


@pytest.mark.parametrize(
    ("hardware", "machine_type", "accelerator"),
    [
        # With frameworks of one's own, as the supplied image has none for these.
        ("gce-p100", "n1-standard-1", "nvidia-tesla-p100"),
        ("gce-a3-highgpu-1g", "a3-highgpu-1g", "nvidia-h100-80gb"),
    ],
)
def test_gpus_are_asked_for(batch, hardware, machine_type, accelerator):
    spot = ("--preemptible-rules", f"train_{hardware.replace('-', '_')}")
    call = (*spot, "--retries", "0", *SYNTHETIC, f"hardware={hardware}")
    done, (request,) = batch(*call, GRANTS_NO_MACHINE="1")
    assert done.returncode == 1
    policy = policy_of(request)
    assert policy["machineType"] == machine_type
    assert [(one["type"], one["count"]) for one in policy["accelerators"]] == [(accelerator, "1")]
    assert policy["provisioningModel"] == 3  # preemptible
    assert policy["bootDisk"]["image"] == "batch-cos"
    assert policy["bootDisk"]["sizeGb"] == "100"


def test_a_machine_without_the_gpu_is_not_measured(batch, tmp_path):
    done, _ = batch("--retries", "0", *SYNTHETIC, folder=tmp_path)
    assert done.returncode == 1
    said = [path.read_text() for path in tmp_path.glob("machine-*/workdir/**/*.log")]
    assert any("this machine is not gce-t4: it has no GPU" in text for text in said), done.machines
    assert not [path for path in batch.clone.records() if path.startswith("gce-t4")]


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"EPOCHCOST_BUCKET": ""}, "this profile needs EPOCHCOST_BUCKET (a bucket in which"),
        ({"GOOGLE_APPLICATION_CREDENTIALS": ""}, "there are no Google credentials; run: gcloud"),
    ],
)
def test_what_is_missing_is_one_line_before_anything_starts(batch, environment, message):
    home = {"HOME": str(batch.clone.folder.parent)}
    done, asked = batch(*SYNTHETIC, **environment, **home)
    assert done.returncode == 1
    assert asked == []
    assert f"epochcost: {message}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hardware=gce-k80"], "gce-k80 cannot be rented: Google Compute Engine retired it on "
         "2024-05-01; the nearest available is gce-t4 (n1-standard-4 + 1 x T4)"),
        (["workloads=catsdogs_resnet50", "frameworks=fastai"], "are not sent to rented machines"),
    ],
)  # fmt: skip
def test_what_cannot_be_rented_is_refused(batch, words, message):
    done, asked = batch(*SYNTHETIC[:2], *words)
    assert done.returncode == 1
    assert asked == []
    assert message in done.stderr
