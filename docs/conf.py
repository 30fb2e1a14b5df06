"""The manual as a site that needs no network: `make docs`."""

import os
import re
from pathlib import Path

project = "epochcost"
author = "The epochcost authors"
copyright = "the epochcost authors, MIT licence"

extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["_build"]
myst_heading_anchors = 4
highlight_language = "sh"

html_theme = "furo"
html_title = "epochcost"
html_show_sphinx = False
html_copy_source = False

DOCS = Path(__file__).parent
# The page that includes config/README.md.
SETTINGS = DOCS / "reference/settings.md"


def lead_somewhere(text: str, folder: Path) -> str:
    """The text of a page, with links out of docs/ to the site's copies of the files.

    Args:
        folder: what its links are relative to.
    """

    def link(match: re.Match) -> str:
        words, target = " ".join(match["words"].split()), (folder / match["path"]).resolve()
        if target == DOCS.parent / "config/README.md":
            target = SETTINGS
        if target.is_relative_to(DOCS):
            return f"[{words}](/{target.relative_to(DOCS)}{match['anchor'] or ''})"
        path = os.path.relpath(target, DOCS)
        return f"{{download}}`{words.replace('`', '')} </{path}>`" if target.is_file() else words

    return re.sub(
        r"\[(?P<words>[^]]+)\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]+)?\)", link, text
    )


def setup(app) -> None:
    app.connect("source-read", of_page)
    app.connect("include-read", of_file)


def of_page(app, page: str, source: list[str]) -> None:
    source[0] = lead_somewhere(source[0], (DOCS / page).parent)


def of_file(app, path: Path, page: str, source: list[str]) -> None:
    source[0] = lead_somewhere(source[0], (DOCS / path).resolve().parent)
