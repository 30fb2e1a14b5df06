"""Whether everything that is written in a figure can be read."""

from itertools import combinations

import matplotlib.pyplot as plt
from matplotlib.text import Text

# Points: 11 pixels where the wide picture is 1,000 pixels wide, or the narrow one 390.
SMALLEST = 8.2
# A watermark lies behind what is written.
_BEHIND = "SYNTHETIC DATA"


def texts_of(figure: plt.Figure) -> list[Text]:
    """Everything that is written, and not empty."""
    shown = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    return [text for text in shown if text.get_text() != _BEHIND]


def check(figure: plt.Figure, tallest: float) -> None:
    """Assert that no text is cut, small, or on another, and that the figure is no taller.

    Args:
        tallest: inches.
    """
    figure.canvas.draw()
    written = texts_of(figure)
    assert written
    boxes = {text: Text.get_window_extent(text) for text in written}
    for text, box in boxes.items():
        assert figure.bbox.x0 <= box.x0, text.get_text()
        assert box.x1 <= figure.bbox.x1, text.get_text()
        assert figure.bbox.y0 <= box.y0, text.get_text()
        assert box.y1 <= figure.bbox.y1, text.get_text()
        assert text.get_fontsize() >= SMALLEST, text.get_text()
    for one, other in combinations(written, 2):
        assert not boxes[one].padded(-0.5).overlaps(boxes[other]), (
            one.get_text(),
            other.get_text(),
        )
    assert figure.get_figheight() < tallest
    plt.close(figure)
