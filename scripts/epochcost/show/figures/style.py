"""How figures look: one colour per hardware, fonts, headlines."""

import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import seaborn as sns

from epochcost import files

INK = "#222222"
FAINT = "#767676"

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
# Of machines that came with the clone, measured.
SHIPPED = "#f0c4a3"


def apply() -> None:
    """Set the look of all figures; the same input gives the same bytes."""
    sns.set_theme(style="white", font_scale=0.95)
    plt.rcParams.update(
        {
            "svg.hashsalt": "epochcost",
            "font.family": "DejaVu Sans",
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
    plt.close(figure)


def headline(figure: plt.Figure, text: str) -> None:
    """Write the message of a picture above it, wrapped to as many lines as needed."""
    figure.suptitle(textwrap.fill(text, 78), x=0.01, ha="left", fontsize=13, fontweight="bold")


def colour(hardware_id: str) -> str:
    """The colour of hardware, the same in every figure; one pale blue for all without their own."""
    return _HARDWARE_COLOURS.get(hardware_id, _OTHER_HARDWARE)


def has_colour(hardware_id: str) -> bool:
    """Whether hardware has a colour of its own."""
    return hardware_id in _HARDWARE_COLOURS
