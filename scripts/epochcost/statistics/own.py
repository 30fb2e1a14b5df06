"""What was seen of an own training says what the whole takes."""

import itertools
import math
from dataclasses import dataclass
from statistics import fmean, median

from epochcost.record.types import Gap, Own, Stretch
from epochcost.statistics import spread
from epochcost.statistics.spread import REACH

# Stretches at the begin that are so much slower than later ones are warm-up.
_WARM = 0.1
# With fewer stretches, nothing is known of how a step's time varies.
_FEWEST = 3
# Gaps that nothing explains are repeated where their distances differ by no more than this part.
_REGULAR = 0.1
# What marks a step after all that a turn of a loop does, an evaluation included.
_AT_THE_END_OF_TURNS = ("epochcost.steps", "tqdm")
# What the times are of where nobody knows how many steps there are.
UNIT_STEPS = 1000
_NOT_FINISHED = ("stable", "limit", "steps", "failed")


@dataclass(frozen=True)
class Total:
    """Seconds of an own training from its launch to its end, all of its command's steps.

    steps: that the command does, without those of earlier processes. start_s: to the end of its
    first step. loop_s: from there to the end of its last one, gaps included. end_s: after it; of a
    prediction only the evaluation or checkpoint that is due then. low_s, high_s: of start and loop,
    holding 95 of 100; None where they were measured. step_s: a step once warmed up, with its share
    of the gaps. lower_limit: whether an evaluation or a checkpoint is to come that was not seen
    yet, so that the whole takes longer.

    Where nothing says how many steps there are, `steps` is None and the times are of UNIT_STEPS;
    without a step after the first one they are None.
    """

    steps: int | None
    start_s: float
    loop_s: float | None
    end_s: float | None
    low_s: float | None
    high_s: float | None
    step_s: float
    predicted: bool
    lower_limit: bool


def total(own: Own, deviation: float) -> Total:
    """The whole training: as measured if it finished, else predicted.

    The prediction is what was seen, as many more steps as are planned at the pace once warmed up,
    and the gaps that are due among them.

    Args:
        deviation: how far predictions lie from full runs, as the standard deviation of the
            logarithm of their ratio (`spread.PREDICTED`). The interval is never narrower.
    """
    seen_s = sum(stretch.seconds for stretch in own.stretches)
    if own.ended not in _NOT_FINISHED:
        each = _pace(own, _warmed_up(own.stretches)).with_gaps_s or seen_s
        return Total(own.steps, own.start_s, seen_s, own.end_s, None, None, each, False, False)
    pace = _pace(own, _warmed_up(own.stretches))
    late = own.period is not None and own.resumed_at % own.period + own.steps < own.period
    if not pace.step_s:
        return Total(None, own.start_s, None, None, None, None, 0.0, True, late)
    if own.planned is None:
        loop_s = UNIT_STEPS * pace.with_gaps_s
        low, high = _range(own.start_s, loop_s, UNIT_STEPS * pace.error_s, deviation, pace)
        return Total(None, own.start_s, loop_s, 0.0, low, high, pace.with_gaps_s, True, late)
    whole = max(own.steps, own.planned - own.resumed_at)
    more = whole - own.steps
    due, last = pace.gaps_due(whole)
    if last and own.counted_by not in _AT_THE_END_OF_TURNS:
        due -= 1
        end_s = pace.gap_s
    else:
        end_s = 0.0
    loop_s = seen_s + more * pace.step_s + due * pace.gap_s
    low, high = _range(own.start_s, loop_s, more * pace.error_s, deviation, pace)
    return Total(whole, own.start_s, loop_s, end_s, low, high, pace.with_gaps_s, True, late)


def whole(own: Own) -> Total:
    """The same, as far off as the predictions were that came with the clone."""
    return total(own, spread.shipped()[spread.PREDICTED].hour)


