"""Counts steps, and puts them together in stretches between two borders.

A hook tells `Marks.mark` that one of its sources did a step. One source is the cycle: its steps are
those of the training. At a border the device is waited for, the stretch goes to the journal, and
rank 0 decides whether enough was seen.
"""

import atexit
import mmap
import os
import sys
import time
from array import array

from . import facts, gaps
from .enough import Enough
from .journal import Journal
from .stop import stop

clock = time.perf_counter
# How sure a source's steps are those of the training; the surest one is believed.
EXPLICIT, TRAINER, OPTIMIZER, BAR = 5, 4, 3, 2
# Seconds of a stretch, at least, and as a part of the time since the first step.
_STRETCH_S, _SHARE = 1.0, 0.01
# A device that cannot be waited for from outside runs ahead of short stretches.
_STRETCH_JAX_S = 2.0
_MOST_STEPS = 20_000
# Of so many steps one is timed to know what the watching costs: two to the power, minus one.
_SAMPLE = 63
# Others' steps without one of the cycle, after which it has ended; seconds, and times its step.
_STALLED, _PATIENCE_S, _PATIENCE_STEPS = 20, 2.0, 10
# Stretches until which a rarer source may take over all that was counted.
_EARLY = 10
# After so many errors of ours the script is left alone.
_MOST_FAILURES = 20
# The step at which nobody stops.
NEVER = 2**63


class Source:
    """What does steps: an optimizer, a trainer, a loop. first: when its first one ended."""

    __slots__ = ("before", "count", "first", "name", "rank")

    def __init__(self, name: str, rank: int) -> None:
        self.name, self.rank = name, rank
        self.count = self.before = 0  # before: this stretch
        self.first = None


