"""A real Slurm on this machine, for as long as a test needs it: no root, no installed service.

One controller and several virtual nodes, all on this host. GPUs are device files that every Linux
has, so that the scheduler hands them out as it does real ones; no training can use them.

Times are long, so that a node of a busy machine is late, not lost: Slurm may never start a job that
was on a lost one again, although the node is back ("BadConstraints"). A node that is down stays so
until it is told to come back: the new start of a job must not meet what is left of the old one
("Duplicate jobid").
"""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
from expect import wait_until
from fleet import accounting

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue")
NODES = ("cpu16-0", "cpu1-0", "k80-0")
EPOCHS = 10  # of a full training that a test sends: enough for all that may befall it
_PATH = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
_DEVICES = ("/dev/null", "/dev/zero")
_CONFIGURATION = """\
ClusterName=epochcost
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmctldPort={ports[0]}
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
SlurmctldTimeout=30
SlurmdTimeout=600
MessageTimeout=60
BatchStartTimeout=120
UnkillableStepTimeout=600
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
ReturnToService=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0,bf_interval=2
GresTypes=gpu
SlurmdParameters=config_overrides
MinJobAge=600
KillWait=5
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=cpu16-0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cores} \
RealMemory=12000
NodeName=cpu1-0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=12000
NodeName=k80-0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[3]} CPUs={cores} \
RealMemory=12000 Gres=gpu:k80:2
PartitionName=cpu16 Nodes=cpu16-0 Default=YES MaxTime=INFINITE State=UP PriorityTier=1 \
PreemptMode=REQUEUE
PartitionName=urgent Nodes=cpu16-0 MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=off
PartitionName=cpu1 Nodes=cpu1-0 MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=k80 Nodes=k80-0 MaxTime=INFINITE State=UP PriorityTier=1
{accounting}"""


def missing(programs: tuple[str, ...] = PROGRAMS) -> str:
    """Which of its programs this machine lacks; empty where it has all."""
    return ", ".join(name for name in programs if not shutil.which(name, path=_PATH))


class Slurm:
    """A running cluster below a folder; with accounting where this machine has what it takes.

    environment: what a process needs to use it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        programs = root / "bin"
        programs.mkdir()
        self.environment = {
            "SLURM_CONF": str(root / "slurm.conf"),
            "PATH": f"{programs}:{Path(sys.executable).parent}:{_PATH}",
        }
        # Snakemake's plugin takes SLURM_CONF away from the step within a job; clusters have
        # theirs in /etc.
        for name in ("srun",):
            wrapper = programs / name
            real = shutil.which(name, path=_PATH)
            wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={root}/slurm.conf exec {real} "$@"\n')
            wrapper.chmod(0o755)
        self.accounting = not missing(accounting.PROGRAMS)
        ports = _free_ports(3 + len(NODES))
        self._configure(ports)
        self._start_munge()
        if self.accounting:
            accounting.start(root, (ports[-2], ports[-1]), self.run, self.environment)
        self.start_controller()
        for node in NODES:
            (root / "spool" / node).mkdir(parents=True)
            self.start_node(node)
        self._wait_until_idle()

    def _configure(self, ports: list[int]) -> None:
        text = accounting.CONFIGURATION if self.accounting else accounting.WITHOUT
        values = {
            "host": socket.gethostname().split(".")[0],
            "user": getpass.getuser(),
            "root": self._root,
            "ports": ports,
            "cores": os.cpu_count(),
            "accounting": text.format(root=self._root, port=ports[-2]),
        }
        (self._root / "slurm.conf").write_text(_CONFIGURATION.format(**values))
        (self._root / "gres.conf").write_text(
            "".join(f"NodeName=k80-0 Name=gpu Type=k80 File={path}\n" for path in _DEVICES)
        )
        (self._root / "state").mkdir()

    def _start_munge(self) -> None:
        key = self._root / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self._root.chmod(0o755)
        files = {
            "key-file": key,
            "socket": self._root / "munge.socket",
            "pid-file": self._root / "munged.pid",
            "log-file": self._root / "munged.log",
            "seed-file": self._root / "munge.seed",
        }
        options = [f"--{name}={path}" for name, path in files.items()]
        self.run("munged", "--force", "--num-threads=2", *options)

    def start_controller(self) -> None:
        self.run("slurmctld", "-f", str(self._root / "slurm.conf"))

    def stop_controller(self) -> None:
        self.run("scontrol", "shutdown", "slurmctld")
        self.wait(lambda: not (self._root / "slurmctld.pid").exists(), "the controller ends")

    def start_node(self, name: str) -> None:
        self.run("slurmd", "-f", str(self._root / "slurm.conf"), "-N", name)

    def run(self, *command: str) -> str:
        """Run a command of Slurm's; returns what it says."""
        done = subprocess.run(
            command, env=os.environ | self.environment, capture_output=True, text=True
        )
        if done.returncode:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def jobs(self) -> dict[int, dict[str, str]]:
        """All jobs since the start, as `scontrol show job` tells them."""
        found = {}
        for line in self.run("scontrol", "show", "job", "--oneliner").splitlines():
            facts = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if "JobId" in facts:
                found[int(facts["JobId"])] = facts
        return found

    def lose_node(self, name: str, job: str) -> None:
        """Take a node and what it runs of a job, as a failed power supply would; give it back."""
        # As the steps of a job call themselves: slurmstepd: [4.batch]
        step = f"slurmstepd: [{job}."
        there = psutil.process_iter(["cmdline"])
        steps = [one for one in there if " ".join(one.info["cmdline"] or []).startswith(step)]
        assert steps, self.story()
        running = steps + [child for one in steps for child in one.children(recursive=True)]
        self.run("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=test")
        for process in running:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        wait_until(lambda: all(map(_is_over, running)), "what was killed ends")
        self.run("scontrol", "update", f"NodeName={name}", "State=RESUME")

    def story(self) -> str:
        """What a wait that was in vain must tell: states, reasons, and the end of each log."""
        told = [self.run("sinfo", "-N", "-o", "%N %T %E"), self.run("squeue", "-o", "%i %T %r")]
        for path in sorted(self._root.glob("slurm*.log")):
            told.append(f"{path.name}:\n{path.read_text()[-3000:]}")
        return "\n".join(told)

    def _wait_until_idle(self) -> None:
        self.wait(lambda: self._states() == {"idle"}, "all nodes are idle")

    def _states(self) -> set[str]:
        return set(self.run("sinfo", "-h", "-N", "-o", "%T").split())

    def wait(
        self, reached: Callable[[], bool], what: str, in_vain: Callable[[], bool] = lambda: False
    ) -> None:
        """As `expect.wait_until`; in vain, it tells what Slurm says."""
        try:
            wait_until(reached, what, in_vain, every_s=0.1)
        except AssertionError as error:
            error.add_note(self.story())
            raise

    def stop(self) -> None:
        """End everything that was started, also what jobs left behind."""
        for job in self.jobs().values():
            if job["JobState"] in ("RUNNING", "PENDING", "COMPLETING"):
                self.run("scancel", "--signal=KILL", job["JobId"])
        for path in [*self._root.glob("slurmd-*.pid"), *self._root.glob("*.pid")]:
            with_pid = path.read_text().strip() if path.exists() else ""
            if with_pid:
                subprocess.run(["kill", with_pid], capture_output=True)


def _is_over(process: psutil.Process) -> bool:
    """Whether it has ended, be it that nobody asks for its status, as in some containers."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