@dataclass(frozen=True)
class _Pace:
    """Seconds of a step without gaps, and of a gap.

    error_s: standard error of step_s. stretches: that it was seen in. period: steps from gap to
    gap, 0 for none; last: after how many steps the last one was.
    """

    step_s: float
    error_s: float
    stretches: int
    gap_s: float
    period: float
    last: int
    with_gaps_s: float

    def gaps_due(self, whole: int) -> tuple[int, bool]:
        """How many gaps are to come in so many steps, and whether the last is after all of them."""
        if not self.period:
            return 0, False
        due = math.floor((whole - self.last) / self.period + 1e-9)
        return due, due > 0 and self.last + due * self.period > whole - 0.5


def _pace(own: Own, warm: int) -> _Pace:
    """The pace after so many stretches of warm-up."""
    later = own.stretches[warm:]
    steps = sum(stretch.steps for stretch in later)
    if not steps:
        return _Pace(0.0, 0.0, 0, 0.0, 0.0, 0, 0.0)
    gaps = _repeated(own.gaps)
    period = _period(own, gaps)
    begin = own.steps - steps
    # What is not repeated, as far as anybody knows, may be in any step.
    kept = sum(gap.seconds for gap in gaps if gap.step >= begin)
    step_s = max(0.0, sum(stretch.seconds for stretch in later) - kept) / steps
    counted = gaps[1:] if len(gaps) > 2 else gaps  # the first one warms up
    gap_s = fmean(gap.seconds for gap in counted) if gaps else 0.0
    share = gap_s / period if period else 0.0
    last = gaps[-1].step if gaps else 0
    return _Pace(step_s, _error(later), len(later), gap_s, period, last, step_s + share)


def _warmed_up(stretches: tuple[Stretch, ...]) -> int:
    """How many stretches at the begin are warm-up: at most half of them."""
    each = [_step_s(stretch) for stretch in stretches]
    half = len(each) // 2
    if not half:
        return 0
    usual = median(each[half:])
    return next((n for n in range(half) if abs(each[n] - usual) <= _WARM * usual), half)


def _step_s(stretch: Stretch) -> float:
    return (stretch.seconds - stretch.gaps_s) / stretch.steps


def _error(stretches: tuple[Stretch, ...]) -> float:
    """The standard error of their mean step; neighbours are alike, so that they tell less."""
    if len(stretches) < 2:
        return 0.0
    each = [_step_s(stretch) for stretch in stretches]
    mean = fmean(each)
    off = [value - mean for value in each]
    variance = sum(value**2 for value in off) / (len(off) - 1)
    if not variance:
        return 0.0
    products = sum(a * b for a, b in itertools.pairwise(off))
    alike = min(0.9, max(0.0, products / sum(value**2 for value in off)))
    effective = max(1.0, len(each) * (1 - alike) / (1 + alike))
    return math.sqrt(variance / effective)


def _range(
    start_s: float, loop_s: float, error_s: float, deviation: float, pace: _Pace
) -> tuple[float, float]:
    """Of start and loop in another run, too, which may take less than this one took so far."""
    both_s = start_s + loop_s
    factor = math.exp(REACH * math.hypot(error_s / both_s, _between(deviation, pace)))
    return both_s / factor, both_s * factor


def _between(deviation: float, pace: _Pace) -> float:
    """The deviation of a prediction; twice as much where few stretches were seen."""
    return deviation if pace.stretches >= _FEWEST else 2 * deviation


def _repeated(gaps: tuple[Gap, ...]) -> list[Gap]:
    """The gaps that come again: evaluations and checkpoints; others if they are regular."""
    known = [gap for gap in gaps if gap.kind != "unknown"]
    if known:
        return known
    steps = [gap.step for gap in gaps]
    apart = [after - before for before, after in itertools.pairwise(steps)]
    if len(steps) == 2:  # the first one is as far from the begin as from the second
        apart.append(steps[0])
    regular = len(apart) > 1 and max(apart) - min(apart) <= max(2, _REGULAR * median(apart))
    return list(gaps) if regular else []


def _period(own: Own, gaps: list[Gap]) -> float:
    """Steps from one of these gaps to the next; 0 without gaps."""
    if not gaps:
        return 0.0
    if own.period:
        return float(own.period)
    steps = [gap.step for gap in gaps]
    if len(steps) == 1:
        return float(max(1, own.resumed_at + steps[0]))
    return float(median(after - before for before, after in itertools.pairwise(steps)))
