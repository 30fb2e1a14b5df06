"""A bare host that is reached by ssh: an ssh server of this machine, in a folder of its own."""

import fcntl
import getpass
import json
import os
import re
import shutil
import socket
import subprocess

import pytest
from clones import make_clone
from expect import wait_until

from epochcost import ROOT
from epochcost.record import record as records

pytestmark = pytest.mark.slow

SERVER = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


@pytest.fixture(scope="module")
def ssh(tmp_path_factory):
    """The command that reaches the host; skipped where there is no ssh server."""
    if SERVER is None or shutil.which("ssh") is None:
        pytest.skip("this machine has no sshd (Debian: openssh-server)")
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name]
        subprocess.run(command, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized_keys")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
    )
    if os.getuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)
    server = subprocess.Popen(
        [SERVER, "-D", "-E", folder / "log", "-f", folder / "sshd_config"],
        stderr=subprocess.DEVNULL,
    )
    options = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    yield f"ssh -p {port} -i {folder}/user {options}"
    server.terminate()
    server.wait()


@pytest.fixture(scope="module")
def host(ssh, tmp_path_factory, pythons):
    """A folder on the host that has the environments already, and the words that reach it."""
    folder = tmp_path_factory.mktemp("host") / "epochcost"
    folder.mkdir()
    for name in (".venv", ".venvs"):
        (folder / name).symlink_to(ROOT / name)
    address = f"{getpass.getuser()}@127.0.0.1"
    asked = [*ssh.split(), address, "true"]
    wait_until(
        lambda: subprocess.run(asked, capture_output=True).returncode == 0, "the ssh server answers"
    )
    return address, folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A clone to start from, as git makes them."""
    clone = make_clone(tmp_path_factory.mktemp("home") / "epochcost")
    clone.head = clone.commit()
    return clone


def test_records_of_a_bare_host_come_home(ssh, host, home):
    address, folder = host
    command = ["python", "scripts/remote.py", address, "local", "--ssh", ssh, "--folder", folder]
    words = ["--config", "data={source: synthetic}", "workloads=mnist_mlp", "frameworks=pytorch"]
    done = home.run(*map(str, command), *words)
    run = "local/mnist_mlp/pytorch/default-1"
    assert list(home.records()) == [run]
    assert "1 records merged, 0 here already, 0 refused" in done.stdout
    assert re.search(
        rf"{re.escape(address)} was in use for [\d.]+ (s|min), and still runs", done.stdout
    )
    assert json.loads(home.records()[run])["git"]["commit"] == home.head
    assert not (folder / ".git").exists()
    # The same again measures nothing and brings nothing twice, even on a host that is new.
    shutil.rmtree(folder / "results")
    again = home.run(*map(str, command), *words)
    assert "0 records merged, 1 here already, 0 refused" in again.stdout


def test_a_host_that_is_at_work_is_left_alone_and_a_killed_run_is_not_in_the_way(ssh, host, home):
    address, folder = host
    command = ["python", "scripts/remote.py", address, "local", "--ssh", ssh, "--folder", folder]
    words = ["--config", "data={source: synthetic}", "workloads=mnist_mlp", "frameworks=pytorch"]
    home.run(*map(str, command), *words)
    lock = folder / ".snakemake/locks/0.input.lock"
    lock.parent.mkdir(exist_ok=True)
    lock.write_text("results/made\n")
    with open(folder / ".snakemake/epochcost.lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        busy = home.run(*map(str, command), *words, check=False)
    assert busy.returncode == 1
    assert f"{address} is still at work" in busy.stderr
    home.run(*map(str, command), *words)
    assert not lock.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody@127.0.0.1", "gce-t5"], "unknown hardware 'gce-t5'; did you mean 'gce-t4'"),
        (["nobody@127.0.0.1", "gce-t4"], "nobody@127.0.0.1 cannot be reached"),
        (["nobody@127.0.0.1", "gce-t4", "-C", "runs=2"], "-C: write settings after --config"),
        (
            ["me@127.0.0.1", "gce-t4", "--config", "runs=2", "--config", "seed=2"],
            "--config is given twice",
        ),
    ],
)
def test_mistakes_are_one_line(ssh, home, words, message):
    done = home.run("python", "scripts/remote.py", *words, "--ssh", ssh, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_host_that_is_not_what_it_is_said_to_be_measures_nothing(ssh, host, home):
    address, folder = host
    done = home.run(
        "python", "scripts/remote.py", address, "gce-t4", "--ssh", ssh, "--folder", str(folder),
        "--config", "data={source: synthetic}", "workloads=mnist_mlp", check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "this machine is not gce-t4" in done.stderr
    assert not [path for path in home.records() if path.startswith("gce-t4")]


def test_a_script_is_measured_on_a_host_and_its_record_comes_home(ssh, host, home):
    address, folder = host
    mine = home.folder / "mine"
    mine.mkdir()
    loop = "import epochcost, time\nfor _ in epochcost.steps(range(40)):\n    time.sleep(0.01)\n"
    (mine / "train.py").write_text(f"{loop}print('the end')\n")
    (mine / "requirements.txt").write_text("")
    command = ["python", "../scripts/measure.py", "--host", address, "--ssh", ssh]
    command += ["--folder", str(folder), "--environment", "requirements.txt"]
    done = home.run(*command, "--", "python", "train.py", inside="mine")
    assert "the end" in done.stdout
    assert "epochcost: train took " in done.stderr
    (path,) = (home.folder / "results/runs/local/train/own").glob("*.json")
    assert records.read(path).own.steps == 40
    assert f"{address} was in use for " in done.stdout
    assert not list(folder.glob("mine")), "it lies apart from the clone's own files"