class Marks:
    """The steps of this process.

    Hooks write here, too: `waited`, seconds that were waited for batches since the last border;
    `batches`, those used since the last step; `kind`, what else was done since then.
    """

    def __init__(self, folder: str, limits: dict) -> None:
        self.folder, self.limits = folder, limits
        self.problems: list[str] = []
        self.failures = 0
        self.on = True
        self.reset()

    def reset(self) -> None:
        """Nothing was counted in this process: it begins, or was forked."""
        self.sources: dict = {}
        self.cycle: Source | None = None
        self.journal: Journal | None = None
        self.control = (NEVER,)
        self.facts = facts.Facts(self.limits)
        self.enough = Enough(self.limits)
        self.steps = self.begin_steps = self.stretches = self.others = 0
        self.first = self.last = self.begin = self.border_at = 0.0
        self.lengths, self.kinds, self.odd = array("d"), {}, {}
        self.waited = 0.0
        self.batches, self.usual_batches, self.all_batches = 0, 1, 0
        self.kind: str | None = None
        self.sampled, self.samples, self.border_s = 0.0, 0, 0.0
        self.ending: str | None = None
        self.stops = 0

    # -- what hooks call ---------------------------------------------------------------------

    def source(self, key, name: str, rank: int) -> Source:
        """The source of a key, made at its first step."""
        found = self.sources.get(key)
        if found is None:
            found = self.sources[key] = Source(name, rank)
        return found

    def mark(self, source: Source, many: int = 1) -> None:
        """So many steps of a source ended. The only thing raised is the stop."""
        if not self.on:
            return
        try:
            now = clock()
            source.count += many
            if source is not self.cycle:
                self._other(source, now)
                return
            self.steps = steps = self.steps + many
            self.others = 0
            lengths = self.lengths
            lengths.append(now - self.last)
            self.last = now
            if self.kind is not None or self.batches != self.usual_batches:
                self._note(len(lengths) - 1)
            self.batches = 0
            if now >= self.border_at or steps >= self.control[0]:
                self._border(now)
            elif not steps & _SAMPLE:
                self.sampled += clock() - now
                self.samples += 1
        except Exception as error:
            self.problem("counting", error)

    def during(self, kind: str) -> None:
        """What is done now, between two steps, is no training."""
        if self.kind != "evaluation":
            self.kind = kind

    def problem(self, where: str, error: BaseException | str) -> None:
        """Note what went wrong with the watching; after several, it ends."""
        text = f"{where}: {error if isinstance(error, str) else repr(error)}"[:300]
        if text not in self.problems:
            self.problems.append(text)
        self.failures += 1
        if self.failures > _MOST_FAILURES:
            self.on = False

    # -- where a stretch begins and ends -----------------------------------------------------

    def _note(self, place: int) -> None:
        if self.kind is not None:
            self.kinds[place], self.kind = self.kind, None
        if self.batches != self.usual_batches:
            self.odd[place] = self.batches

    def _other(self, source: Source, now: float) -> None:
        """A step of a source that is not the cycle."""
        if source.first is None:
            source.first = now
        if self.cycle is None or source.rank > self.cycle.rank:
            self._start(source, now)
        elif source.rank == self.cycle.rank:
            self.others += 1
            # Of bars the innermost has most turns; a shorter one may be an evaluation's.
            rival = source.rank != BAR or source.count > self.cycle.count
            if self.others >= _STALLED and rival and now - self.last > self._patience():
                self._border(now, stalled=True)

    def _patience(self) -> float:
        each = (self.last - self.first) / max(1, self.steps)
        return max(_PATIENCE_S, _PATIENCE_STEPS * each)

    def _start(self, source: Source, now: float) -> None:
        """The first step of the surest source so far: all before was the start."""
        if self.journal is None:
            self._open()
        facts.synchronise()
        self.cycle, self.steps, self.stretches = source, source.count, 0
        self.first = source.first = self.last = clock()
        self.kind, self.batches = None, 0
        self._begin_stretch(self.first)
        self.enough.begin(self.first)
        self.journal.write({"first": self.first, "steps": self.steps, "source": source.name})
        self.journal.write({"facts": self.facts.now(self)})
        if self.steps >= self.control[0] and not self.ending:
            self._end()

    def _begin_stretch(self, now: float) -> None:
        self.begin, self.begin_steps = now, self.steps
        for source in self.sources.values():
            source.before = source.count
        self.lengths, self.kinds, self.odd, self.waited = array("d"), {}, {}, 0.0
        shortest = _STRETCH_JAX_S if "jax" in sys.modules else _STRETCH_S
        self.border_at = now + max(shortest, _SHARE * (now - self.first))

    def _border(self, now: float, stalled: bool = False) -> None:
        """End a stretch; begin the next, or end the script."""
        facts.synchronise()
        end = clock()
        if self.lengths:
            self.lengths[-1] += end - now
        self.last = end
        cycle = self.cycle
        if self._choose(end, stalled):
            self._write_stretch(end)
            self._begin_stretch(end)
        if self.stretches and self.facts.due(end, self.first):
            self.journal.write({"facts": self.facts.now(self)})
        # Where the cycle is another one now, this is not the place of its step.
        reason = self._decide(end) if self.cycle is cycle else None
        self.border_s += clock() - end
        if reason is not None or self.steps >= self.control[0]:
            self._end()

    def _choose(self, now: float, stalled: bool = False) -> bool:
        """Which source's steps count; whether the stretch has any."""
        cycle = self.cycle
        if stalled:  # the cycle has ended, as that of a first training does
            alive = [s for s in self._rivals() if s is not cycle]
            self.cycle = min(alive, key=_done)
            self.steps += self.others // len(alive)
            self.others = 0
            return self.steps > self.begin_steps
        pick = max if cycle.rank == BAR else min  # of nested bars the innermost counts
        chosen = pick([cycle, *self._rivals()], key=_done)
        if chosen is not cycle and self.stretches <= _EARLY:
            self._count_again(chosen, now)
        return self.steps > self.begin_steps

    def _count_again(self, source: Source, now: float) -> None:
        """Another source's steps are those of the training, since its own first one."""
        self.cycle, self.steps, self.stretches = source, source.count, 0
        self.begin = self.first = source.first
        self.begin_steps = 1
        if self.steps == 1:
            self.last = self.first
        self.lengths, self.kinds, self.odd = array("d"), {}, {}
        self.journal.write({"first": self.first, "steps": 1, "source": source.name})
        self.enough.begin(self.first)

    def _rivals(self) -> list[Source]:
        """As sure as the cycle, with steps in this stretch."""
        rank = self.cycle.rank
        return [s for s in self.sources.values() if s.rank == rank and s.count > s.before]

    def _write_stretch(self, end: float) -> None:
        """The stretch and its gaps to the journal; what the next one is measured by."""
        steps, seconds = self.steps - self.begin_steps, end - self.begin
        if len(self.odd) > len(self.lengths) // 2:
            self.usual_batches = gaps.usual(self.odd.values())
        # Turns of a loop are marked at their end, after what they do beside training.
        begin = self.begin_steps + (self.cycle.rank in (EXPLICIT, BAR))
        seen = [
            (begin + place, length, kind)
            for place, length, kind in gaps.found(
                self.lengths, self.kinds, self.odd, self.usual_batches
            )
        ]
        gaps_s = min(sum(gap[1] for gap in seen), seconds)
        waited = min(self.waited, seconds)
        self.journal.write({"stretch": [steps, seconds, waited, gaps_s], "gaps": seen})
        self.stretches += 1
        self.enough.add(steps, seconds - gaps_s, [gap[0] for gap in seen])

    def _decide(self, now: float) -> str | None:
        """Whether all ranks are to stop, and why; only the first rank decides."""
        if self.facts.rank or self.ending:
            return None
        self.facts.plan(self, now)
        self.control[1:6] = array("Q", self.facts.progress(self, now))
        if self.control[0] < NEVER:
            return None
        reason = self.enough.reason(self, now)
        if reason:
            self.journal.write({"reason": reason})
            # Others may be a step further by now; a step waits for all of them, mostly.
            self.control[0] = self.steps + (2 if self.facts.world > 1 else 0)
        return reason if self.facts.world == 1 else None

    # -- the journal, and the end ------------------------------------------------------------

    def _open(self) -> None:
        """The journal of this process, and what all of them share."""
        path = os.path.join(self.folder, "control")
        with open(path, "r+b") as file:
            self.control = memoryview(mmap.mmap(file.fileno(), 64)).cast("Q")
        self.facts.begin()
        self.journal = Journal(self.folder, self.facts.rank)
        atexit.register(self._at_exit, os.getpid())
        if "multiprocessing.util" in sys.modules:  # whose children end without atexit
            finalize = sys.modules["multiprocessing.util"].Finalize
            finalize(None, self._at_exit, (os.getpid(),), exitpriority=0)

    def _end(self) -> None:
        """Enough was seen: end the script at this step."""
        self.stops += 1
        self.ending = "stop"
        if self.stops == 1:
            self.facts.plan(self, clock(), last=True)
            self.journal.write({"facts": self.facts.now(self)})
            self.journal.write({"stop": self.steps, "at": clock()})
        stop(self.stops)

    def _at_exit(self, pid: int) -> None:
        """The script's own end: what is left of the last stretch."""
        if os.getpid() != pid or self.ending or self.journal is None:
            return
        try:
            self.ending = "end"
            stalled = self.others >= _STALLED and self.cycle.rank != BAR
            if self._choose(self.last, stalled):
                self._write_stretch(self.last)
            self.journal.write({"facts": self.facts.now(self), "at": self.last})
        except Exception as error:
            self.problem("the end", error)


def _done(source: Source) -> int:
    return source.count - source.before
