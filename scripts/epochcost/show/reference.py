"""What is known of a GPU, as text: its data sheet, its partners, and where that comes from."""

import math
from collections import Counter

from epochcost.errors import InputError
from epochcost.estimate import Knowledge, datasheet
from epochcost.estimate.ratios import Support
from epochcost.estimate.reference import Gpu

# Lines of partners, and of sources.
_MOST_PARTNERS, _MOST_SOURCES = 14, 3
_WIDTH = 100
# Half precision, TF32 where there is any, and true FP32.
_PRECISIONS = ("tf32", "fp16", "bf16", "fp32", "unknown")
_COUNTS = (1, 2, 4, 8)


def text(name: str, known: Knowledge, titles: dict[str, str]) -> str:
    """At most 25 lines of 100 columns.

    Args:
        titles: of sources, by id.

    Raises:
        InputError: no such GPU.
    """
    gpu = known.named(name)
    if gpu is None:
        raise InputError(f"unknown GPU '{name}'; {known.nearest(name)}")
    lines = [_sheet(known.gpus[gpu]), f"Figures: {known.gpus[gpu].source}.", ""]
    lines += [*_partners(gpu, known), "", *_sources(gpu, known, titles)]
    return "\n".join(_cut(line) for line in lines)


def _sheet(gpu: Gpu) -> str:
    figures = {
        "{:g} GB": gpu.memory, "{:g} GB/s": gpu.bandwidth, "FP32 {:g}": gpu.fp32,
        "TF32 {:g}": gpu.tf32, "FP16 {:g} TFLOP/s": gpu.fp16,
    }  # fmt: skip
    told = [form.format(value) for form, value in figures.items() if value]
    return f"{gpu.name} ({gpu.vendor}, {gpu.released or 'date unknown'}): {', '.join(told)}"


def _partners(gpu: str, known: Knowledge) -> list[str]:
    """A line per GPU that a ratio is known to, those with most networks first."""
    found: dict[str, list[tuple[int, str, Support]]] = {}
    for count in _COUNTS:
        for precision in _PRECISIONS:
            ratios = known.at(precision, count)
            for partner in ratios.partners.get(gpu, ()):
                support = ratios.support(gpu, partner)
                found.setdefault(partner, []).append((count, precision, support))
    if not found:
        lacking = datasheet.missing(known.gpus[gpu], _PRECISIONS[0])
        why = f"does not help: {', '.join(lacking)}" if lacking else "is what estimates go by"
        return ["No ratio to another GPU has support.", f"Its data sheet {why}."]

    def order(partner: str) -> tuple:
        count, _, support = found[partner][0]
        return count, -len(support.by_network), partner

    lines = [f"{'speed over ' + gpu:<26}{'times':>8}{'networks':>10}  {'at':<28}also at"]
    names = sorted(found, key=order)
    lines += [_line(partner, found[partner]) for partner in names[:_MOST_PARTNERS]]
    if more := names[_MOST_PARTNERS:]:
        lines.append(f"and {len(more)} more: {', '.join(more)}")
    return lines


def _line(partner: str, found: list[tuple[int, str, Support]]) -> str:
    count, precision, support = found[0]
    software = "equal software" if support.equal else "other versions"
    where = f"{count} x {precision}, {software}"
    also = [other for number, other, _ in found[1:] if number == count]
    if many := sorted({number for number, *_ in found} - {count}):
        also.append(f"{', '.join(map(str, many))} GPUs")
    times, networks = f"{math.exp(support.value):.2f}", len(support.by_network)
    return f"{partner:<26}{times:>8}{networks:>10}  {where:<28}{'; '.join(also)}".rstrip()


def _sources(gpu: str, known: Knowledge, titles: dict[str, str]) -> list[str]:
    cells = Counter(cell.source for cell in known.cells if cell.gpu == gpu)
    if not cells:
        return ["No reference workload ran on it."]
    number = sum(cells.values())
    total = f"{number} reference speed{'s' * (number > 1)}, from"
    named = [
        f"  {source}: {titles[source]} ({some})"
        for source, some in cells.most_common(_MOST_SOURCES)
    ]
    rest = len(cells) - len(named)
    return [total, *named, *([f"  and {rest} more"] if rest else [])]


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 4].rstrip()} ..."
