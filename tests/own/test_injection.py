"""Nothing of a script changes: output, status, files, signals, its own sitecustomize."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from expect import wait_until

from epochcost import ROOT
from epochcost.errors import InputError

STEPS = """
    import torch
    optimizer = torch.optim.SGD()
    for step in range(10):
        optimizer.step()
"""
TALK = """
    import os, sys, torch
    print("out")
    print("err", file=sys.stderr)
    optimizer = torch.optim.SGD()
    for step in range(30):
        optimizer.step()
        torch.save(step, f"step-{step % 3}.pt")
    try:
        for other in range(5):
            optimizer.step()
    finally:
        print("end", sys.argv, sys.path[:1], len(sys.path))
    sys.exit(7)
"""


def test_output_status_and_files_are_those_of_the_script(script, capfd):
    one = script(TALK)
    alone = one.run()
    files = one.files()
    for name in files:
        (one.folder / name).unlink()
    capfd.readouterr()
    own = one.watch()
    said = capfd.readouterr()
    assert (said.out, said.err) == (alone.stdout, alone.stderr)
    assert own.status == alone.returncode == 7
    assert one.files() == files
    assert own.ended == "failed"
    assert own.steps == 35
    assert own.files == ("step-0.pt", "step-1.pt", "step-2.pt")


def test_a_script_that_dies_of_a_signal_has_the_status_of_a_shell(script):
    own = script(STEPS + "    import os; os.kill(os.getpid(), 11)").watch()
    assert (own.status, own.ended) == (139, "failed")


def test_a_traceback_stays_and_comes_first(script, capfd):
    own = script(STEPS + "    1 / 0").watch()
    assert "ZeroDivisionError" in capfd.readouterr().err
    assert (own.status, own.ended, own.steps) == (1, "failed", 10)
    assert own.error == "ZeroDivisionError: division by zero"


def test_a_script_that_fails_before_its_first_step_has_no_result(script):
    with pytest.raises(InputError, match="ended with status 1 before its first step"):
        script("1 / 0").watch()


@pytest.mark.parametrize("content", ["print('theirs')", "1 / 0", None])
def test_the_users_own_sitecustomize_runs_as_without_us(script, capfd, monkeypatch, content):
    one = script("""
        import sys, torch
        site = sys.modules.get("sitecustomize")
        print(site and site.__file__)
        torch.optim.SGD().step()
    """)
    (one.folder / "site").mkdir()
    if content is not None:
        (one.folder / "site/sitecustomize.py").write_text(content)
    paths = [str(one.folder / "site"), os.environ["PYTHONPATH"]]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    alone = one.run()
    capfd.readouterr()
    one.watch()
    said = capfd.readouterr()
    assert (said.out, said.err) == (alone.stdout, alone.stderr)


@pytest.mark.parametrize("words", [["-m", "script"], ["-P", "script.py"], ["-u", "script.py"]])
def test_other_ways_to_start_a_script(script, words):
    one = script(STEPS)
    assert one.watch(command=[sys.executable, *words]).steps == 10


def test_a_grandchild_that_trains_is_seen_and_its_parents_are_not(script):
    one = script(STEPS)
    code = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, 'script.py']))"
    own = one.watch(command=["sh", "-c", f'{sys.executable} -c "{code}"'])
    assert (own.steps, own.status, own.world, own.ranks) == (10, 0, 1, (0,))


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_a_child_that_trains_is_seen(script, how):
    own = script(f"""
        import multiprocessing, torch
        def train():
            optimizer = torch.optim.SGD()
            for step in range(10):
                optimizer.step()
        if __name__ == "__main__":
            child = multiprocessing.get_context("{how}").Process(target=train)
            child.start(); child.join()
    """).watch()
    assert own.steps == 10


def test_children_of_a_training_count_nothing(script):
    own = script("""
        import os, torch
        optimizer = torch.optim.SGD()
        for step in range(10):
            optimizer.step()
            if step == 5 and os.fork() == 0:
                os._exit(0)
    """).watch()
    assert (own.steps, own.problems) == (10, ())


REFUSED = {
    "python -I": ([sys.executable, "-I", "script.py"], "python -I reads no PYTHONPATH"),
    "env -i": (["env", "-i", sys.executable, "script.py"], "started no Python that reads"),
    "no python": (["true"], "started no Python that reads"),
    "not there": (["no-such-command"], "no-such-command: command not found"),
    "no program": (["./script.py"], "Permission denied"),
    "fails": ([sys.executable, "-c", "1 / 0"], "status 1 before its first step"),
    "no step": ([sys.executable, "-c", "0"], r"epochcost\.steps\(loader\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_watched_gets_a_line(script, name):
    command, words = REFUSED[name]
    with pytest.raises(InputError, match=words) as caught:
        script("print()").watch(command=command)
    assert "\n" not in str(caught.value)


def test_no_step_for_too_long_ends_the_command(script):
    one = script("import time; time.sleep(60)")
    begin = time.monotonic()
    with pytest.raises(InputError, match="no training step was seen"):
        one.watch("stable", no_step_seconds=1)
    assert time.monotonic() - begin < 20


def test_two_trainings_at_once_without_ranks_are_refused(script):
    one = script(STEPS.replace("step()", "step(); import time; time.sleep(.05)"))
    both = f"{sys.executable} script.py & {sys.executable} script.py; wait"
    with pytest.raises(InputError, match=r"none has a rank: .*10 steps.*10 steps"):
        one.watch(command=["sh", "-c", both])


def test_ranks_of_one_training_are_all_seen(script):
    one = script(STEPS)
    ranks = "; ".join(f"RANK={n} WORLD_SIZE=2 {sys.executable} script.py" for n in (1, 0))
    own = one.watch(command=["sh", "-c", ranks])
    assert (own.steps, own.world, own.ranks) == (10, 2, (0, 1))


def test_a_read_only_folder_of_ours_changes_nothing_for_the_script(script, capfd, monkeypatch):
    """As if the probe could not start: no line of ours, and the script's own status."""
    one = script("print('trained')")
    monkeypatch.setenv("EPOCHCOST_OWN", "/no/such/folder")
    inject = str(ROOT / "scripts/epochcost/own/inject")
    monkeypatch.setenv("PYTHONPATH", inject)
    done = one.run()
    assert (done.stdout, done.stderr, done.returncode) == ("trained\n", "", 0)


