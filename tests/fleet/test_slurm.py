"""The workflow through a real Slurm: where jobs go, and what clusters do to them."""

import json
import subprocess
from collections.abc import Callable

import pytest
from clones import BIN
from fleet import accounting
from fleet import slurm as clusters

pytestmark = pytest.mark.slow

BOTH = "hardware=cluster-cpu16,cluster-cpu1"


@pytest.fixture(scope="module")
def measured(site):
    """A site whose trainings went through the cluster."""
    site.snakemake("--profile", "slurm", "measure", "--config", BOTH, "frameworks=pytorch")
    return site


def test_each_training_runs_on_the_nodes_that_it_is_for(measured, slurm):
    site = measured
    records = {path: json.loads(content) for path, content in site.records().items()}
    assert set(records) == {
        f"{hardware}/mnist_mlp/pytorch/default-1" for hardware in ("cluster-cpu16", "cluster-cpu1")
    }
    for path, record in records.items():
        assert record["status"] == "ok"
        cores = 1 if "cpu1/" in path else site.cores
        assert record["machine"]["usable_cores"] == cores
    jobs = slurm.jobs().values()
    for job in jobs:
        assert job["JobState"] == "COMPLETED"
        assert job["OverSubscribe"] == "NO"
        assert f"train_cluster_{job['Partition']}_" in job["Comment"]
    assert sorted(job["Partition"] for job in jobs) == ["cpu1", "cpu16"]
    assert len(list((site.folder / "logs/slurm").rglob("*.log"))) == 2
    planned = site.snakemake(
        "--profile", "slurm", "-n", "measure", "--config", BOTH, "frameworks=pytorch"
    )
    assert "Nothing to be done" in planned.stdout


def test_accounting_knows_whose_jobs_they_were(measured, slurm):
    if lacking := clusters.missing(accounting.PROGRAMS):
        pytest.skip(f"this machine has no {lacking} (Debian: slurmdbd, mariadb-server)")
    done = [number for number, job in slurm.jobs().items() if job["JobState"] == "COMPLETED"]
    assert len(done) == 2
    said = slurm.run("sacct", "-X", "-n", "-P", "-o", "JobID,Account,State,Partition,AllocCPUS")
    cores = {"cpu16": measured.cores, "cpu1": 1}
    rows = [line.split("|") for line in said.splitlines()]
    assert [int(number) for number, *_ in rows] == done
    for _, account, state, partition, cpus in rows:
        assert (account, state) == (accounting.ACCOUNT, "COMPLETED")
        assert int(cpus) == cores[partition]


def test_a_job_that_is_not_on_its_hardware_fails_and_leaves_no_record(site, slurm):
    before = set(slurm.jobs())
    failed = site.snakemake(
        "--profile", "gce-k80", "--retries", "0", "measure",
        "--config", "frameworks=pytorch", check=False,
    )  # fmt: skip
    assert failed.returncode == 1
    (job,) = (facts for number, facts in slurm.jobs().items() if number not in before)
    assert job["Partition"] == "k80"
    assert job["TresPerNode"] == "gres:gpu:k80:1"
    assert job["OverSubscribe"] == "NO"
    assert job["JobState"] == "FAILED"
    log = site.folder / "logs/train/gce-k80/mnist_mlp/pytorch/default-1.log"
    assert "this machine is not gce-k80: it has no GPU, not 1 x K80" in log.read_text()
    assert not [path for path in site.records() if path.startswith("gce-k80")]


def test_hardware_without_a_partition_is_sent_nowhere(site, slurm):
    before = set(slurm.jobs())
    failed = site.snakemake(
        "--profile", "slurm", "measure", "--config", "hardware=gce-t4", check=False
    )
    assert failed.returncode == 1
    assert (
        "gce-t4 cannot be had from slurm: no `slurm: {partition: ...}` in config" in failed.stderr
    )
    assert set(slurm.jobs()) == before


def test_hardware_of_which_nobody_said_the_cores_is_sent_nowhere(site, slurm):
    before = set(slurm.jobs())
    failed = site.snakemake(
        "--profile", "slurm", "--set-resources", "train_paperspace_p6000:slurm_partition=cpu16",
        "--config", "hardware=paperspace-p6000", "--", "measure", check=False,
    )  # fmt: skip
    assert failed.returncode == 1
    assert "paperspace-p6000 cannot be had from slurm: no vcpus in config" in failed.stderr
    assert set(slurm.jobs()) == before


