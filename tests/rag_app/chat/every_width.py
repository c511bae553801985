"""The page at every width, light and dark: nothing against accessibility, nothing past its edge."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

WIDTHS = (390, 768, 1024, 1440, 1920)
DARK_WIDTHS = (390, 1440)
"""Where colours are looked at in the dark, too: a phone and a desk have rules of their own."""

HEIGHT = 844
_AXE = files("axe_playwright_python") / "axe.min.js"
_COLOURS = ("color-contrast", "link-in-text-block")  # axe's rules on what a colour may change


def violations(page: Page, within: str = "html", *, colours: bool = False) -> list[str]:
    """What axe-core finds against accessibility in an element, or against its colours alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if colours:
        options["runOnly"] = {"type": "rule", "values": _COLOURS}
    found: dict[str, Any] = page.evaluate("given => axe.run(...given)", [within, options])
    nodes = [(each["id"], node) for each in found["violations"] for node in each["nodes"]]
    return [f"{id_}: {node['target']}: {node['failureSummary']}" for id_, node in nodes]


def themes(width: int) -> tuple[bool, ...]:
    """Whether the page is looked at in the dark at a width, then that it is in the light."""
    return (True, False) if width in DARK_WIDTHS else (False,)


def dress(page: Page, *, dark: bool) -> None:
    """Show the page light or dark."""
    page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)


def check_every_width(page: Page, within: str = "html") -> None:
    """Check an element at each width, and its colours in the dark at two; the page is as before."""
    page.add_style_tag(content="* { transition: none !important }")
    before = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for dark in themes(width):
            dress(page, dark=dark)
            assert violations(page, within, colours=dark) == [], (width, dark)
    if before is not None:
        page.set_viewport_size(before)
