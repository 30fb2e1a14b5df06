"""The stop: gentle, at the border of a step, and never taken for the end of the training."""

import os
import signal
import sys
import threading

import pytest
from expect import wait_until

from epochcost.errors import InputError
from epochcost.own.inject.probe.enough import Enough

BEGIN = """
    import atexit, sys, time, torch
    optimizer = torch.optim.SGD()
    atexit.register(print, "atexit")
"""


def test_a_stop_runs_what_cleans_up_and_nothing_else(script, capfd):
    own = script(
        BEGIN
        + """
    try:
        for step in range(100):
            optimizer.step()
            if step == 5: open("written.txt", "w").close()
    except Exception:
        print("never")
    except KeyboardInterrupt:
        print("never")
    finally:
        print("finally", step)
    print("never")
    """
    ).watch(20)
    said = capfd.readouterr()
    assert said.out == "finally 19\natexit\n"
    assert said.err == (
        "epochcost: stopped the training after step 20: as many as asked for; "
        "meanwhile appeared or changed: written.txt\n"
    )
    assert (own.ended, own.steps, own.status, own.end_s) == ("steps", 20, 75, None)
    assert own.planned == 100
    assert own.planned_by.startswith("the loop of script.py:")


@pytest.mark.parametrize("caught", ["except BaseException: pass", "except: pass"])
def test_who_catches_everything_is_ended_by_a_signal(script, capfd, caught):
    own = script(
        BEGIN
        + f"""
    for step in range(100_000):
        try:
            optimizer.step()
        {caught}
    print("never")
    """
    ).watch(20)
    assert "never" not in capfd.readouterr().out
    assert (own.ended, own.status) == ("steps", 143)


def test_a_training_in_a_thread_ends_with_its_main_thread(script, capfd):
    own = script(
        BEGIN
        + """
    import threading
    def train():
        for step in range(1000):
            optimizer.step()
            time.sleep(0.01)
    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    thread.join()
    print("never")
    """
    ).watch(20)
    assert "never" not in capfd.readouterr().out
    assert own.ended == "steps"
    assert own.steps >= 20


def test_under_torchrun_the_status_is_none_to_start_again_for(script, monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    own = script(BEGIN + "    for step in range(100): optimizer.step()").watch(20)
    assert (own.ended, own.status) == ("steps", 0)


def test_all_ranks_stop_at_the_same_step(script):
    one = script("""
        import os, time, torch
        optimizer = torch.optim.SGD()
        rank = int(os.environ["RANK"])
        def turn(step):  # a collective: both do the same step
            open(f"at-{rank}-{step}", "w").close()
            while not os.path.exists(f"at-{1 - rank}-{step}"):
                time.sleep(0.001)
        try:
            for step in range(20_000):
                turn(step)
                time.sleep(0.02)
                optimizer.step()
        finally:
            open(f"last-{rank}-{step}", "w").close()
    """)
    command = f"RANK=1 WORLD_SIZE=2 {sys.executable} script.py & RANK=0 WORLD_SIZE=2"
    own = one.watch(command=["sh", "-c", f"{command} {sys.executable} script.py; wait"], seconds=2,
                    stop_after="stable")  # fmt: skip
    last = {path.name.rpartition("-")[2] for path in one.folder.glob("last-*")}
    assert last == {str(own.steps - 1)}
    assert (own.ended, own.ranks) == ("limit", (0, 1))


def test_a_second_start_stops_at_its_first_step(script):
    one = script(BEGIN + "    for step in range(100): optimizer.step()")
    again = f"{sys.executable} script.py; {sys.executable} script.py"
    own = one.watch(20, command=["sh", "-c", again])
    assert own.ended == "steps"
    assert own.status == 75


def test_the_limit_ends_what_is_never_stable(script):
    own = script("""
        import time, torch
        optimizer = torch.optim.SGD()
        for step in range(1000):
            optimizer.step()
            time.sleep(0.02 * (1 + step // 50 % 2))
    """).watch("stable", seconds=3)
    assert own.ended == "limit"
    assert own.problems == ("the step time was not stable within the time limit",)


def test_a_stable_step_time_ends_it(script):
    own = script("""
        import time, torch
        optimizer = torch.optim.SGD()
        for step in range(100_000):
            optimizer.step()
            time.sleep(0.02)
    """).watch("stable", seconds=60)
    assert own.ended == "stable"
    assert len(own.stretches) >= 5


@pytest.mark.parametrize(
    ("seconds", "stable"),
    [
        pytest.param([1.0] * 5, 5, id="alike"),
        pytest.param([1.5, 1.2, *[1.0] * 5], 7, id="after a warm-up"),
        pytest.param([1.0, 1.3, 0.9, 1.2, 1.1] * 2, 10, id="on a busy machine"),
        pytest.param([1 / (1 + 0.1 * n) for n in range(12)], None, id="ever faster"),
        pytest.param([1 + 0.1 * n for n in range(12)], None, id="ever slower"),
    ],
)
def test_when_a_step_time_is_stable(seconds, stable):
    enough = Enough({"stop_after": "stable", "seconds": 300})
    found = []
    for each in seconds:
        enough.add(10, 10 * each, [])
        found.append(enough.steady())
    assert found.index(True) + 1 == stable if stable else not any(found)


def test_ctrl_c_is_the_scripts(script, capfd):
    """A terminal sends it to the whole group, us included, who go on to wait for the script."""
    one = script("""
        import os, sys, time, torch
        torch.optim.SGD().step()
        print(os.getpid(), flush=True)
        open("began", "w").write(str(os.getpid()))
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            sys.exit(5)
    """)

    def press() -> None:
        path = one.folder / "began"
        wait_until(lambda: path.exists() and path.read_text(), "it begins")
        for process in (os.getpid(), int(path.read_text())):
            os.kill(process, signal.SIGINT)

    threading.Thread(target=press).start()
    own = one.watch()
    assert (own.status, own.ended) == (5, "failed")


def test_a_named_loop_where_python_can_watch_it(script):
    one = script("""
        total = 0
        for number in range(1000):
            total += number
        import time; time.sleep(4)
    """)
    if sys.version_info >= (3, 12):
        own = one.watch(loop=f"{one.path}:4")
        assert (own.steps, own.counted_by) == (1000, "line 4")
    else:
        words = r"--loop needs Python 3\.12 or newer; this command runs"
        with pytest.raises(InputError, match=words):
            one.watch(loop=f"{one.path}:4")


@pytest.mark.parametrize("wrong", ["soon", 0, -1, 1.5])
def test_limits_that_are_none(wrong, script):
    with pytest.raises(InputError, match="stop after stable, never, or a number of steps"):
        script("").watch(wrong)


def test_a_loop_that_is_nowhere(script):
    with pytest.raises(InputError, match="no FILE:LINE of a file that is there"):
        script("").watch(loop="nowhere.py:3")
