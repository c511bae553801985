"""Pictures of the page for the README: serves data/samples and looks at each view in Chromium.

usage: python tools/screenshots.py [VIEW...]        all of them, into docs/images, unless named
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SAMPLES = ROOT / "data" / "samples"
WIDE, TALL, PHONE = (1280, 800), (1280, 1000), (390, 760)
LONG = 600_000  # milliseconds
COLOURS = 160  # of a picture; the page has few, and the file is a third as large
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@dataclass(frozen=True)
class View:
    """A picture: how to get there, how large, dark or light."""

    name: str
    reach: Callable[[Page], None]
    size: tuple[int, int] = WIDE
    dark: bool = False
    empty: bool = False  # without documents
    locale: str = "en-GB"


def ask(page: Page, question: str = "Why was the budget cut?") -> None:
    """A question, answered."""
    page.locator("#box textarea").fill(question)
    page.keyboard.press("Enter")
    page.locator("#history .exchange").last.wait_for(timeout=LONG)


def cited(page: Page) -> None:
    """An answer with its first source."""
    ask(page)
    page.locator("#history button.cite").first.click()


def checked(page: Page) -> None:
    """What an answer was made from, and whether the place of its evidence matters."""
    ask(page)
    page.get_by_role("button", name="Check positions").click()
    page.locator("#history .check").wait_for(timeout=LONG)
    page.locator(".ledger:not(.check) summary").click()
    page.locator("#history .check").scroll_into_view_if_needed()


def in_own_words(page: Page) -> None:
    """An answer of the language model, with what no quote supports."""
    page.get_by_text("Generated answer").click()
    ask(page, "Who is Heron for?")


def opened(page: Page) -> None:
    """A PDF, opened at a quote."""
    ask(page, "How many mink were caught on the rafts?")
    page.locator("#panel [data-view]").first.click()
    page.locator("#document .box").first.wait_for()


def opened_transcript(page: Page) -> None:
    """A transcript, opened at a quote, with its recording."""
    ask(page, "Which probe was chosen in the first meeting?")
    page.locator("#history button.cite").first.click()
    page.locator("#panel [data-view]").first.click()
    page.locator("#document mark").first.wait_for()


def suggested(page: Page) -> None:
    """Before the first question."""
    page.locator(".welcome [data-ask]").nth(2).wait_for(timeout=LONG)  # the last of three


def chosen(page: Page) -> None:
    """How long answers are, in what form, and which model writes."""
    page.locator("#writer button").click()
    page.get_by_role("dialog", name="Answers").wait_for()
    page.get_by_text("Another server, or a folder").click()


MINUTES = """# Protokoll der Sitzung vom 9. März

Der Gemeinderat hat beschlossen, die alte Brücke über die Isar zu sanieren. Die Kosten der Sanierung
betragen 450.000 Euro und werden zur Hälfte vom Land getragen.

Frau Müller wurde zur neuen Leiterin des Bauamts gewählt. Sie tritt ihr Amt am 1. April an.

