"""Parts of the page as HTML: what is folded, hidden, or left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generator.answer import Answer
from indexing.encoder.encoder import Encoder
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.language.current import Language
from rag_app.chat.page import html
from rag_app.chat.queues.ingest_queue import IngestQueue
from rag_app.chat.upload_records import Stage, UploadStatus
from rag_app.chat.uploads import Uploads
from rag_app.chat.web.page_html import _completed
from rag_app.corpus.corpus import Corpus

ANSWERED = Exchange("Why?", state="done", text="It rained.", answer=Answer("Why?", "It rained."))
STOPPED = Exchange("When?", state="stopped")


def upload(number: int, stage: Stage) -> UploadStatus:
    return UploadStatus(f"id{number}", f"{stage}.txt", stage)


def test_uploads_that_are_done_fold_away_and_the_others_do_not() -> None:
    stages: tuple[Stage, ...] = ("added", "failed", "waiting", "updated", "exists", "cancelled")
    page = html.uploads([upload(*each) for each in enumerate(stages)])
    folded = page[page.index("<details") : page.index("</details>")]
    assert set(re.findall(r"(\w+)\.txt</span>", folded)) == {"added", "updated"}
    open_ = page[: page.index("<details")]
    names = re.findall(r'class="name">(\w+)', open_)
    assert set(names) == {"failed", "waiting", "exists", "cancelled"}
    assert set(names[:2]) == {"failed", "exists"}  # what needs somebody is first
    assert "2 files are done" in page and " open>" not in folded
    assert "<details" not in html.uploads([upload(1, "reading")])


def test_uploads_that_are_done_are_gone_after_a_restart(tmp_path: Path, encoder: Encoder) -> None:
    before = Uploads(tmp_path / "uploads", max_bytes=1000)
    for stage in ("added", "failed", "duplicate"):
        content = before.records.new_content()
        content.write_text("words")
        before.records.keep(content, f"{stage}.txt", stage)
    before.records.close()
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        later = IngestQueue(corpus, Uploads(tmp_path / "uploads", max_bytes=1000))
        later._adopt()
        assert [each.name for each in later.uploads] == ["failed.txt"]
        later.close()


@pytest.mark.parametrize(
    ("exchanges", "asking", "shown"),
    [
        ((ANSWERED,), False, ["0"]),
        ((ANSWERED, ANSWERED), False, ["1"]),
        ((ANSWERED,), True, []),
        ((ANSWERED, STOPPED), False, []),
        ((), True, []),
    ],
)
def test_sources_are_those_of_the_last_answer_or_none(
    exchanges: tuple[Exchange, ...], asking: bool, shown: list[str], tmp_path: Path
) -> None:
    conversation = Conversation("0" * 16, "2026-01-01", exchanges)
    page = html.sources(Corpus(tmp_path), conversation, asking=asking)
    assert re.findall(r'<section data-of="(\d+)">', page) == shown


def test_gradios_script_for_embedding_is_not_asked_for() -> None:
    page = (
        b'<html lang="en"><head></head><script>one()</script><script>(() => { script.src ='
        b' "/static/js/iframeResizer.contentWindow.min.js"; })();</script><script>two()</script>'
    )
    own = _completed(page, Language("en", "en"), "")
    assert b"iframeResizer" not in own and b"one()" in own and b"two()" in own


def test_what_is_for_engineers_stands_before_nobody_else() -> None:
    conversation = Conversation("0" * 16, "2026-01-01", (ANSWERED,))
    page = html.conversation(conversation)
    assert 'data-act="again"' in page and 'data-act="check"' not in page
    assert 'data-act="check"' in html.conversation(conversation, checks=True)
