"""What happened between two steps beside training: pure functions."""

# How much longer than usual a time between two steps is that nothing explains.
_TIMES, _SECONDS = 10, 0.05
# More of them in a stretch are the way in which its loop runs, as where a device runs ahead.
_MOST_UNKNOWN = 3


def usual(values) -> float:
    """The median; 0 of nothing."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0


def found(lengths, kinds: dict[int, str], odd: dict[int, int], batches: int) -> list[tuple]:
    """The gaps of a stretch: place, seconds beyond those of a step, kind.

    Args:
        lengths: seconds from one step to the next.
        kinds: what a hook said of a place in these.
        odd: batches that a place used, where not as many as usual.
        batches: that a step uses, as a rule.
    """
    kinds = dict(kinds)
    for place, number in odd.items():
        # A loop that fetches one batch ahead has one more at its begin.
        if number > 2 * batches and number > batches + 1:
            kinds.setdefault(place, "evaluation")
    step = usual(length for place, length in enumerate(lengths) if place not in kinds)
    limit = max(_TIMES * step, step + _SECONDS)
    unknown = [p for p, length in enumerate(lengths) if length > limit and p not in kinds]
    if len(unknown) <= _MOST_UNKNOWN:
        kinds |= dict.fromkeys(unknown, "unknown")
    return [
        (place, max(0.0, lengths[place] - step), kind)
        for place, kind in sorted(kinds.items())
        if place < len(lengths)
    ]
