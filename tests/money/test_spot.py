"""The expected cost on machines that are taken away: the formula, and chance itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epochcost.money import spot
from epochcost.money.spot import Job

JOB = Job(work_s=36_000, checkpoint_s=1_800, restart_s=300)
jobs = st.builds(
    Job, work_s=st.floats(10, 1e5), checkpoint_s=st.floats(10, 1e4), restart_s=st.floats(0, 1000)
)


def simulated_seconds(job: Job, per_hour: float, draws: int) -> np.ndarray:
    """Seconds that are paid for in each of so many trainings, interruptions drawn by chance."""
    rng = np.random.default_rng(1)
    mean = 3600 / per_hour if per_hour else math.inf
    return np.array([simulated(job, mean, rng) for _ in range(draws)])


def simulated(job: Job, mean_s: float, rng: np.random.Generator) -> float:
    stretches = job.stretches()
    paid, done, starting = 0.0, 0, True
    left = rng.exponential(mean_s) if math.isfinite(mean_s) else math.inf
    while done < len(stretches):
        needed = job.restart_s if starting else stretches[done]
        if left < needed:  # taken away: start again, from the checkpoint
            paid += left
            left, starting = rng.exponential(mean_s), True
            continue
        paid, left = paid + needed, left - needed
        done, starting = done + (not starting), False
    return paid


def test_without_interruptions_all_is_done_once():
    assert spot.paid_seconds(JOB, 0) == 36_300
    assert set(simulated_seconds(JOB, 0, 3)) == {36_300}


def test_by_hand():
    """One stretch of an hour, once an hour, no start: (e - 1) hours."""
    job = Job(work_s=3600, checkpoint_s=3600, restart_s=0)
    assert spot.paid_seconds(job, 1) == pytest.approx((math.e - 1) * 3600)


@pytest.mark.parametrize("rate", [0.05, 0.5, 2.0])
@pytest.mark.parametrize(
    "job", [JOB, Job(20_000, 3_000, 0), Job(5_000, 10_000, 900)], ids=["even", "rest", "one"]
)
def test_the_formula_agrees_with_chance(job, rate):
    drawn = simulated_seconds(job, rate, 4_000)
    standard_error = drawn.std() / math.sqrt(len(drawn))
    assert drawn.mean() == pytest.approx(spot.paid_seconds(job, rate), abs=4 * standard_error)


@given(job=jobs)
def test_the_stretches_are_the_work(job):
    assert sum(job.stretches()) == pytest.approx(job.work_s, rel=1e-5)


@given(job=jobs, rate=st.floats(0, 5), more=st.floats(1, 3))
def test_more_interruptions_are_never_cheaper(job, rate, more):
    assert spot.paid_seconds(job, rate * more) >= spot.paid_seconds(job, rate) * (1 - 1e-9)


def test_what_never_ends_has_no_cost():
    assert spot.paid_seconds(Job(1e7, 1e7, 60), 3600) == math.inf


def test_short_epochs_survive_many_interruptions():
    job = Job(work_s=2, checkpoint_s=0.1, restart_s=0)
    rate = spot.break_even(job, 1, 3)
    assert spot.paid_seconds(job, rate) == pytest.approx(6)


def test_the_break_even_is_where_both_cost_the_same():
    rate = spot.break_even(JOB, 0.1, 0.3)
    assert spot.paid_seconds(JOB, rate) * 0.1 == pytest.approx(36_300 * 0.3)
