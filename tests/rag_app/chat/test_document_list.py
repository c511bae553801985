"""The list of documents says which of them are being written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from indexing.store.view import DocumentEntry
from rag_app.chat.document_list import ListedDocument
from rag_app.chat.page.html import documents


def test_a_document_that_has_just_grown_is_live() -> None:
    now = datetime.now(UTC)
    entry = DocumentEntry("1", "/in/a.txt", "", "a", "text", 9, 9, 9, 1, now.isoformat())
    before = (now - timedelta(minutes=6)).isoformat()
    for one, live in (
        (entry, False),
        (replace(entry, grown=True), True),
        (replace(entry, grown=True, added=before), False),
    ):
        assert bool(one.live) is live
        assert ('class="live"' in documents([ListedDocument(one, False)], ())) is live