class Training:
    """A full training that runs on the cluster, in large batches, so that it ends soon."""

    def __init__(self, site, slurm, batch_size: int) -> None:
        self._site, self._slurm = site, slurm
        folder = "cluster-cpu16/mnist_mlp/pytorch"
        trial = 1 + len([path for path in site.records() if path.startswith(folder)])
        self._run = f"{folder}/default-{trial}"
        self._checkpoints = site.folder / f"results/checkpoints/{folder}"
        self._before = set(slurm.jobs())
        self._words = [
            "--profile", "slurm", "measure", "--config", "hardware=cluster-cpu16",
            "frameworks=pytorch", "scale=full", f"batch_size={batch_size}",
        ]  # fmt: skip
        self.log = site.folder / "snakemake.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [BIN / "snakemake", *self._words],
                cwd=site.folder, env=site.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log,
            )  # fmt: skip

    def job(self) -> dict[str, str]:
        """The last job that was sent for it."""
        sent = [
            facts
            for number, facts in sorted(self._slurm.jobs().items())
            if number not in self._before and facts["Partition"] == "cpu16"
        ]
        return sent[-1] if sent else {"JobState": "not sent yet"}

    def wait_for_epoch(self, after: dict[str, str] | None = None) -> None:
        """Until one more epoch is in a checkpoint, and that of a start after a job that ended."""
        if after:
            was = [after[key] for key in ("JobId", "Restarts")]
            self._within(lambda: [self.job()[key] for key in ("JobId", "Restarts")] != was)
        self._within(lambda: self.job()["JobState"] == "RUNNING")
        done = self._epochs()
        # Trainings of other tests may have to end before this one.
        self._within(lambda: self._epochs() > done)

    def _epochs(self) -> int:
        paths = self._checkpoints.glob("default-*/epoch-*")
        return max((int(path.name.split("-")[1]) for path in paths), default=0)

    def record_made(self) -> dict:
        """The record as soon as its job has ended, before Snakemake has seen that."""
        self._within(lambda: self.job()["JobState"] == "COMPLETED")
        # An orderly end would wait until the plugin looks again, in the end for three minutes.
        self.process.kill()
        self.process.wait()
        return json.loads(self._site.record(self._run).read_text())

    def planned(self) -> str:
        """What Snakemake would still do."""
        self._site.snakemake("--profile", "slurm", "--unlock")
        return self._site.snakemake("-n", *self._words).stdout

    def result(self) -> dict:
        """The record, once the workflow has ended well."""
        self._within(lambda: self.process.poll() is not None)
        assert self.process.returncode == 0, self.log.read_text()[-3000:]
        return json.loads(self._site.record(self._run).read_text())

    def _within(self, reached: Callable[[], bool]) -> None:
        try:
            self._slurm.wait(reached, "a training", in_vain=lambda: self.process.poll() == 1)
        except AssertionError as error:
            error.add_note(self.log.read_text()[-3000:])
            raise


@pytest.fixture
def train(site, slurm):
    """Starts full trainings; what is left of them ends with the test."""
    started = []

    def start(batch_size: int) -> Training:
        started.append(Training(site, slurm, batch_size))
        return started[-1]

    yield start
    for training in started:
        training.process.kill()


def preempt(slurm, job):
    slurm.run("sbatch", "--partition=urgent", "--exclusive", "--output=/dev/null", "--wrap=sleep 1")


def lose_node(slurm, job):
    slurm.lose_node("cpu16-0", job["JobId"])


def restart_controller(slurm):
    slurm.stop_controller()
    slurm.start_controller()


def test_a_training_survives_what_happens_on_clusters(train, slurm):
    training = train(1024)
    training.wait_for_epoch()
    restart_controller(slurm)
    training.wait_for_epoch()
    for happens in (preempt, lose_node):
        job = training.job()
        happens(slurm, job)
        training.wait_for_epoch(after=job)
    assert_whole(training.record_made(), interruptions=2)
    # Slurm itself starts a job again.
    assert training.job()["Restarts"] == "2"
    assert "Nothing to be done" in training.planned()


# Snakemake sees only after up to a minute that a job has ended.
@pytest.mark.full
def test_what_is_cancelled_is_sent_again(train, slurm):
    training = train(1024)
    training.wait_for_epoch()
    job = training.job()
    slurm.run("scancel", job["JobId"])
    training.wait_for_epoch(after=job)
    assert training.job()["JobId"] != job["JobId"]
    assert_whole(training.result(), interruptions=1)


@pytest.mark.full
def test_what_meets_its_time_limit_is_sent_again_and_goes_on(train, slurm):
    training = train(64)
    training.wait_for_epoch()
    slurm.run("scontrol", "update", f"JobId={training.job()['JobId']}", "TimeLimit=1")
    assert_whole(training.result(), interruptions=1)


def assert_whole(record, interruptions):
    assert record["status"] == "ok"
    assert [epoch["epoch"] for epoch in record["epochs"]] == list(range(1, clusters.EPOCHS + 1))
    assert record["interruptions"] == interruptions
