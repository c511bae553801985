"""The dialog on how answers are made, in a real Chromium, with a real server of models."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.generator.openai_server import ANSWER, KEY, running
from tests.rag_app.chat.every_width import check_every_width
from tests.rag_app.chat.page.visits import Visit, answered, ask
from tests.rag_app.chat.served_corpus import Served


@pytest.fixture
def model_server() -> Iterator[str]:
    """The address of a server in OpenAI's form."""
    with running() as url:
        yield url


def test_a_model_of_a_server_is_found_tested_and_writes(
    visit: Visit, served: Served, model_server: str
) -> None:
    page = visit(width=390, height=844)
    button = page.locator("#writer button")
    page.locator("#mode").get_by_text("Generated answer").click()
    expect(button).to_contain_text("SmolLM2-135M-Instruct")
    button.click()
    dialog = page.get_by_role("dialog", name="Answers")
    expect(dialog).to_be_visible()
    own = dialog.get_by_role("radio", name="SmolLM2-135M-Instruct")
    expect(own).to_be_checked()
    dialog.get_by_text("Another server, or a folder").click()
    dialog.get_by_label("Address of an OpenAI-compatible server").fill(model_server)
    dialog.get_by_label("Its key").fill(KEY)
    dialog.get_by_role("button", name="List its models").click()
    dialog.get_by_role("radio", name="good").check()
    result = dialog.locator("[data-result]")
    dialog.get_by_role("button", name="Test").click()
    expect(result).to_contain_text(f"good works: it answered \u201c{ANSWER[:20]}")
    check_every_width(page, "dialog[open]")
    assert dialog.evaluate("it => it.scrollWidth <= it.clientWidth")
    dialog.get_by_role("button", name="Use this model").click()
    expect(result).to_contain_text("good writes generated answers from now on.")
    expect(dialog.get_by_label("Its key")).to_have_value("")
    dialog.get_by_role("radio", name="Short").check()
    dialog.get_by_role("button", name="Close").click()
    expect(button).to_contain_text("good")

    kept = served.folder / ".model.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert json.loads(kept.read_text())["keys"] == {model_server: KEY}
    everything = page.content() + json.dumps(page.evaluate("({...localStorage})"))
    assert KEY not in everything

    ask(page, "When does the ferry of Heron sail to the launch?")
    answered(page)
    page.locator("#history .ledger summary").first.click()
    expect(page.locator("#history .timings")).to_contain_text("good")
    page.reload()
    page.locator("#mode").get_by_text("Generated answer").click()
    expect(button).to_contain_text("good")
    button.click()
    expect(dialog.get_by_role("radio", name="Short")).to_be_checked()
    dialog.get_by_role("radio", name="SmolLM2-135M-Instruct").check()
    dialog.get_by_role("button", name="Use this model").click()
    expect(button).to_contain_text("SmolLM2-135M-Instruct")