Die Bibliothek bleibt wegen des Umbaus im August geschlossen. Bücher können in dieser Zeit im
Rathaus abgegeben werden.
"""


def in_german(page: Page) -> None:
    """The page in German, asked about German minutes, which stay in the corpus."""
    file = FilePayload(name="protokoll.md", mimeType="text/markdown", buffer=MINUTES.encode())
    page.locator("input[data-picked=files]").set_input_files(file)
    page.locator("#documents li", has_text="Protokoll").wait_for(timeout=LONG)
    ask(page, "Wie hoch sind die Kosten für die Sanierung der Brücke?")
    page.locator("#history button.cite").first.click()
    page.locator("#history .ledger summary").click()


def searched(page: Page) -> None:
    """Documents for a query."""
    page.get_by_role("tab", name="Search").click()
    page.locator("#query textarea").fill("why the launch was moved")
    page.keyboard.press("Enter")
    page.locator("#results .hits").wait_for()


def registered(page: Page) -> None:
    """What was decided, is to be done and is open in all meetings."""
    page.get_by_role("tab", name="Register").click()
    page.locator("#register .matters").first.wait_for()


TALK = """Maren Osei: I had Innes Duarte on the phone about the budget of Heron.
Innes says that the Finch warranty reserve stays as it is.
Yusuf Hale: So the money for the field trial is what Innes Duarte told us in October?
Maren Osei: Yes, and Innes wants the figures of the probes by Friday.
"""


def respelled(page: Page) -> None:
    """Names as transcripts spell them, one of which stays in the corpus."""
    file = FilePayload(name="heron-7-telephone.txt", mimeType="text/plain", buffer=TALK.encode())
    page.locator("input[data-picked=files]").set_input_files(file)
    page.locator("#documents li", has_text="heron-7").wait_for(timeout=LONG)
    page.get_by_role("tab", name="Names").click()
    page.get_by_label("Name", exact=True).fill("Aoife")
    page.get_by_label("Other spelling").fill("Eefa")
    page.keyboard.press("Enter")
    page.locator("#names li").wait_for()
    page.get_by_role("button", name="Look for candidates").click()
    page.locator("#proposals li").first.wait_for(timeout=LONG)


def measured(page: Page) -> None:
    """Needles in the documents."""
    page.get_by_role("tab", name="Evaluate").click()
    page.get_by_role("button", name="Measure", exact=True).click()
    page.locator("#measured .heat").first.wait_for(timeout=LONG)


def placed(page: Page) -> None:
    """Accuracy by the place of the evidence."""
    page.get_by_role("tab", name="Evaluate").click()
    page.get_by_role("button", name="Measure positions").click()
    page.locator("#positions figure").first.wait_for(timeout=LONG)
    page.locator("#positions .numbers").last.scroll_into_view_if_needed()


VIEWS = (
    View("chat", cited),
    View("chat-dark", cited, dark=True),
    View("chat-phone", ask, PHONE),
    View("chat-phone-source", cited, PHONE, dark=True),
    View("ledger", checked, TALL, dark=True),
    View("welcome", lambda page: None, empty=True),
    View("suggestions", suggested, TALL),
    View("document", opened, TALL),
    View("document-phone", opened_transcript, PHONE),
    View("answering", chosen, TALL),
    View("own-words", in_own_words),
    View("search", searched),
    View("needles", measured, TALL),
    View("places", placed, TALL, dark=True),
    View("register", registered, TALL),
    View("german", in_german, locale="de-DE"),  # the last two add a document
    View("names", respelled, TALL),
)


def main(*names: str) -> None:
    """Write every picture, or those that are named."""
    chromium = shutil.which("chromium") or sys.exit("install Chromium: apt-get install chromium")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with serving() as address, serving(samples=False) as empty, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        for view in VIEWS:
            if names and view.name not in names:
                continue
            path = IMAGES / f"{view.name}.png"
            look(browser, empty if view.empty else address, view).quantize(COLOURS).save(
                path, optimize=True
            )
            print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")
        browser.close()


@contextmanager
def serving(*, samples: bool = True) -> Iterator[str]:
    """A server over the samples, or over nothing; its address."""
    run = [sys.executable, "-m", "rag_app"]
    with tempfile.TemporaryDirectory() as folder:
        corpus = ["--corpus", folder]
        if samples:
            files = [str(file) for file in sorted(SAMPLES.iterdir()) if file.suffix != ".jsonl"]
            subprocess.run([*run, "index", *files, *corpus], check=True)
        serve = [*run, "serve", "--measurements", "--port", "0", *corpus]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().split()[-1]
            finally:
                process.terminate()


def look(browser: Browser, address: str, view: View) -> Image.Image:
    """One view, seen by somebody who has never been there."""
    width, height = view.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if view.dark else "light",
        locale=view.locale,
    )
    context.set_default_timeout(LONG)
    page = context.new_page()
    page.goto(address)
    there = ".welcome.first" if view.empty else "#documents li"
    page.locator(there).first.wait_for(state="attached", timeout=LONG)
    page.wait_for_timeout(800)
    view.reach(page)
    page.wait_for_timeout(2000)  # until nothing moves
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()
    return picture


if __name__ == "__main__":
    main(*sys.argv[1:])
