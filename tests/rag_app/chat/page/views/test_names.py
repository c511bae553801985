"""Names with other spellings on the page: proposed, added and removed by people alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.every_width import check_every_width
from tests.rag_app.chat.page.visits import Visit, add
from tests.rag_app.chat.served_corpus import Served

TALKS = {
    "harbour": "Bram Tolsma: We met Liesbeth Kvamme at the harbour about the crane.\n"
    "Liesbeth Kvamme: The crane at the harbour waits for parts.\n" * 3,
    "crane": "Bram Tolsma: I asked Liesbeth Quamme about the crane at the harbour.\n"
    "Bram Tolsma: Then Liesbeth Quamme told the harbour that the crane is there.\n",
}


@pytest.fixture
def page(visit: Visit, served: Served, tmp_path: Path) -> Iterator[Page]:
    page = visit()
    for name, text in TALKS.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    add(page, *(tmp_path / f"{name}.txt" for name in TALKS))
    expect(page.locator("#documents li")).to_have_count(4)
    page.get_by_role("tab", name="Names").click()
    expect(page.locator("#names .empty")).to_be_visible()
    yield page
    for name in TALKS:
        for _ in range(2):
            page.get_by_role("button", name=f"Remove {name}").click()


def names(served: Served) -> dict[str, str]:
    with Corpus(served.folder) as corpus:
        return corpus.aliases.all().names


def test_proposals_are_added_by_people_alone(page: Page, served: Served) -> None:
    page.get_by_role("button", name="Look for candidates").focus()
    page.keyboard.press("Enter")
    proposal = page.locator("#proposals li", has_text="Is Quamme another spelling of Kvamme?")
    expect(proposal.locator("mark")).to_have_text(["Quamme", "Kvamme"])
    assert names(served) == {}
    check_every_width(page)
    proposal.get_by_role("button", name="Open crane at this quote").click()
    expect(page.locator("#document mark").first).to_contain_text("Quamme")
    page.keyboard.press("Escape")
    proposal.get_by_role("button", name="Read Quamme as Kvamme").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#names li", has_text="Kvamme")).to_contain_text("Quamme")
    expect(proposal).to_have_count(0)
    assert names(served) == {"Quamme": "Kvamme"}
    assert page.evaluate("document.activeElement !== document.body")
    check_every_width(page)
    page.get_by_role("button", name="Remove Quamme, a spelling of Kvamme").press("Enter")
    expect(page.locator("#names .empty")).to_be_visible()
    assert names(served) == {}
    expect(page.get_by_role("tab", name="Names")).to_be_focused()


def test_typed_spellings_and_what_cannot_be_one(page: Page, served: Served) -> None:
    for name, spelling in (("Aoife", "<b>Eefa</b>"), ("Greta", "<b>Eefa</b>")):
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Other spelling").fill(spelling)
        page.keyboard.press("Enter")
        expect(page.locator("#names li")).to_have_count(1)
    expect(page.locator("#names .error")).to_have_text(
        "<b>Eefa</b>: is of Aoife already; remove that first"
    )
    assert names(served) == {"<b>Eefa</b>": "Aoife"}
    page.get_by_role("button", name="Remove <b>Eefa</b>").click()
    expect(page.locator("#names li")).to_have_count(0)
