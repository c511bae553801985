"""The scripts of the page in a real Chromium: no event is lost where a stream ends early."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from rag_app.chat.page import page as page_module
from tests.waiting import BROWSER_PATIENCE

SCRIPT = Path(page_module.__file__).parent / "static" / "events.js"
ANSWERED, CLOSE = "process_completed", "close_stream"


EVENTS = {"turns": [1], "questions": [2], "follows": [4]}
ORDER = f"<meta name=rag-app-events content='{json.dumps(EVENTS)}'>"


def stream(*messages: tuple[str, str], first: int = 1) -> str:
    """The body of a stream of server-sent events, numbered from the first."""
    values = [{"msg": kind, "event_id": id_, "text": "\u00e9\u4f60"} for kind, id_ in messages]
    return "".join(
        f"id: {number}\ndata: {json.dumps(each)}\n\n" for number, each in enumerate(values, first)
    )


@dataclass
class Server:
    """Answers a page with these streams and event ids, one after another."""

    streams: list[str]
    ids: list[str]
    after: list[str] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        url = urlsplit(route.request.url)
        if url.path.endswith("/queue/data"):
            self.after.append(parse_qs(url.query)["after"][0])
            route.fulfill(body=self.streams.pop(0), content_type="text/event-stream")
        elif url.path.endswith("/queue/join"):
            route.fulfill(json={"event_id": self.ids.pop(0)})
        else:
            route.fulfill(body=f"<title>empty</title>{ORDER}", content_type="text/html")


READ = """async (count) => {
  for (let i = 0; i < count; i += 1) await fetch("/queue/join", { method: "POST", body: "{}" });
  const text = await (await fetch(new Request("/queue/data?session_hash=a"))).text();
  return text.trim().split("\\n\\n").map((each) => JSON.parse(each.slice(6)));
}"""
SOON = "const later = setTimeout; window.setTimeout = (what) => later(what)"  # without a pause


def served_page(browser: Browser, server: Server) -> Page:
    """A page with the script."""
    page = browser.new_page()
    page.set_default_timeout(BROWSER_PATIENCE)
    page.add_init_script(SOON)
    page.add_init_script("window.gettext = (text) => text")
    page.route("**/*", server.answer)
    page.goto("http://localhost/")
    page.add_script_tag(path=SCRIPT)
    return page


def read(browser: Browser, server: Server) -> list[tuple[str, str | None]]:
    """What the client reads after all its events."""
    page = served_page(browser, server)
    found = page.evaluate(READ, len(server.ids))
    page.close()
    assert all(each.get("text", "\u00e9\u4f60") == "\u00e9\u4f60" for each in found)
    return [(each["msg"], each.get("event_id")) for each in found]


def test_a_stream_that_ends_before_an_event_is_answered_goes_on(browser: Browser) -> None:
    server = Server(
        [
            stream((ANSWERED, "a"), (CLOSE, "")),
            stream((ANSWERED, "b"), (CLOSE, ""), first=2),
            stream((ANSWERED, "never"), (CLOSE, ""), first=3),
        ],
        ["a", "b"],
    )
    assert read(browser, server) == [(ANSWERED, "a"), (ANSWERED, "b"), (CLOSE, None)]
    assert server.after == ["0", "1"]


def test_a_stream_whose_events_are_all_answered_ends(browser: Browser) -> None:
    server = Server([stream((ANSWERED, "a"), (ANSWERED, "b"), (CLOSE, "")), ""], ["a", "b"])
    assert read(browser, server) == [(ANSWERED, "a"), (ANSWERED, "b"), (CLOSE, None)]
    assert len(server.streams) == 1


def test_a_stream_that_breaks_off_is_read_on_from_there(browser: Browser) -> None:
    broken = stream(("heartbeat", ""), ("progress", "a"), first=7)
    half = stream((ANSWERED, "a"))[:-20]
    rest = stream((ANSWERED, "a"), (CLOSE, ""), first=9)
    server = Server([broken, half, "", rest, ""], ["a"])
    found = read(browser, server)
    assert found == [("heartbeat", ""), ("progress", "a"), (ANSWERED, "a"), (CLOSE, None)]
    assert server.after == ["0", "8", "8", "8"]


def test_a_stream_that_breaks_off_with_all_answered_is_said_to_be_closed(browser: Browser) -> None:
    server = Server([stream((ANSWERED, "a")), ""], ["a"])
    assert read(browser, server) == [(ANSWERED, "a"), (CLOSE, None)]
    assert len(server.streams) == 1


def test_events_that_nobody_knows_any_more_are_said_to_be_lost(browser: Browser) -> None:
    server = Server([stream((CLOSE, "")) for _ in range(20)], ["a", "b"])
    lost = [("unexpected_error", "a"), ("unexpected_error", "b")]
    assert read(browser, server) == [*lost, (CLOSE, None)]
    assert len(server.after) == 9


LATE = """async (events) => {
  const join = ([number, chat]) => fetch("/queue/join", {
    method: "POST", body: JSON.stringify({ fn_index: number, data: [{ chat }] }),
  });
  for (const event of events) await join(event);
  const text = await (await fetch(new Request("/queue/data?session_hash=a"))).text();
  return text.trim().split("\\n\\n").map((each) => JSON.parse(each.slice(6)).output?.data?.[0]);
}"""
TURN, QUESTION, OTHER, FOLLOWS = 1, 2, 3, 4  # as in ORDER


@pytest.mark.parametrize(
    ("events", "shown"),
    [  # what is sent, about which conversation; of which the answer tells; whether it is shown
        ([(QUESTION, "x", "x"), (TURN, "x", "y"), (QUESTION, "y", "y")], [0, 1, 1]),
        ([(QUESTION, "x", "x"), (QUESTION, "x", "x"), (OTHER, "x", "x")], [1, 1, 1]),
        ([(OTHER, "x", "x"), (TURN, "x", "y"), (TURN, "y", "z")], [1, 0, 1]),
        ([(QUESTION, "x", "x"), (FOLLOWS, "x", ""), (FOLLOWS, "y", "")], [1, 1, 0]),
        # sent before the page knows which conversation a person went to
        ([(TURN, "x", "y"), (FOLLOWS, "x", ""), (FOLLOWS, "y", "")], [1, 0, 1]),
        # before the page is loaded there is no conversation to bring back
        ([(FOLLOWS, "x", ""), (OTHER, "x", "x"), (FOLLOWS, "y", "")], [1, 1, 1]),
    ],
)
def test_what_comes_after_a_conversation_was_left_is_not_shown(
    browser: Browser, events: list[tuple[int, str, str]], shown: list[int]
) -> None:
    ids = ("a", "b", "c")
    messages = [
        {"msg": ANSWERED, "event_id": id_, "output": {"data": [id_, {"chat": chat}]}}
        for id_, (_, _, chat) in zip(ids, events, strict=True)
    ]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in messages)
    page = served_page(browser, Server([body], [*ids]))
    sent = [(number, chat) for number, chat, _ in events]
    expected = [id_ if one else None for id_, one in zip(ids, shown, strict=True)]
    assert page.evaluate(LATE, sent) == [*expected, None]
    page.close()


def test_a_setting_sent_before_a_conversation_was_left_does_not_store_the_one_left(
    browser: Browser,
) -> None:
    stored = [{"key": "k", "chat": chat, "length": "short"} for chat in ("y", "x")]
    messages = [
        {"msg": ANSWERED, "event_id": id_, "output": {"data": [each]}}
        for id_, each in zip("ab", stored, strict=True)
    ]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in messages)
    page = served_page(browser, Server([body], ["a", "b"]))
    shown = page.evaluate(LATE, [(TURN, "x"), (OTHER, "x")])
    assert shown == [stored[0], {**stored[1], "chat": "y"}, None]
    page.close()
