"""Whether enough of a training was seen."""

from itertools import pairwise

# The step time is stable when so many stretches differ by no more than this part of their median;
_STRETCHES, _STEPS, _DIFFERENCE = 5, 20, 0.1
# or, on a machine where single ones do, when their median is that of as many before.
_MEDIANS = 0.05


class Enough:
    """Looks at the stretches of a training as they end."""

    def __init__(self, limits: dict) -> None:
        self.limits = limits
        self.begin(0.0)

    def begin(self, first: float) -> None:
        """The first step ended at this time."""
        self.first = first
        self.recent: list[tuple[int, float]] = []
        self.gaps = 0
        self.until: int | None = None

    def add(self, steps: int, seconds: float, gaps: list[int]) -> None:
        """A stretch: its steps, seconds without gaps, and after how many steps gaps were."""
        self.recent = [*self.recent[1 - 2 * _STRETCHES :], (steps, seconds)]
        self.gaps += len(gaps)

    def reason(self, marks, now: float) -> str | None:
        """Why the training may end here; None: it goes on."""
        left = self.limits["seconds"] - (now - self.first)
        if self.limits["stop_after"] != "stable":
            return None
        if left <= 0:
            return "limit"
        if not self.steady():
            return None
        if self.until is None:
            self.until = self._gap_within(left, marks.facts.next_gap(marks), marks.steps)
        return "stable" if marks.steps >= self.until else None

    def steady(self) -> bool:
        """Whether the last stretches are alike, and not still getting faster."""
        last = self.recent[-_STRETCHES:]
        if len(last) < _STRETCHES or sum(number for number, _ in last) < _STEPS:
            return False
        each = [seconds / number for number, seconds in self.recent]
        before, each = each[:-_STRETCHES], each[-_STRETCHES:]
        middle = _middle(each)
        if len(before) == _STRETCHES and abs(_middle(before) - middle) <= _MEDIANS * middle:
            return True
        falling = all(one > next_ for one, next_ in pairwise(each))
        alike = max(each) - min(each) <= _DIFFERENCE * middle
        # Falling by almost nothing is chance.
        return alike and not (falling and each[0] - each[-1] > _DIFFERENCE / 2 * middle)

    def _gap_within(self, left: float, due: int | None, steps: int) -> int:
        """The step to wait for: that after the first gap, if it comes within the time left."""
        if self.gaps or due is None:
            return steps
        each = sum(seconds for _, seconds in self.recent) / sum(n for n, _ in self.recent)
        return due + 2 if (due + 2 - steps) * each < left else steps


def _middle(each: list[float]) -> float:
    """The median of so many stretches."""
    return sorted(each)[_STRETCHES // 2]
