"""How figures look: one colour per hardware, names, number formats."""

import math
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

_FRAMEWORK_NAMES = {
    "keras-tensorflow": "Keras TensorFlow",
    "keras-torch": "Keras PyTorch",
    "keras-jax": "Keras JAX",
    "keras-cntk": "Keras CNTK",
    "pytorch": "PyTorch",
    "fastai": "fastai",
    "keras2-tensorflow1": "Keras 2 TensorFlow 1",
    "keras2-cntk": "Keras 2 CNTK",
}


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
    """Write the message of a picture above it, in as many lines as it takes."""
    figure.suptitle(textwrap.fill(text, 78), x=0.01, ha="left", fontsize=13, fontweight="bold")


def colour(hardware_id: str) -> str:
    """The colour of a hardware, the same in every figure; one pale blue for all without one."""
    return _HARDWARE_COLOURS.get(hardware_id, _OTHER_HARDWARE)


def has_colour(hardware_id: str) -> bool:
    """Whether a hardware has a colour of its own."""
    return hardware_id in _HARDWARE_COLOURS


def framework_name(framework: str, variant: str = "default") -> str:
    """A framework's id as people say it, with its variant if it is not the default one."""
    name = _FRAMEWORK_NAMES.get(framework, framework)
    return name if variant == "default" else f"{name} ({variant})"


def ratio(value: float) -> str:
    """A ratio with three digits that count: 0.0862x, 0.86x, 3.51x, 12.4x."""
    if value >= 10:
        return f"{value:.1f}x"
    if value >= 0.1 or value == 0:
        return f"{value:.2f}x"
    return f"{value:.2g}x"


def seconds(value: float) -> str:
    """A duration in its natural unit."""
    if value < 120:
        return f"{value:.3g} s"
    if value < 7200:
        return f"{value / 60:.3g} min"
    return f"{value / 3600:,.0f} h" if value >= 3.6e6 else f"{value / 3600:.3g} h"


def dollars(value: float) -> str:
    """An amount of money with three digits that count, never in exponents."""
    if value >= 1:
        return f"${value:,.2f}"
    if value == 0:
        return "$0"
    digits = max(2, 2 - math.floor(math.log10(value)))
    return f"${value:.{digits}f}"


def price(value: float) -> str:
    """A price as it is known, to the millionth; two digits after the point at least."""
    whole, digits = f"{value:.6f}".split(".")
    return f"${whole}.{digits.rstrip('0').ljust(2, '0')}"
