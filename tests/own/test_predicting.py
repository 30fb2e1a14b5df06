"""Sleeping loops, whose time is known: the prediction of the whole is within 2 % of it."""

import pytest

from epochcost.statistics import own as whole

SLEEP = """
    import time, torch
    def until(seconds, since=[time.perf_counter()]):
        since[0] += seconds
        time.sleep(max(0, since[0] - time.perf_counter()))
    optimizer = torch.optim.SGD()
    until.__defaults__[0][0] = time.perf_counter()
"""
LOOPS = {
    "alike": ("for step in range(2000):\n    until(.02); optimizer.step()", 40, 0),
    "warm-up, evaluations and checkpoints": (
        "for step in range(2000):\n    until(.02 + .05 * (step < 15)); optimizer.step()\n"
        "    if step % 100 == 99: until(.4); torch.save(step, 'last')",
        40 + 15 * 0.05 + 19 * 0.4,
        0.4,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_the_prediction_of_a_sleeping_loop(script, name):
    loop, seconds, end = LOOPS[name]
    text = SLEEP + "".join(f"    {line}\n" for line in loop.splitlines())
    own = script(text).watch("stable", seconds=60)
    assert own.ended == "stable"
    found = whole.total(own, 0.1)
    assert (found.steps, found.predicted, found.lower_limit) == (2000, True, False)
    assert found.loop_s == pytest.approx(seconds, rel=0.02)
    assert found.end_s == pytest.approx(end, abs=0.03)
    assert found.low_s < found.start_s + seconds < found.high_s
