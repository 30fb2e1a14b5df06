"""Slurm's accounting, as most clusters have it: a database, and the daemon that writes to it."""

import getpass
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("mariadb-install-db", "mariadbd", "mariadb", "slurmdbd", "sacctmgr", "sacct")
ACCOUNT = "bench"
# What the controller is told of it; jobs of nobody's account are refused.
CONFIGURATION = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass={root}/munge.socket
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations
JobAcctGatherType=jobacct_gather/linux
"""
WITHOUT = """\
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
"""
_DAEMON = """\
AuthType=auth/munge
AuthInfo={root}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database_port}
StorageUser=slurm
StoragePass=x
StorageLoc=accounting
LogFile={root}/slurmdbd.log
PidFile={root}/slurmdbd.pid
"""
_TABLES = """\
create database accounting;
create user 'slurm'@'127.0.0.1' identified by 'x';
grant all on accounting.* to 'slurm'@'127.0.0.1';
"""

Run = Callable[..., str]


def start(root: Path, ports: tuple[int, int], run: Run, environment: dict[str, str]) -> None:
    """Start database and daemon below a folder in which munge runs; the cluster gets an account.

    Args:
        ports: of the daemon and of the database.
        run: runs a command in the environment, and raises where it fails.
    """
    port, database_port = ports
    socket = root / "mysql.socket"
    _start_database(root, database_port, socket, run, environment)
    run("mariadb", f"--socket={socket}", "--execute", _TABLES)
    settings = root / "slurmdbd.conf"
    settings.touch(mode=0o600)
    settings.write_text(
        _DAEMON.format(root=root, port=port, database_port=database_port, user=getpass.getuser())
    )
    run("slurmdbd")
    _wait_for(lambda: run("sacctmgr", "-n", "show", "cluster"))
    for what in (
        ("cluster", "epochcost"),
        ("account", ACCOUNT),
        ("user", getpass.getuser(), f"account={ACCOUNT}"),
    ):
        run("sacctmgr", "--immediate", "add", *what)


def _start_database(
    root: Path, port: int, socket: Path, run: Run, environment: dict[str, str]
) -> None:
    where = [f"--datadir={root}/mysql", f"--user={getpass.getuser()}"]
    run("mariadb-install-db", "--no-defaults", *where, "--auth-root-authentication-method=normal")
    with open(root / "mysql.log", "w") as log:
        subprocess.Popen(
            [
                *("mariadbd", "--no-defaults", *where, f"--socket={socket}", f"--port={port}"),
                *("--bind-address=127.0.0.1", f"--pid-file={root}/mysql.pid"),
            ],
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _wait_for(lambda: run("mariadb", f"--socket={socket}", "--execute", "select 1"))


def _wait_for(answer: Callable[[], str]) -> None:
    """Until a command does not fail any more; raises what it said last after two minutes."""
    end = time.monotonic() + 120
    while True:
        try:
            answer()
            return
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
