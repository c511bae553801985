"""What people do around an answer: by keyboard, by thumb, and while it is still on its way."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.rag_app.chat.every_width import violations
from tests.rag_app.chat.page.visits import Visit, answered, ask


def steps_back(page: Page, to: str) -> int:
    """How often Shift+Tab is pressed from the box until something that fits has the focus."""
    page.locator("#box textarea").focus()
    for step in range(1, 30):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("to => document.activeElement?.matches(to) ?? false", to):
            return step
    raise AssertionError(f"nothing that fits {to} takes the focus")


def test_send_and_stop_have_names_and_a_citation_is_near(visit: Visit) -> None:
    page = visit()
    send = page.get_by_role("button", name="Send the question")
    expect(send).to_be_visible()
    page.locator("#box textarea").fill("What is the final launch date of Heron?")
    send.click()
    answered(page)
    assert steps_back(page, ".cite") <= 4
    toolbar = page.get_by_role("toolbar", name="About this answer")
    toolbar.get_by_role("button").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Ask again", exact=True)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#panel.open")).to_be_visible()


def test_a_thumb_meets_one_citation(visit: Visit) -> None:
    page = visit(width=390, height=844)
    ask(page)
    answered(page)
    box = page.locator("#history button.cite").first.bounding_box()
    assert box is not None and min(box["width"], box["height"]) >= 36


def test_sources_take_the_focus_at_once(visit: Visit) -> None:
    page = visit(width=390, height=844)
    ask(page)
    answered(page)
    hidden = page.evaluate(  # in the moment of the click, before anything is drawn
        """() => {
            document.querySelector("#history button.cite").click();
            const inside = [...document.querySelectorAll("#panel, #panel *")];
            const focused = document.activeElement.matches("#panel .source.shown");
            return inside.filter((each) => getComputedStyle(each).visibility !== "visible")
                .map((each) => each.className).concat(focused ? [] : ["no focus"]);
        }"""
    )
    assert hidden == []


@pytest.mark.usefixtures("slow_answers")
def test_the_last_quotes_do_not_stand_beside_the_next_question(visit: Visit) -> None:
    page = visit()
    ask(page)
    answered(page)
    expect(page.locator("#panel section:visible")).to_have_count(1)
    first = page.locator("#panel section:visible .for").inner_text()
    ask(page, "Who asked for a rubber case?")
    expect(page.locator("#panel section", has_text=first)).to_be_hidden()
    answered(page, 2)
    expect(page.locator("#panel section:visible .for")).to_have_text("Who asked for a rubber case?")
    assert violations(page) == []


@pytest.mark.usefixtures("slow_answers")
def test_a_hint_to_wait_goes_when_the_answer_is_over_and_old_quotes_stay_away(
    visit: Visit,
) -> None:
    page = visit()
    ask(page)
    answered(page)
    quotes = page.locator("#panel section:visible")
    expect(quotes).to_have_count(1)
    page.locator("#mode").get_by_text("Generated answer").click()
    ask(page, "Tell me everything about the launch of Heron.")
    stop = page.get_by_role("button", name="Stop the answer")
    expect(stop).to_be_visible()
    expect(quotes).to_have_count(0)  # while the next ones are searched
    ask(page, "And who said so?")
    hint = page.locator("#hint .notice")
    expect(hint).to_contain_text("this conversation is waiting for an answer")
    expect(hint).to_have_class("notice busy")  # and none of the red ones
    stop.click()
    answered(page, 2)
    expect(page.locator("#history .status").last).to_have_text("Stopped.")
    expect(hint).to_be_hidden()
    expect(quotes).to_have_count(0)  # those of the answer before it are not its own


def test_a_question_that_was_limited_can_be_asked_of_everything(visit: Visit) -> None:
    page = visit()
    ask(page, "Who attended the field trial?")
    answered(page)
    expect(page.locator("#history .scope")).to_contain_text("read as")
    page.get_by_role("button", name="Search everywhere instead").click()
    expect(page.locator("#history .scope")).to_have_count(0)
    answered(page)


def test_quotes_are_nobodys_own_words(visit: Visit) -> None:
    page = visit()
    name = page.locator("[data-writer]")
    expect(name).to_have_text("")
    page.locator("#mode").get_by_text("Generated answer").click()
    expect(name).to_contain_text("SmolLM2")
    page.locator("#mode").get_by_text("Verbatim quotes").click()
    expect(name).to_have_text("")


@pytest.mark.usefixtures("slow_answers")
def test_no_state_of_the_page_is_inaccessible(visit: Visit) -> None:
    page = visit(width=390, height=844)
    assert violations(page) == []  # before the first question
    page.locator("#mode").get_by_text("Generated answer").click()
    ask(page, "Tell me everything about the launch of Heron.")
    stop = page.get_by_role("button", name="Stop the answer")
    expect(stop).to_be_visible()
    assert violations(page) == []  # on its way
    stop.click()
    expect(page.locator("#history .exchange")).to_have_count(1)
    assert violations(page) == []  # stopped, if it had not come yet
    page.locator("#mode").get_by_text("Verbatim quotes").click()
    ask(page)
    answered(page, 2)
    page.locator("#history button.cite").first.click()
    expect(page.locator("#panel.open")).to_be_visible()
    assert violations(page) == []  # sources open
    page.keyboard.press("Escape")
    page.locator("#writer button").click()
    expect(page.get_by_role("dialog", name="Answers")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator("#hint").evaluate(
        """hint => { hint.innerHTML = '<p class="notice error" role="status">It failed.</p>'; }"""
    )
    assert violations(page) == []  # an error
