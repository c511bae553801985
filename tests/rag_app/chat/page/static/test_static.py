"""The scripts of the page in a real Chromium: no event is lost where a stream ends early."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Browser, Page, Route

from rag_app.chat.page import page as page_module

SCRIPT = Path(page_module.__file__).parent / "static" / "events.js"
ANSWERED, CLOSE = "process_completed", "close_stream"


def stream(*messages: tuple[str, str]) -> str:
    """The body of a stream of server-sent events."""
    values = [{"msg": kind, "event_id": id_, "text": "\u00e9\u4f60"} for kind, id_ in messages]
    return "".join(f"data: {json.dumps(each)}\n\n" for each in values)


def opened(browser: Browser, streams: list[str], ids: list[str]) -> Page:
    """A page with the script, whose server gives these streams and event ids, one after another."""
    page = browser.new_page()

    def answer(route: Route) -> None:
        if route.request.url.endswith("/queue/data"):
            route.fulfill(body=streams.pop(0), content_type="text/event-stream")
        elif route.request.url.endswith("/queue/join"):
            route.fulfill(json={"event_id": ids.pop(0)})
        else:
            route.fulfill(body="<title>empty</title>", content_type="text/html")

    page.route("**/*", answer)
    page.goto("http://localhost/")
    page.add_script_tag(path=SCRIPT)
    return page


READ = """async (count) => {
  for (let i = 0; i < count; i += 1) await fetch("/queue/join", { method: "POST", body: "{}" });
  const text = await (await fetch(new Request("/queue/data"))).text();
  return text.trim().split("\\n\\n").map((each) => JSON.parse(each.slice(6)));
}"""


def read(page: Page, count: int) -> list[tuple[str, str]]:
    """What the client reads after so many events."""
    found = page.evaluate(READ, count)
    assert all(each["text"] == "\u00e9\u4f60" for each in found)
    page.close()
    return [(each["msg"], each["event_id"]) for each in found]


def test_a_stream_that_ends_before_an_event_is_answered_goes_on(browser: Browser) -> None:
    streams = [
        stream((ANSWERED, "a"), (CLOSE, "")),
        stream((ANSWERED, "b"), (CLOSE, "")),
        stream((ANSWERED, "never"), (CLOSE, "")),
    ]
    found = read(opened(browser, streams, ["a", "b"]), 2)
    assert found == [(ANSWERED, "a"), (ANSWERED, "b"), (CLOSE, "")]
    assert len(streams) == 1


def test_a_stream_whose_events_are_all_answered_ends(browser: Browser) -> None:
    streams = [stream((ANSWERED, "a"), (ANSWERED, "b"), (CLOSE, "")), ""]
    found = read(opened(browser, streams, ["a", "b"]), 2)
    assert found == [(ANSWERED, "a"), (ANSWERED, "b"), (CLOSE, "")]
    assert len(streams) == 1


def test_a_stream_that_breaks_off_ends(browser: Browser) -> None:
    streams = [stream(("heartbeat", "")), ""]
    assert read(opened(browser, streams, ["a"]), 1) == [("heartbeat", "")]
    assert len(streams) == 1