def test_a_signal_goes_to_the_script(script):
    one = script("""
        import signal, sys, time, torch
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
        torch.optim.SGD().step()
        open("began", "w").close()
        time.sleep(30)
    """)

    def send() -> None:
        wait_until((one.folder / "began").exists, "it begins")
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=send).start()
    assert one.watch().status == 3


def test_who_asks_is_told_step_time_left_and_dollars(script, capfd):
    one = script("""
        import time, torch
        optimizer = torch.optim.SGD()
        for step in range(300):
            optimizer.step()
            time.sleep(0.01)
            if step == 150: open("half", "w").close()
    """)

    def ask() -> None:
        wait_until((one.folder / "half").exists, "half of it is done")
        os.kill(os.getpid(), signal.SIGUSR1)

    threading.Thread(target=ask).start()
    own = one.watch(price_per_hour=3600.0)
    assert own.planned == own.steps == 300
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("epochcost: step ")
    assert " of 300, " in line
    assert "s left, " in line
    assert line.endswith(" USD so far")


def test_steps_without_a_watcher_is_what_it_was_given():
    code = "import epochcost; batches = [1, 2]; assert epochcost.steps(batches) is batches"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "scripts", check=True)


def test_steps_is_found_where_the_environment_has_no_epochcost(script):
    own = script("""
        import epochcost
        class Batches:
            more = 5
            def __len__(self): return 7
            def __iter__(self): return iter(range(7))
        batches = epochcost.steps(Batches(), total=21)
        assert len(batches) == 7 and batches.more == 5
        for epoch in range(3):
            assert list(batches) == list(range(7))
    """).watch()
    assert (own.steps, own.planned, own.planned_by) == (21, 21, "epochcost.steps")
    assert own.counted_by == "epochcost.steps"
