"""The page of a batch: everything escaped, every marker at its quote, nothing loaded."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

from rag_app.batch.report import page

HOSTILE = "</p><script>alert(1)</script><img src=x onerror=alert(1)>\" ' {{ 7*7 }} &amp;"
VOID = {"meta", "br", "link", "img"}


class Reading(HTMLParser):
    """Tags, attributes and text of a page; that tags are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.said = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


def answer(**more: Any) -> dict[str, Any]:
    quote = {
        "marker": 1,
        "document": "d",
        "path": "/x",
        "title": "Talk",
        "part": "",
        "start": 3,
        "end": 9,
        "quote": "It fell.",
        "speaker": "Ana",
        "time": "00:01:02",
        "page": None,
        "verified": True,
    }
    return {
        "id": "q",
        "question": "Why?",
        "document": "Talk",
        "documents": [{"id": "d", "title": "Talk"}],
        "error": None,
        "answer": "Ana: It fell. [1]",
        "citations": more.pop("citations", [{**quote, **more.pop("quote", {})}]),
        "unsupported": [],
        "context": [
            {"document": "d", "title": "Talk", "tokens": 9000, "kept": 10, "dropped": 8990}
        ],
        "abstained": False,
        "mode": "quote",
        "model": "",
        "fingerprint": "a-b",
        "settings": {
            "version": "1",
            "k": 5,
            "generator": {"answer": "quote", "model": ""},
            "encoder": {"model": "m"},
        },
        **more,
    }


def test_what_a_quote_shows() -> None:
    read = Reading(page([answer()]))
    for said in (
        "Why?",
        "It fell.",
        "Ana",
        "00:01:02",
        "characters 3\u20139",
        "10 of 9,000 tokens",
    ):
        assert said in read.said
    assert read.tags.count("figure") == 1


def strong(html: str) -> list[str]:
    return [unescape(words) for words in re.findall("<strong>(.*?)</strong>", html, re.DOTALL)]


def test_the_short_answer_stands_out_in_its_quote() -> None:
    quote = "It  fell <b>\nhard</b>."
    start = quote.index("<b>")
    short = {"marker": 1, "document": "d", "start": 3 + start, "end": 3 + start + 8}
    html = page([answer(quote={"quote": quote, "end": 3 + len(quote)}, short=short)])
    assert strong(html) == ["<b>\nhard"]
    assert quote in Reading(html).said
    for elsewhere in (None, {**short, "marker": 2}, {**short, "start": 0}, {**short, "end": 999}):
        html = page([answer(quote={"quote": quote}, short=elsewhere)])
        assert strong(html) == [] and quote in Reading(html).said


def test_closest_passages_are_no_answer() -> None:
    near = {**answer()["citations"][0], "quote": HOSTILE, "title": HOSTILE, "verified": False}
    silent = answer(
        answer="The documents do not say.", abstained=True, citations=[], closest=[near]
    )
    html = page([silent])
    read = Reading(html)
    assert "Closest passages (related, but not an answer)" in read.said
    assert read.said.count(HOSTILE) == 2 and not {"script", "img"} & set(read.tags)
    assert "may not support" not in read.said and 'id="q1-1"' not in html


def test_hostile_text_stays_text() -> None:
    every = answer(
        question=HOSTILE,
        document=HOSTILE,
        documents=[{"id": "d", "title": HOSTILE}],
        answer=f"{HOSTILE} [1]",
        unsupported=[HOSTILE],
        mode="free",
        quote={"quote": HOSTILE, "speaker": HOSTILE, "title": HOSTILE, "time": HOSTILE},
        context=[{"title": HOSTILE, "tokens": 1, "kept": 1}],
    )
    failed = answer(error={"kind": "X", "message": HOSTILE}, answer=None, id=HOSTILE, question="")
    read = Reading(page([every, failed]))
    assert not {"script", "img", "link", "iframe"} & set(read.tags)
    assert read.said.count("alert(1)") >= 16 and "{{ 7*7 }}" in read.said
    targets = [value for name, value in read.attributes if name in {"href", "src"}]
    assert targets and all(target.startswith("#") for target in targets)
    assert not [name for name, _ in read.attributes if name.startswith("on")]


def test_the_page_loads_nothing() -> None:
    html = page([answer()])
    assert "default-src 'none'" in html
    assert "://" not in html and "url(" not in html and "@import" not in html


def test_markers_lead_to_quotes_and_doubts_are_marked() -> None:
    text = "It fell. [1] It sank. [unsupported] Then [2] it [unsupp"
    read = Reading(page([answer(answer=text, mode="free", unsupported=["It sank."])]))
    identifiers = {value for name, value in read.attributes if name == "id"}
    links = [value[1:] for name, value in read.attributes if name == "href"]
    assert links == ["q1-1"] and set(links) <= identifiers
    assert read.tags.count("mark") == 1 and "Then [2] it [unsupp" in read.said


def test_groups_are_documents_in_the_order_asked() -> None:
    other = {"document": "B", "documents": [{"id": "b", "title": "B"}]}
    whole: dict[str, object] = {"document": None, "documents": []}
    gone = {"document": "G", "documents": [], "error": {"kind": "X", "message": "not there"}}
    html = page([answer(), answer(**other), answer(), answer(**whole), answer(**gone)])
    heads = [part.partition("<")[0] for part in html.split("<h2>")[1:]]
    assert heads == ["Talk", "B", "All documents", "G"]
    assert html.count("<article") == 5


def test_no_answers_is_a_page_too() -> None:
    assert "0 questions" in Reading(page([])).said
