"""Open a page in Chromium without a network and print, as JSON, what a reader would meet.

Run by the Python of .venvs/docs: browser.py PAGE [SCREENSHOTS]
"""

import json
import shutil
import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

SIZES = ((1400, 900), (800, 1000), (390, 844))


def main(page_at: Path, screenshots: Path | None) -> None:
    found = {"messages": [], "requests": [], "violations": [], "first_picture": {}, "wide": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
                )
                page = context.new_page()
                page.on("console", lambda message: found["messages"].append(message.text))
                page.on("pageerror", lambda error: found["messages"].append(str(error)))
                page.on("request", lambda request: found["requests"].append(request.url))
                page.goto(page_at.resolve().as_uri())
                if screenshots:
                    page.screenshot(path=screenshots / f"{page_at.stem}-{width}-{scheme}.png")
                look(page, found, f"{width}-{scheme}")
                context.close()
        page = browser.new_page()
        page.goto(page_at.resolve().as_uri())
        found["sorted"] = sort_by_time(page)
        if screenshots:
            page.pdf(path=screenshots / f"{page_at.stem}.pdf")
        browser.close()
    local = page_at.resolve().as_uri()
    found["requests"] = [one for one in found["requests"] if not one.startswith((local, "data:"))]
    print(json.dumps(found))


def look(page, found: dict, name: str) -> None:
    """Note where the first picture begins, whether the page is too wide, and what axe finds."""
    tops = page.evaluate(
        "[...document.querySelectorAll('img')].map(i => i.getBoundingClientRect())"
        ".filter(box => box.width > 0).map(box => box.top)"
    )
    found["first_picture"][name] = min(tops, default=None)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found["wide"].append(name)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    for violation in Axe().run(page).response["violations"]:
        nodes = [node["html"][:200] for node in violation["nodes"][:3]]
        found["violations"].append([name, violation["id"], violation["help"], nodes])


def sort_by_time(page) -> list[list[str]]:
    """The times in the table of results after one click on their heading, and after two."""
    times = []
    for _ in range(2):
        page.locator("#results ~ div .best thead th button", has_text="time").first.click()
        cells = page.locator("#results ~ div .best").first.locator("tbody tr td:nth-child(4)")
        times.append(cells.evaluate_all("cells => cells.map(cell => cell.dataset.value)"))
    return times


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
