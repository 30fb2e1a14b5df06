"""How figures look: one colour and shape per framework, one colour per hardware, fonts, titles."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import seaborn as sns

from epochcost import files

INK, FAINT, PAPER = "#222222", "#666666", "#ffffff"
GRID, BAND = "#e6e6e6", "#dadada"


@dataclass(frozen=True)
class Mark:
    """How a framework is drawn, and its name where there is little room."""

    colour: str
    shape: str
    short: str


# Of Okabe and Ito's colours, darkened where they lack contrast with paper (3:1).
_MARKS = {
    "keras-tensorflow": Mark("#c27c00", "o", "TF"),
    "keras-torch": Mark("#b8558f", "s", "K-Torch"),
    "keras-jax": Mark("#008a63", "^", "JAX"),
    "pytorch": Mark("#c44f00", "D", "PyTorch"),
    "fastai": Mark("#2c82c9", "v", "fastai"),
    "keras-cntk": Mark("#4d4d4d", "P", "CNTK"),
    "keras2-tensorflow1": Mark("#7a4f00", "h", "TF 1"),
    "keras2-cntk": Mark("#6a6a8c", "p", "CNTK 2"),
    "own": Mark("#222222", "*", "script"),
}
_OTHER_MARK = Mark("#777777", "X", "other")

# Where an axis can have a mark.
SECONDS = tuple(
    number * unit
    for unit, numbers in (
        (1, (0.1, 0.2, 0.5, 1, 2, 5, 10, 30)),
        (60, (1, 2, 5, 10, 30)),
        (3600, (1, 2, 5, 10, 20, 50, 100)),
    )
    for number in numbers
)
DOLLARS = RATIOS = tuple(
    number * 10.0**power for power in range(-6, 7) for number in (1, 1.5, 2, 3, 5, 7)
)
# Inches that a line of text takes, by its kind.
_TITLE_LINE, _TEXT_LINE = 0.25, 0.17


def mark(framework: str) -> Mark:
    """The mark of a framework, the same in every figure."""
    return _MARKS.get(framework, _OTHER_MARK)


def few(
    ticks: Sequence[float], low: float, high: float, most: int, at: float | None = None
) -> list[float]:
    """At most so many of the ticks from `low` to `high`; `at` is kept if it lies there."""
    there = [tick for tick in ticks if low <= tick <= high]
    if not there:
        return []
    step = -(-len(there) // most)
    begin = there.index(at) % step if at in there else 0
    return there[begin::step]


def tick_of_seconds(value: float) -> str:
    """A time at an axis, in its unit."""
    for unit, seconds in (("h", 3600), ("min", 60)):
        if value >= seconds:
            return f"{value / seconds:g} {unit}"
    return f"{value:g} s"


def tick_of_dollars(value: float) -> str:
    """An amount at an axis, never as 1e-05."""
    return f"${value:.10f}".rstrip("0").rstrip(".")


# Okabe and Ito's colours: distinct for colour-blind readers, and of different lightness.
_HARDWARE_COLOURS = {
    "local": "#d55e00",
    "gce-k80": "#8c8c8c",
    "gce-p100": "#0072b2",
    "gce-t4": "#cc79a7",
    "gce-n1-highcpu-8": "#f0e442",
    "gce-n1-highcpu-16": "#e69f00",
    "gce-n1-highcpu-32": "#009e73",
    "gce-n1-highcpu-64": "#56b4e9",
}
_OTHER_HARDWARE = "#9db2c6"


def apply() -> None:
    """Set the look of all figures; the same input gives the same bytes."""
    sns.set_theme(style="white", font_scale=0.95)
    plt.rcParams.update(
        {
            "svg.hashsalt": "epochcost",
            "svg.fonttype": "none",
            "text.parse_math": False,  # names come from anywhere
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "hatch.linewidth": 1.4,
        }
    )


def save(figure: plt.Figure, stem: Path) -> None:
    """Write the figure as `stem`.svg and `stem`.png."""
    for suffix, options in ((".svg", {"metadata": {"Date": None}}), (".png", {"dpi": 160})):
        with files.atomic(stem.with_suffix(suffix)) as temporary:
            figure.savefig(temporary, format=suffix[1:], **options)
            if suffix == ".svg":
                temporary = Path(temporary)
                temporary.write_text(_slim(temporary.read_text()))
    plt.close(figure)


# What matplotlib writes into an SVG that no picture needs: who made it, names of groups,
# millionths of a point, and rotations by nothing.
_IDLE = (
    (re.compile(r"<metadata>.*?</metadata>", re.DOTALL), ""),
    (re.compile(r'<g id="[\w.]+_\d+">'), "<g>"),
    (re.compile(r' transform="rotate\(-0 [^)]*\)"'), ""),
    (re.compile(r"\s*\n\s*"), " "),
)
# In tags alone: numbers and words in texts are values.
_TAG = re.compile(r"<[^>]*>")


def _slim(svg: str) -> str:
    """An SVG without what is idle in it, each style written once: in a third of the bytes."""
    body = "<svg" + svg.split("<svg", 1)[1]
    for idle, instead in _IDLE:
        body = idle.sub(instead, body)
    body = _TAG.sub(lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), body)
    names: dict[str, str] = {}

    def named(style: re.Match[str]) -> str:
        return f'class="{names.setdefault(style[1], f"s{len(names)}")}"'

    body = _TAG.sub(lambda tag: re.sub(r'style="([^"]*)"', named, tag[0]), body)
    rules = "".join(f" .{name}{{{style}}}" for style, name in names.items())
    return body.replace("</style>", f"{rules}</style>", 1) + "\n"


@dataclass
class Frame:
    """The texts around the panels of a figure, and the room in inches that they take.

    characters: that fit in a line of small text.
    title: bold; grey: the line below it; notes: at the bottom, above the legend.
    """

    characters: int
    title: str
    grey: str
    notes: Sequence[str] = ()

    @property
    def title_lines(self) -> list[str]:
        """The title, in lines."""
        return textwrap.wrap(self.title, int(self.characters * 0.66))

    @property
    def grey_lines(self) -> list[str]:
        """The grey line, in lines."""
        return textwrap.wrap(self.grey, self.characters)

    @property
    def note_lines(self) -> list[str]:
        """The notes, in lines."""
        return [line for note in self.notes for line in textwrap.wrap(note, self.characters)]

    @property
    def above(self) -> float:
        """Inches above the panels."""
        lines = len(self.title_lines), len(self.grey_lines)
        return 0.1 + _TITLE_LINE * lines[0] + _TEXT_LINE * lines[1]

    @property
    def below(self) -> float:
        """Inches that the notes take."""
        return 0.1 + _TEXT_LINE * len(self.note_lines)

    def write(self, figure: plt.Figure, bottom: float) -> None:
        """Write the texts; `bottom` is where the notes end, in inches."""
        _, height = figure.get_size_inches()
        at = height - 0.1
        for line in self.title_lines:
            figure.text(0.01, at / height, line, va="top", fontsize=13, fontweight="bold")
            at -= _TITLE_LINE
        for line in self.grey_lines:
            figure.text(0.01, at / height, line, va="top", fontsize=8.5, color=FAINT)
            at -= _TEXT_LINE
        at = bottom + self.below
        for line in self.note_lines:
            figure.text(0.01, at / height, line, va="top", fontsize=8.5, color=FAINT)
            at -= _TEXT_LINE


def colour(hardware_id: str) -> str:
    """The colour of hardware, the same in every figure; one pale blue for all without their own."""
    return _HARDWARE_COLOURS.get(hardware_id, _OTHER_HARDWARE)
