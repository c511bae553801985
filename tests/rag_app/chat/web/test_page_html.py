"""The HTML of the page: its language, and our scripts before anything of Gradio's."""

from __future__ import annotations

import re
import time

import httpx
from playwright.sync_api import Browser, Route, expect

from rag_app.chat.language.current import COOKIE
from rag_app.chat.page.page import SCRIPTS
from tests.rag_app.chat.browser_context import new_context
from tests.rag_app.chat.served_corpus import Served
from tests.waiting import PATIENCE

GERMAN = {"Accept-Language": "de-AT,de;q=0.8,en;q=0.5"}


def test_the_page_is_in_the_language_of_whoever_asks(served: Served) -> None:
    page = httpx.get(served.address, headers=GERMAN, timeout=PATIENCE)
    assert page.content.count(b'lang="de"') == 1
    assert "Cookie" in page.headers["vary"] and "Accept-Language" in page.headers["vary"]
    english = httpx.get(
        served.address, headers={**GERMAN, "Cookie": f"{COOKIE}=en"}, timeout=PATIENCE
    )
    assert b'lang="en"' in english.content and b'lang="de"' not in english.content


def test_scripts_run_before_anything_of_gradios_and_once(served: Served) -> None:
    page = httpx.get(served.address, timeout=PATIENCE).text
    before = page[page.index("<head>") : page.index("gradio_config")]
    scripts = ["words.js", *(f"static/{name}.js" for name in SCRIPTS)]
    assert re.findall(r'<script src="([^"]+)"', before)[: len(scripts)] == scripts
    assert all(page.count(script) == 1 for script in scripts)


def test_nothing_is_dead_where_a_script_arrives_late(served: Served, browser: Browser) -> None:
    def late(route: Route) -> None:
        time.sleep(2)  # longer than Gradio takes to build the page
        route.continue_()

    context = new_context(browser)
    page = context.new_page()
    page.route("**/static/page.js", late)
    page.goto(served.address)
    page.locator("#documents .filter").fill("nothing is called so")
    expect(page.locator("#documents li").first).to_be_hidden()
    expect(page.locator("#changes .loading")).to_have_count(0)
    context.close()
