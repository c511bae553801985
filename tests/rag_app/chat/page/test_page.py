"""The page in a real Chromium, as a person uses it. Nothing may be loaded from elsewhere."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from generator.answer import NOT_SAID, Answer, Citation, ShortAnswer
from rag_app.chat.conversation import from_json, to_json
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.browser_context import new_context
from tests.rag_app.chat.every_width import violations
from tests.rag_app.chat.page.uploaded_files import QUESTIONS, mail, scan, transcript
from tests.rag_app.chat.page.visits import QUESTION, Visit, add, answered, ask, up_to_date
from tests.rag_app.chat.served_corpus import HOSTILE, Served


def test_files_are_added_and_what_is_wrong_with_one_stops_no_other(
    visit: Visit, served: Served, tmp_path: Path
) -> None:
    good, empty, other = (tmp_path / name for name in ("kite.txt", "empty.txt", "tool.exe"))
    good.write_text("The kite festival is held on the last Sunday of April.")
    empty.write_text("")
    other.write_text("MZ")
    large = tmp_path / "large.txt"
    large.write_text("x" * ((1 << 20) + 1))
    posing = tmp_path / "posing.mp3"
    posing.write_bytes(b"<html>" * (5 << 20))
    page = visit(new=True)
    page.clock.install()  # for good
    add(page, other, large, posing, empty, good)
    failed = page.locator(".sending .failed")
    expect(failed.nth(0)).to_contain_text("tool.exe: is of an unsupported type")
    expect(failed.nth(1)).to_contain_text("is larger than 1 MB")
    expect(failed.nth(2)).to_contain_text("is not the recording that its name says")
    expect(page.locator("#uploads li", has_text="kite.txt")).to_contain_text("added")
    expect(page.locator("#uploads li", has_text="empty.txt")).to_contain_text("is empty")
    row = page.locator("#documents li", has_text="kite.txt")
    expect(row).to_be_visible()
    ask(page, "When is the kite festival?")
    expect(page.locator("#history .answer")).to_contain_text("last Sunday of April")

    # Removing takes two presses, and takes the uploaded copy along.
    assert (served.folder / "uploads" / "kite.txt").exists()
    remove = row.get_by_role("button", name="Remove kite")
    remove.click()
    expect(row).to_be_visible()
    remove.click()
    expect(row).to_have_count(0)
    expect(page.locator("#documents li")).not_to_have_count(0)
    assert not (served.folder / "uploads" / "kite.txt").exists()

    # What was not sent is told until somebody has read it.
    page.clock.fast_forward("02:00")
    expect(failed).to_have_count(3)
    expect(page.get_by_role("button", name="Dismiss all")).to_be_visible()
    for name in ("tool.exe", "posing.mp3"):
        page.get_by_role("button", name=f"Dismiss: {name}").click()
    expect(failed).to_have_count(1)
    expect(page.get_by_role("button", name="Dismiss all")).to_be_hidden()
    page.get_by_role("button", name="Clear this list").click()
    expect(page.locator("#uploads li")).to_have_count(0)
    expect(failed).to_have_count(0)


def test_a_folder_is_added_with_its_names(visit: Visit, tmp_path: Path) -> None:
    folder = tmp_path / "minutes"
    (folder / "may").mkdir(parents=True)
    (folder / "may" / "first.md").write_text("# May\n\nThe swan boats were painted white.")
    (folder / "may" / "call.en.vtt").write_text(
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>The owl flies.\n"
    )
    for name in ("may/call.wav", "may/song.wav", "call.wav"):
        (folder / name).write_bytes(b"RIFF\0\0\0\0WAVEfmt ")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    page = visit()
    page.locator("input[data-picked=folder]").set_input_files(folder)
    row = page.locator("#uploads li", has_text="minutes/may/first.md")
    expect(row).to_contain_text("added")
    expect(page.locator(".sending li")).to_contain_text("3 files of unsupported types skipped")
    call = page.locator("#uploads li", has_text="minutes/may/call.wav")
    expect(call).to_contain_text("plays beside call.en.vtt")


def test_a_citation_leads_to_its_quote_in_its_context(visit: Visit, served: Served) -> None:
    page = visit()
    ask(page)
    answered(page)
    with Corpus(served.folder) as corpus:
        answer = corpus.ask(QUESTION)
        second = answer.citations[1]
        text = corpus.document(second.document).text
    marker = page.get_by_role("button", name=re.compile(r"^Source 2: "))
    expect(marker).to_have_text("2")
    marker.click()
    card = page.locator(".source.shown")
    expect(card).to_be_focused()
    expect(card.locator("mark")).to_have_text(second.quote, use_inner_text=True)
    expect(card.locator("h3")).to_have_text(second.title)
    expect(card.locator(".place")).to_contain_text(second.speaker or "")
    before = text[max(second.start - 60, 0) : second.start].split()[-3:]
    expect(card.locator(".around").first).to_contain_text(" ".join(before))
    page.locator(".ledger summary").click()
    for entry in answer.context:
        row = page.locator(".ledger tbody tr", has_text=entry.title).first
        expect(row.locator("td")).to_have_text(
            [f"{value:,}" for value in (entry.tokens, entry.kept, entry.dropped)]
        )
    expect(page.locator(".timings")).to_contain_text("total")


# Colours of an element's text and of what lies behind it, as canvas pixels, and its weight.
COLOURS = """element => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const pixel = (colours) => {
    for (const colour of colours) { paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); }
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const behind = [];
  for (let one = element; one; one = one.parentElement) {
    behind.unshift(getComputedStyle(one).backgroundColor);
  }
  const style = getComputedStyle(element);
  return { text: pixel([...behind, style.color]), behind: pixel(behind),
           weight: Number(style.fontWeight) };
}"""


def contrast(one: list[int], other: list[int]) -> float:
    """The contrast ratio of two colours (WCAG 2.2, "contrast ratio")."""

    def luminance(colour: list[int]) -> float:
        parts = [value / 255 for value in colour]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def keep_answer(served: Served, answer: Answer) -> None:
    """Put an answer in the place of the last one of the conversation that was saved last."""
    files = (served.folder / ".chats").glob("*/*.json")
    file = max(files, key=lambda each: each.stat().st_mtime)
    conversation = from_json(file.read_text())
    last = conversation.exchanges[-1]
    changed = replace(last, mode="quote", state="done", text=answer.text, answer=answer)
    file.write_text(to_json(conversation.with_exchange(len(conversation.exchanges) - 1, changed)))


def quoted(served: Served, words: str) -> Answer:
    """An answer that quotes one of the documents, and a document that is gone and hostile."""
    with Corpus(served.folder) as corpus:
        whole = next(
            document
            for document in map(corpus.document, (each.id for each in corpus.documents()))
            if words in document.text
        )
    at = whole.text.index(words)
    utterance = whole.utterance_at(at)
    assert utterance is not None
    start, end = utterance.text_start, utterance.end
    first = Citation(
        1, whole.id, whole.path, whole.title, "", start, end, whole.text[start:end],
        utterance.speaker, verified=True,
    )  # fmt: skip
    other = Citation(2, "gone", "/gone.txt", "Gone", "", 0, len(HOSTILE), HOSTILE, verified=True)
    lines = (f"{utterance.speaker}: {first.quote} [1]", f"{HOSTILE} [2]")
    return Answer(
        QUESTION,
        "\n".join(" ".join(line.split()) for line in lines),
        citations=(first, other),
        short=ShortAnswer.within(first, at, at + len(words), 0.9),
    )


@pytest.mark.parametrize("width", [390, 1024])
def test_the_words_that_answer_stand_out_in_their_quote(
    visit: Visit, served: Served, width: int
) -> None:
    words = "Monday the eleventh of May"
    page = visit(width=width)
    ask(page)
    answered(page)
    keep_answer(served, quoted(served, words))
    page.reload()
    short = page.locator("#history .answer strong.short")
    expect(short.first).to_be_visible()
    assert " ".join(short.all_inner_texts()) == words
    page.locator("#history button.cite").first.click()
    in_source = page.locator(".source.shown mark strong.short")
    expect(in_source).to_have_text(words)
    expect(in_source).to_be_in_viewport()
    page.add_style_tag(content="* { transition: none !important }")  # colours as they end
    for dark in (False, True):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        for one in (short.first, in_source):
            seen = one.evaluate(COLOURS)
            assert contrast(seen["text"], seen["behind"]) >= 7 and seen["weight"] >= 700
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_hostile_short_answer_stays_text(visit: Visit, served: Served) -> None:
    page = visit()
    ask(page)
    answered(page)
    answer = quoted(served, "Monday the eleventh of May")
    start, end = HOSTILE.index("<img"), HOSTILE.index("noon")
    short = ShortAnswer.within(answer.citations[1], start, end, 0.9)
    assert short is not None
    keep_answer(served, replace(answer, short=short))
    page.reload()
    expect(page.locator("#history .answer strong.short")).to_have_text(short.text)
    page.locator("#history button.cite").nth(1).click()
    expect(page.locator(".source.shown strong.short")).to_have_text(short.text)
    expect(page.locator(".source.shown .lost")).to_contain_text("no longer in the corpus")
    assert page.evaluate("window.harmed") is None


@pytest.mark.parametrize("width", [390, 1024])
def test_closest_passages_open_like_sources_and_are_no_answer(
    visit: Visit, served: Served, width: int
) -> None:
    question = "Which vaccine did the hospital of Zanzibar order?"
    page = visit(width=width)
    ask(page, question)
    answered(page)
    with Corpus(served.folder) as corpus:
        closest = corpus.ask(question).closest
    assert closest
    expect(page.locator("#history .answer")).to_have_text(NOT_SAID)
    expect(page.locator("#history .closest summary")).to_contain_text("not an answer")
    expect(page.locator("#history .closest blockquote")).to_have_count(len(closest))
    expect(page.locator("#history .cite")).to_have_count(0)
    expect(page.locator("#history [data-sources]")).to_have_count(0)
    place = page.locator("#history .closest button").first
    assert place.bounding_box()["height"] >= 24  # type: ignore[index]
    place.click()
    card = page.locator(".source.shown")
    expect(card).to_be_focused()
    expect(card.locator("mark")).to_have_text(closest[0].quote, use_inner_text=True)
    expect(card.locator("mark")).to_be_in_viewport()
    expect(card.locator(".number")).to_have_count(0)
    expect(page.locator("#panel .near")).to_be_visible()
    page.keyboard.press("Escape")
    expect(place).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_an_answer_is_asked_for_again_with_its_evidence_elsewhere(visit: Visit) -> None:
    page = visit()
    ask(page)
    answered(page)
    page.get_by_role("button", name="Check positions").click()
    found = page.locator("#history .check")
    expect(found.locator("summary")).to_have_text(
        "Position check: the answer does not change · agreement 100%"
    )
    expect(found.locator("tbody th")).to_have_text("evidence reversed")
    expect(page.locator("#live .status")).to_have_count(0)
    page.reload()
    expect(found).to_be_visible()


@pytest.mark.usefixtures("slow_answers")
def test_an_answer_streams_and_can_be_stopped_and_is_there_after_a_reload(visit: Visit) -> None:
    page = visit()
    page.get_by_text("Generated answer").click()
    ask(page, "Which launch date was agreed, and why?")
    words = page.locator("#live .answer p:not(.status)").first
    expect(words).to_be_visible()
    first = words.inner_text()
    expect(words).not_to_have_text(first)
    assert page.locator("#live .answer").inner_text().startswith(first[:10])
    page.locator("#box .stop-button").click()
    answered(page)
    expect(page.locator("#history .status")).to_have_text("Stopped.")
    expect(page.locator("#box .submit-button")).to_be_visible()
    kept = page.locator("#history .answer").inner_text()
    assert kept.startswith(first[:10])
    page.reload()
    answered(page)
    assert page.locator("#history .answer").inner_text() == kept


def test_an_answer_goes_on_while_its_page_is_reloaded(visit: Visit) -> None:
    page = visit()
    page.get_by_text("Generated answer").click()
    ask(page, "Who is against the new launch date?")
    expect(page.locator("#live .exchange")).to_be_visible()
    page.reload()
    answered(page)
    assert page.locator("#history .answer p:not(.status)").first.inner_text()


def test_follow_up_edit_again_and_another_conversation(visit: Visit) -> None:
    page = visit()
    ask(page)
    answered(page)
    ask(page, "And who said so?")
    answered(page, 2)
    expect(page.locator("#history .scope")).to_contain_text("launch")  # what was looked for
    page.get_by_role("button", name="Length and form").click()
    page.get_by_role("radio", name="Short").check()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Ask again", exact=True).last.click()
    expect(page.locator("#history .exchange").last).to_contain_text("1 source")
    answered(page, 2)
    page.locator("#history .question").first.hover()
    page.get_by_role("button", name="Edit this question").first.click()
    expect(page.locator("#box textarea")).to_have_value(QUESTION)
    expect(page.locator("#hint")).to_contain_text("replaces question 1 and the next")
    ask(page, "Who asked for a rubber case?")
    answered(page, 1)
    expect(page.locator("#history .question")).to_have_text("Who asked for a rubber case?")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".welcome")).to_be_visible()
    page.locator("#chats .name", has_text="rubber case").click()
    answered(page, 1)
    page.locator("#chats [data-act=forget_chat]").click()
    page.locator("#chats [data-act=forget_chat]").click()
    expect(page.locator("#chats li")).to_have_count(0)


def test_only_the_selected_documents_are_asked(visit: Visit) -> None:
    page = visit()
    page.locator("#documents li", has_text="heron-6").get_by_role("checkbox").check()
    expect(page.locator("[data-chosen]")).to_have_text("1 selected")
    ask(page)
    answered(page)
    expect(page.locator("#history .scope")).to_have_text("limited to 1 selected document")
    titles = set(page.locator("#panel .source h3").all_inner_texts())
    assert titles == {"heron-6-last-of-the-year"}
    page.get_by_role("button", name="Use all").click()
    expect(page.locator("[data-chosen]")).to_have_text("All documents")
    page.locator("#documents .filter").fill("HERON-5")
    expect(page.locator("#documents li:visible")).to_have_count(1)


REFRESHED = """gradio_config.dependencies.find(
  (one) => one.targets.some(([, name]) => name === "refresh")).id"""

COUNT_QUESTIONS = """() => {
  window.questionsShown = 0;
  const look = () => {
    questionsShown += document.querySelectorAll("#history .question").length;
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
}"""


REFRESH_AS_BEFORE = """(refreshed) => {
  const send = window.fetch;
  let before; // what the browser had stored when the first event was sent
  window.sentAsBefore = 0;
  window.fetch = (...request) => {
    if (!String(request[0]).includes("/queue/join")) return send(...request);
    const event = JSON.parse(request[1].body);
    before ??= event.data[0];
    if (event.fn_index === refreshed && before.chat !== event.data[0].chat && !sentAsBefore) {
      sentAsBefore += 1;
      event.data[0] = before;
    }
    return send(request[0], { ...request[1], body: JSON.stringify(event) });
  };
}"""


def test_a_late_refresh_does_not_bring_an_old_selection_back(visit: Visit) -> None:
    """What was read before "Use all" was pressed arrives after the answer to that."""
    page = visit()
    chosen = page.locator("[data-chosen]")
    box = page.locator("#documents li", has_text="heron-6").get_by_role("checkbox")
    box.check()
    expect(chosen).to_have_text("1 selected")
    refreshed = page.evaluate(REFRESHED)
    held: list[Route] = []
    sent: list[object] = []

    def hold(route: Route) -> None:
        asked = json.loads(route.request.post_data or "{}")
        if asked["fn_index"] == refreshed and not held:
            held.append(route)
            return
        sent.append((asked.get("event_data") or {}).get("value"))
        route.continue_()

    page.route("**/queue/join*", hold)
    ask(page)
    answered(page)
    while not held:
        page.wait_for_timeout(100)
    page.get_by_role("button", name="Use all").click()
    expect(chosen).to_have_text("All documents")
    before = len(sent)
    held[0].continue_()
    while [] not in sent[before:]:  # the page asks for it again, as the old list is shown
        page.wait_for_timeout(100)
    expect(chosen).to_have_text("All documents")
    expect(box).not_to_be_checked()


@contextmanager
def marked(page: Page, mark: str) -> Iterator[None]:
    """The page believes that it shows something else."""
    of = "document.querySelector('#changes [data-mark]').dataset"
    before = page.evaluate(f"{of}.mark")
    page.evaluate(f"{of}.mark = {json.dumps(mark)}")
    yield
    page.evaluate(f"{of}.mark = {json.dumps(before)}")


def test_a_refresh_does_not_bring_back_a_conversation_that_was_just_left(visit: Visit) -> None:
    """It is sent between "New conversation" and the answer to that, and answered after it."""
    page = visit()
    ask(page)
    answered(page)
    refreshed = page.evaluate(REFRESHED)
    held: dict[bool, Route] = {}  # by whether it is a refresh

    def hold(route: Route) -> None:
        asked = json.loads(route.request.post_data or "{}")
        if (refresh := asked["fn_index"] == refreshed) in held:
            route.continue_()
        else:
            held[refresh] = route

    page.route("**/queue/join*", hold)
    page.get_by_role("button", name="New conversation").click()
    while False not in held:
        page.wait_for_timeout(100)
    with marked(page, "another"):
        while True not in held:
            page.wait_for_timeout(100)
    held[False].continue_()
    expect(page.locator(".welcome")).to_be_visible()
    page.evaluate(COUNT_QUESTIONS)
    held[True].continue_()
    page.get_by_role("button", name="Pin the conversation").click()
    up_to_date(page)  # by the next one, which is shown
    assert page.evaluate("questionsShown") == 0
    expect(page.locator(".welcome")).to_be_visible()


def test_a_refresh_sent_before_a_new_conversation_is_shown_does_not_bring_back_the_one_left(
    visit: Visit,
) -> None:
    """The answer to "New conversation" has come, but is not in the fields of the page yet."""
    page = visit()
    ask(page)
    answered(page)
    page.evaluate(REFRESH_AS_BEFORE, page.evaluate(REFRESHED))
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".welcome")).to_be_visible()
    page.evaluate(COUNT_QUESTIONS)
    for _ in "ab":  # the second is sent when the first has been answered
        page.get_by_role("button", name="Pin the conversation").click()
        page.wait_for_function("sentAsBefore === 1")
        up_to_date(page)
    assert page.evaluate("questionsShown") == 0
    expect(page.locator(".welcome")).to_be_visible()


def test_boxes_ticked_faster_than_the_server_answers_are_all_ticked(visit: Visit) -> None:
    page = visit()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/queue/join*", hold)
    for name in ("heron-5", "heron-6"):
        page.locator("#documents li", has_text=name).get_by_role("checkbox").check()
    while not held:
        page.wait_for_timeout(100)
    held[0].continue_()
    expect(page.locator("[data-chosen]")).to_have_text("2 selected")
    expect(page.locator("#documents input:checked")).to_have_count(2)


def test_two_people_at_once_have_their_own_conversations(visit: Visit) -> None:
    ann, bob = visit(), visit()
    ask(ann, QUESTION)
    ask(bob, "Who rang the tea urn?")
    answered(ann)
    answered(bob)
    expect(ann.locator("#chats li")).to_have_count(1)
    expect(bob.locator("#chats li")).to_have_count(1)
    expect(ann.locator("#chats")).to_contain_text("launch date")
    expect(bob.locator("#history .question")).to_have_text("Who rang the tea urn?")


def test_the_text_of_a_document_stays_text(visit: Visit, tmp_path: Path) -> None:
    bad = tmp_path / "<img src=x onerror=alert(1)>${1}{{x}}.txt"
    bad.write_text(HOSTILE)
    page = visit()
    add(page, bad)
    row = page.locator("#documents li", has_text="onerror")
    expect(row).to_be_visible()
    question = "What does Mallory say of the zeppelin? <script>window.harmed='question'</script>"
    ask(page, question)
    answered(page)
    shown = page.locator("#history .answer").inner_text()
    assert "<script>" in shown or "<img src=x" in shown or "${window" in shown
    expect(page.locator("#history .question")).to_have_text(question)
    page.locator("#history button.cite").first.click()
    expect(page.locator(".source.shown mark")).to_be_visible()
    page.get_by_role("tab", name="Search").click()
    page.locator("#query textarea").fill("zeppelin budget Mallory")
    page.keyboard.press("Enter")
    expect(page.locator("#results mark").first).to_contain_text("onerror")
    row.locator("[data-act=overview]").click()
    expect(page.locator("#overview dialog")).to_be_visible()
    page.keyboard.press("Escape")
    row.locator("[data-view]").click()
    expect(page.locator("#document [data-text]")).to_contain_text("<img src=x onerror")
    assert page.locator("#document :is(script, img, a)").count() == 0
    page.keyboard.press("Escape")
    assert page.evaluate("window.harmed") is None
    found = "#history script, #panel script, #results script, .html-container :is(img, a)"
    assert page.locator(found).count() == 0
    row.locator("[data-act=remove_document]").click()
    row.locator("[data-act=remove_document]").click()
    expect(row).to_have_count(0)


def test_an_overview_opens_with_keys_and_fits_a_phone(visit: Visit, served: Served) -> None:
    page = visit(width=390, height=800)
    with Corpus(served.folder) as corpus:
        about = corpus.overview(corpus.documents()[0].id)
    page.locator("#side .toggle-button").first.click()
    button = page.get_by_role("button", name=f"Overview of {about.title}", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=about.title)
    expect(dialog).to_be_visible()
    expect(dialog.locator("blockquote").first).to_have_text(about.topics[0].quote.text)
    assert dialog.evaluate("it => it.scrollWidth <= it.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()


def test_search_can_be_limited(visit: Visit, served: Served) -> None:
    with Corpus(served.folder) as corpus:
        texts = [corpus.document(one.id) for one in corpus.documents()]
    others = {
        " ".join(one.text[said.text_start : said.end].split())
        for one in texts
        for said in one.utterances
        if "Greta" not in (said.speaker or "") and said.end - said.text_start > 40
    }
    page = visit()
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Speaker").fill("greta")
    page.locator("#query textarea").fill("the launch")
    page.keyboard.press("Enter")
    expect(page.locator("#results .hits > li").first).to_be_visible()
    marks = [" ".join(text.split()) for text in page.locator("#results mark").all_inner_texts()]
    assert marks and not any(words in mark for words in others for mark in marks)
    page.get_by_role("textbox", name="File").fill("*.nothing")
    page.keyboard.press("Enter")
    nothing = "No document matches: files like *.nothing, spoken by greta."
    expect(page.locator("#results")).to_contain_text(nothing)
    page.get_by_role("textbox", name="File").fill("")
    since = page.get_by_role("textbox", name="Since")
    for typed, said in (("soon", "is no date"), ("2099", "spoken by greta, since 2099.")):
        since.fill(typed)
        page.keyboard.press("Enter")
        expect(page.locator("#results")).to_contain_text(said)
    since.fill("2025")
    page.get_by_role("textbox", name="With").fill("greta")
    page.keyboard.press("Enter")
    expect(page.locator("#results .hits > li .place").first).to_contain_text(" 2025 ")
    page.get_by_label("Every place, and how many there are").check()
    page.locator("#query textarea").fill("What did people ask for?")
    page.keyboard.press("Enter")
    expect(page.locator("#results")).to_contain_text(re.compile(r"About \d+ places \(\d+ to \d+\)"))


def test_needles_are_measured_in_the_documents_that_are_there(visit: Visit) -> None:
    page = visit()
    page.get_by_role("tab", name="Evaluate").click()
    page.get_by_label("Facts per depth").fill("1")
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.locator("#measured .notice")).to_contain_text("this takes minutes")
    grids = page.locator("#measured .heat")
    page.locator("#measured :is(.heat, .notice.error)").first.wait_for()
    expect(grids).to_have_count(3)
    expect(grids.first.locator("caption")).to_contain_text(re.compile(r"\d+% found"))
    shares = grids.first.locator("td").all_inner_texts()
    assert len(shares) == 10 and set(shares) <= {"0%", "100%"}  # five depths, two lengths


def test_a_model_is_asked_with_its_evidence_at_every_place(visit: Visit) -> None:
    page = visit()
    page.get_by_role("tab", name="Evaluate").click()
    page.get_by_label("Questions").fill("1")
    page.get_by_role("button", name="Measure positions").click()
    expect(page.locator("#positions .notice")).to_contain_text("you can go on asking")
    lines = page.locator("#positions figure g.line")
    page.locator("#positions :is(figure, .notice.error)").first.wait_for()
    expect(lines).to_have_count(2)  # the model as it is, and Ms-PoE
    for line in lines.all():
        values = [title.text_content() or "" for title in line.locator("title").all()]
        assert len(values) == 5 and all(re.match(r"(0|100)% ", value) for value in values)
    expect(page.locator("#positions .numbers tbody tr")).to_have_count(2)
    page.reload()  # what was measured last is still there
    page.get_by_role("tab", name="Evaluate").click()
    expect(page.locator("#positions figure")).to_be_visible()
    assert violations(page) == []


def test_a_conversation_is_saved_with_its_citations(visit: Visit) -> None:
    page = visit()
    ask(page)
    answered(page)
    saved = {}
    for form in ("Markdown", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {form}").click()
        saved[download.value.suggested_filename.rsplit(".")[-1]] = download.value.path().read_text()
    (exchange,) = json.loads(saved["json"])["exchanges"]
    assert exchange["question"] == QUESTION and exchange["answer"]["citations"]
    for citation in exchange["answer"]["citations"]:
        assert f"characters {citation['start']}-{citation['end']}" in saved["md"]


def test_keys_alone_are_enough(visit: Visit) -> None:
    page = visit()
    page.locator("body").press("/")
    expect(page.locator("#box textarea")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    answered(page)
    page.locator("#history button.cite").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".source.shown")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("button.cite.shown")).to_be_focused()


def test_on_a_phone_sources_come_and_go(visit: Visit) -> None:
    page = visit(width=390, height=844)
    expect(page.locator("#side")).not_to_have_class(re.compile(r"\bopen\b"))
    ask(page)
    answered(page)
    expect(page.locator("#box")).to_be_in_viewport(ratio=1)
    panel = page.locator("#panel")
    expect(panel).not_to_be_in_viewport()
    page.locator("#history button.cite").first.click()
    expect(page.locator(".source.shown mark")).to_be_in_viewport()
    page.get_by_role("button", name="Close the sources").click()
    expect(panel).not_to_be_in_viewport()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390


def test_a_question_asked_before_the_page_has_loaded_is_answered(
    browser: Browser, served: Served
) -> None:
    """The first load event is held back until the question was sent."""
    context = new_context(browser)
    page = context.new_page()
    waiting: list[Route] = []
    sent = threading.Event()

    def hold(route: Route) -> None:
        if sent.is_set():
            route.continue_()
        else:
            waiting.append(route)

    page.route("**/queue/join*", hold)
    page.goto(served.address)
    expect(page.locator("#box textarea")).to_be_visible()
    ask(page)
    expect(page.locator("#unsent")).to_contain_text("still loading")
    expect(page.locator("#box textarea")).to_have_value(QUESTION)
    sent.set()
    for route in waiting:
        route.continue_()
    answered(page)
    expect(page.locator("#history .question")).to_have_text(QUESTION)
    expect(page.locator("#chats li")).to_have_count(1)
    expect(page.locator("#unsent")).to_be_hidden()
    page.reload()
    answered(page)
    context.close()


def test_a_question_asked_while_offline_is_sent_afterwards(visit: Visit) -> None:
    page = visit()
    page.context.set_offline(True)
    ask(page)
    expect(page.locator("#unsent")).to_contain_text("You are offline")
    expect(page.locator("#box textarea")).to_have_value(QUESTION)
    page.context.set_offline(False)
    answered(page)
    expect(page.locator("#history .question")).to_have_text(QUESTION)


def test_a_question_that_does_not_arrive_stands_in_the_box_again(visit: Visit) -> None:
    page = visit()
    page.route("**/queue/join*", lambda route: route.abort())
    ask(page)
    expect(page.locator("#unsent")).to_contain_text("could not be sent")
    expect(page.locator("#box textarea")).to_have_value(QUESTION)
    page.unroute("**/queue/join*")
    page.reload()
    expect(page.locator("#box textarea")).to_have_value(QUESTION)
    page.locator("#box textarea").press("Enter")
    answered(page)
    page.reload()
    answered(page)
    expect(page.locator("#box textarea")).to_have_value("")


def test_the_sources_say_that_a_document_is_gone(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "magpie.txt"
    file.write_text("The magpie census is taken on the second Sunday of February.")
    page = visit()
    add(page, file)
    row = page.locator("#documents li", has_text="magpie")
    expect(row).to_be_visible()
    ask(page, "When is the magpie census taken?")
    answered(page)
    expect(page.locator("#panel .source").first).to_contain_text("second Sunday")
    expect(page.locator("#panel .lost")).to_have_count(0)
    row.get_by_role("button", name="Remove").click()
    row.get_by_role("button", name="Remove").click()
    expect(page.locator("#panel .lost").first).to_contain_text("no longer in the corpus")


def test_a_file_of_a_name_that_is_there_asks_first(visit: Visit, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder, day in ((mine, "Monday"), (other, "Thursday")):
        folder.mkdir()
        (folder / "wren.txt").write_text(f"The wren walk is held on {day}.")
    ann, bob = visit(), visit()
    add(ann, mine / "wren.txt")
    expect(ann.locator("#uploads li", has_text="wren.txt")).to_contain_text("added")
    add(bob, other / "wren.txt")
    row = bob.locator("#uploads li.exists", has_text="wren.txt")
    expect(row).to_contain_text("There is another file of this name.")
    ask(bob, "When is the wren walk held?")
    answered(bob)
    expect(bob.locator("#history .answer")).to_contain_text("Monday")
    row.get_by_role("button", name="Keep both").click()
    expect(bob.locator("#documents li", has_text="wren (2)")).to_be_visible()
    expect(bob.locator("#documents li", has_text="wren")).to_have_count(2)
    add(bob, other / "wren.txt")
    row.get_by_role("button", name="Cancel").click()
    cancelled = bob.locator("#uploads li.cancelled", has_text="wren.txt")
    cancelled.get_by_role("button", name="Try again").click()
    again = bob.locator("#uploads li.updated, #uploads li.duplicate", has_text="wren.txt")
    expect(again).to_have_count(1)
    bob.get_by_role("button", name="Clear this list").click()
    for row in bob.locator("#documents li", has_text="wren").all()[::-1]:
        row.get_by_role("button", name="Remove").click()
        row.get_by_role("button", name="Remove").click()
        expect(row).to_have_count(0)


@pytest.mark.skipif(find_spec("rapidocr") is None, reason='pip install "rag-app[ocr]"')
def test_from_upload_to_a_highlighted_quote(visit: Visit, served: Served, tmp_path: Path) -> None:
    page = visit(1440, 900)
    names = ("minutes.pdf", "2026-03-14_standup.json", "boat.eml")
    writers = (scan, transcript, mail)
    files = [write(tmp_path / name) for write, name in zip(writers, names, strict=True)]
    add(page, *files)
    for name in names:
        expect(page.locator("#uploads li", has_text=name)).to_contain_text("added")
    scanned = page.locator("#uploads li", has_text="minutes.pdf")
    expect(scanned).to_contain_text("1 of 2 pages read by OCR")
    for number, (question, (words, place)) in enumerate(QUESTIONS.items(), 1):
        ask(page, question)
        answered(page, number)
        source = page.locator(".sources section:not([hidden]) .source").first
        expect(source.locator("mark")).to_contain_text(words)
        expect(source.locator("header .place, footer").first).to_contain_text(place)
        if number == 1:  # on the picture of the scanned page, too
            source.locator("[data-view]").click()
            expect(page.locator("#document [data-page='1'] .box").first).to_be_visible()
            page.keyboard.press("Escape")
    figure = page.locator(".sources section:not([hidden]) .source .figure").first
    expect(figure).to_contain_text("Figure 1: Passengers of each month.")
    drawn = "image => image.complete && image.naturalWidth"
    figure.locator("img").scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({drawn})(document.querySelector('.figure img'))")
    assert figure.locator("img").evaluate(drawn) == 300
    with Corpus(served.folder) as corpus:
        ids = [one.id for one in corpus.documents() if Path(one.path).name in names]
        assert len(ids) == 4
        corpus.remove(ids)
