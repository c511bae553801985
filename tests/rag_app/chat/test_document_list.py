"""The list of documents: which of them are being written, and whose names they have."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from indexing.encoder.encoder import Encoder
from indexing.filter import Scope
from indexing.store.view import DocumentEntry
from rag_app.chat.document_list import DocumentList, ListedDocument
from rag_app.chat.page.html import documents
from rag_app.chat.uploads import Uploads, folder_of
from rag_app.chat.viewer.viewer import Viewer
from rag_app.corpus.corpus import Corpus


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


def test_a_document_goes_into_a_collection_by_the_name_of_who_puts_it_there(
    tmp_path: Path, encoder: Encoder
) -> None:
    """Somebody else's name for the same text, and their recording, stay private."""
    text = "Ann: We cut the budget by ten percent.\nBob: I will tell the team.\n" * 3
    files = {"alice": "private plan.txt", "bob": "notes.txt"}
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        uploads = Uploads(corpus.folder / "uploads", max_bytes=10**6)
        for person, name in files.items():
            folder = uploads.folder / folder_of(person)
            folder.mkdir(parents=True)
            (folder / name).write_text(text)
            (folder / "private plan.mp3").write_bytes(b"ID3")
            corpus.collections.create(person, owner=person)
            corpus.add([folder / name], collection=person, owner=person)
        listed = DocumentList(corpus, uploads)
        (own,) = listed.entries("bob")
        listed.collect([own.entry.id], "for all", "bob")
        corpus.collections.share("for all")
        (seen,) = listed.entries("carol")
        assert (seen.entry.title, seen.entry.path) == ("notes", own.entry.path)
        assert {one.entry.title for one in listed.entries("bob")} == {"notes"}
        viewer = Viewer(corpus)
        assert viewer.recording(seen.entry.id, "carol") is None
        viewer.close()
        listed.remove(own.entry.id, "alice")
        assert not [*uploads.folder.rglob("private plan.txt")]


def test_the_date_in_a_file_s_name_is_of_that_file_alone(tmp_path: Path, encoder: Encoder) -> None:
    """Two people with the same text under names with other dates have each their own."""
    names = {"alice": "2024-02-01 plan.txt", "bob": "2026-05-05 notes.txt"}

    def dates() -> dict[str, list[tuple[str, str]]]:
        return {
            person: [
                (one.title, one.occasion.date) for one in corpus.seen_by(Scope(person)).documents()
            ]
            for person in names
        }

    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for person, name in names.items():
            (tmp_path / person).mkdir()
            (tmp_path / person / name).write_text("The group met. The budget was cut.\n")
            corpus.collections.create(person, owner=person)
            corpus.add([tmp_path / person], collection=person, owner=person)
        own = {
            "alice": [("2024-02-01 plan", "2024-02-01")],
            "bob": [("2026-05-05 notes", "2026-05-05")],
        }
        assert dates() == own
        (tmp_path / "bob" / names["bob"]).rename(tmp_path / "bob" / names["alice"])
        corpus.add([tmp_path / "bob"], collection="bob", owner="bob")
        assert dates() == {"alice": own["alice"], "bob": own["alice"]}
        corpus.collections.create("both", owner="bob", shared=True)
        corpus.seen_by(Scope("bob")).collections.add("both", [tmp_path / "bob"])
        (tmp_path / "bob" / names["alice"]).rename(tmp_path / "bob" / names["bob"])
        corpus.add([tmp_path / "bob"], collection="bob", owner="bob")
        assert dates()["alice"] == own["alice"] + [own["alice"][0]]
