"""The register on the page: what it lists, limits, opens and saves, in every language and width."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from icalendar import Calendar
from playwright.sync_api import Locator, Page, expect

from generator.register.entry import Register
from rag_app.corpus.corpus import Corpus
from rag_app.register.forms import as_csv
from tests.rag_app.chat.every_width import check_every_width
from tests.rag_app.chat.page.visits import Visit, add
from tests.rag_app.chat.served_corpus import HOSTILE, Served


@pytest.fixture(scope="module")
def whole(served: Served) -> Register:
    with Corpus(served.folder) as corpus:
        return corpus.register()


def opened(page: Page) -> Locator:
    page.get_by_role("tab", name="Register").click()
    expect(page.locator("#register .matters > li").first).to_be_visible()
    return page.locator("#register .matters > li")


def choose(page: Page, field: str, choice: str) -> None:
    """By keyboard alone, each step seen before the next."""
    page.get_by_label(field, exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("option", name=choice).wait_for()
    active, before = page.locator("li.active[role=option]"), ""
    for _ in range(9):
        page.keyboard.press("ArrowDown")
        expect(active).to_have_count(1)
        if before:
            expect(active).not_to_have_text(before)
        before = active.inner_text()
        if choice in before:
            break
    page.keyboard.press("Enter")


def test_it_has_all_matters_and_limits_them(visit: Visit, whole: Register) -> None:
    page = visit()
    matters = opened(page)
    expect(matters).to_have_count(len(whole))
    expect(page.locator("#register [role=status]")).to_contain_text(f"{len(whole)} matters")
    shown = page.locator("#register blockquote").all_inner_texts()
    said = [one.quote.text for matter in whole for one in matter.entries]
    assert sorted(" ".join(text.split()) for text in shown) == sorted(
        " ".join(text.split()) for text in said
    )
    actions = [one for one in whole if one.kind == "action"]
    assert actions and len(actions) < len(whole)
    choose(page, "Kind", "Actions")
    expect(matters).to_have_count(len(actions))
    expect(page.locator("#register h2")).to_have_text("Actions")
    who = next(one.who for one in actions if one.who).split()[0]
    page.get_by_label("Who").fill(who)
    page.keyboard.press("Enter")
    expect(matters).to_have_count(sum(one.concerns(who) for one in actions))
    page.get_by_label("Since", exact=True).fill("2031")
    page.keyboard.press("Enter")
    expect(matters).to_have_count(0)
    page.get_by_label("Since", exact=True).fill("someday")
    page.keyboard.press("Enter")
    expect(page.locator("#register .error")).to_be_visible()


def test_an_entry_opens_its_document_at_the_quote(visit: Visit, whole: Register) -> None:
    page = visit()
    opened(page)
    quote = page.locator("#register blockquote").first.inner_text()
    page.locator("#register [data-view]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#document mark").first).to_be_visible()
    marked = " ".join(page.locator("#document mark").all_inner_texts())
    assert quote.split()[:4] == marked.split()[:4]


def test_files_have_what_is_shown(visit: Visit, whole: Register) -> None:
    page = visit()
    opened(page)
    texts = {}
    for name in ("CSV", "Markdown", "iCalendar"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {name}").locator("visible=true").click()
        texts[name] = Path(download.value.path()).read_text(encoding="utf-8")
        assert download.value.suggested_filename.startswith("register.")
    assert list(csv.reader(io.StringIO(texts["CSV"]))) == list(
        csv.reader(io.StringIO(as_csv(whole)))
    )
    tasks = Calendar.from_ical(texts["iCalendar"]).walk("VTODO")
    assert {str(one["uid"]) for one in tasks} == {
        f"{one.id}@rag-app" for one in whole if one.kind == "action"
    }
    assert texts["Markdown"].startswith("# Register")


def test_it_follows_what_is_ticked_and_added(visit: Visit, whole: Register, tmp_path: Path) -> None:
    page = visit()
    matters = opened(page)
    row = page.locator("#documents li", has_text="heron-6")
    row.locator("input").check()
    id_ = row.locator("input").get_attribute("value")
    limited = [one for one in whole if any(each.document == id_ for each in one.entries)]
    assert 0 < len(limited) < len(whole)
    expect(matters).to_have_count(len(limited))
    page.get_by_role("button", name="Use all").locator("visible=true").click()
    expect(matters).to_have_count(len(whole))
    file = tmp_path / "minutes-2026-02-01.txt"
    file.write_text(f"Minutes\n\nAction: Ada to write <b>it</b> {HOSTILE}", encoding="utf-8")
    add(page, file)
    expect(page.locator("#register")).to_contain_text("minutes-2026-02-01")
    assert page.evaluate("window.harmed") is None
    added = page.locator("#documents li", has_text="minutes-2026-02-01")
    for _ in range(2):
        added.get_by_role("button", name="Remove").click()
    expect(matters).to_have_count(len(whole))


def test_every_width_and_german(visit: Visit) -> None:
    page = visit(locale="de-DE")
    page.get_by_role("tab", name="Register").click()
    expect(page.locator("#register h2").first).to_have_text("Beschlüsse")
    expect(page.locator("#register .place").last).to_contain_text("Zeichen")
    expect(page.get_by_label("Stand", exact=True)).to_have_value("Alle")
    check_every_width(page)
