"""The page in German: one visit, walked through; no English message is left, and nothing is cut."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from rag_app.chat.language.catalogue import catalogue
from tests.rag_app.chat.every_width import WIDTHS, check_every_width
from tests.rag_app.chat.page.visits import Visit, add, answered, ask

SAID = """() => {
  const shown = each => each.checkVisibility({ visibilityProperty: true });
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { parentElement: of, textContent: text } = walk.currentNode;
    const quoted = of.closest(
      "script, style, blockquote, .verbatim, .overview :is(b, h4), #document .column");
    if (shown(of) && !quoted) texts.push(text);
  }
  for (const name of ["aria-label", "title", "placeholder", "alt"]) {
    for (const of of document.querySelectorAll(`[${name}]`)) {
      if (shown(of)) texts.push(of.getAttribute(name));
    }
  }
  return texts.map(each => each.trim().replace(/\\s+/g, " ")).filter(Boolean);
}"""
CUT = """() => [...document.querySelectorAll(
    "button, label, legend, th, dt, summary, h2, .notice, .top select")]
  .filter(each => each.checkVisibility({ visibilityProperty: true }))
  .filter(each => !each.closest("[tabindex='-1'], .cite, .chats, #writer"))
  .filter(each => !each.closest(".documents li, .uploads li"))
  .filter(each => getComputedStyle(each).overflowX !== "visible" || each.matches("button"))
  .filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => `${each.outerHTML.slice(0, 120)}: ${each.scrollWidth} > ${each.clientWidth}`)"""


def english_messages() -> re.Pattern[str]:
    """Every message as it would look in English, where that is not how it looks in German."""
    forms = []
    for message in catalogue("de"):
        ids = [message.id] if isinstance(message.id, str) else [*message.id]
        said = [message.string] if isinstance(message.string, str) else list(message.string or ())
        for id_ in ids:
            own = re.sub(r"%\(\w+\)s", "", id_)
            least = 4 if own == id_ else 8  # letters, so that no sentence of a document is one
            if id_ in said or len(re.findall(r"\w", own)) < least:
                continue
            parts = re.split(r"%\(\w+\)s", id_.replace("%%", "%"))
            forms.append(".+".join(map(re.escape, parts)))
    return re.compile("|".join(forms))


def test_the_page_in_german(visit: Visit, tmp_path: Path) -> None:
    english = english_messages()

    def check(where: str) -> None:
        said: list[str] = page.evaluate(SAID)
        left = [text for text in said if english.fullmatch(text)]
        assert not left, (where, left)

    def fits(where: str, widths: tuple[int, ...] = WIDTHS) -> None:
        for width in widths:
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (where, width)
            assert page.evaluate(CUT) == [], (where, width)
        page.set_viewport_size({"width": 1280, "height": 800})

    page = visit(width=390, height=844, locale="de-DE")  # where the sidebar starts closed
    assert page.evaluate("document.documentElement.lang") == "de"
    expect(page.get_by_role("heading", name="Fragen Sie Ihre Dokumente")).to_be_visible()
    check("welcome")
    fits("welcome")
    ask(page)
    answered(page)
    ask(page, "How many bicycles did the mayor of Paris sell?")
    answered(page, 2)
    expect(page.locator("#history .abstained")).to_contain_text("Die Dokumente sagen dazu nichts.")
    for ledger in page.locator("#history .ledger summary").all():
        ledger.click()
    page.locator("#history button.cite").first.click()
    check("answers")
    fits("answers")
    check_every_width(page)
    page.get_by_role("button", name="Länge und Form").click()
    expect(page.get_by_role("dialog", name="Antworten")).to_be_visible()
    check("answering")
    fits("answering")
    page.keyboard.press("Escape")
    page.locator("#side .toggle-button").click()
    listed = page.locator("#documents li").first
    listed.get_by_role("button", name="Überblick über").click()
    expect(page.locator("#overview dialog")).to_be_visible()
    check("overview")
    page.keyboard.press("Escape")
    listed.get_by_role("button", name="öffnen").click()
    page.locator("#document [data-find] input").fill("launch")
    expect(page.locator("#document [data-found]")).to_contain_text(" von ")
    check("document")
    page.keyboard.press("Escape")
    (tmp_path / "leer.txt").write_text("")
    add(page, tmp_path / "leer.txt")
    expect(page.locator("#uploads li", has_text="leer.txt")).to_contain_text("ist leer; entfernen")
    listed.get_by_role("button", name="entfernen").click()
    expect(listed.locator(".asked")).to_be_visible()
    check("sidebar")
    fits("sidebar", (1024, 1440))
    page.get_by_role("button", name="Liste leeren").click()
    search(page)
    check("search")
    fits("search", (1024, 1440))
    page.get_by_role("tab", name="Auswerten").click()
    expect(page.get_by_text("1.000", exact=True)).to_be_visible()
    check("evaluate")
    fits("evaluate", (1024, 1440))

    # Whoever wants English has it from now on, in this browser.
    page.get_by_label("Sprache der Seite").select_option("en")
    expect(page.get_by_role("tab", name="Evaluate")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "en"
    page.reload()
    expect(page.get_by_label("Language of the page")).to_have_value("en")


def search(page: Page) -> None:
    """Search, at first with a number that cannot be."""
    page.get_by_role("tab", name="Suchen").click()
    page.locator("#query textarea").fill("the launch")
    field = page.get_by_label("Dokumente (1 bis 50)")
    field.fill("99")
    page.keyboard.press("Enter")
    expect(page.locator("#results")).to_have_text(
        "Dokumente: geben Sie eine ganze Zahl von 1 bis 50 ein"
    )
    field.fill("1")
    page.keyboard.press("Enter")
    expect(page.locator("#results .hits > li")).to_have_count(1)
