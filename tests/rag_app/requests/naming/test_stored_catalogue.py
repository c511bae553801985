"""Names that are looked up one by one are those that a catalogue of all documents would find."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from indexing.change_detection import DocumentIdentity
from indexing.documents import Passage
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import DocumentNotFound
from indexing.files import document
from indexing.store.repair.verification import verify
from indexing.store.store import Store
from indexing.store.view import StoreView
from rag_app.corpus.contents.document_names import document_named, documents_named
from rag_app.requests.naming.catalogue import Catalogue
from rag_app.requests.naming.stored_catalogue import StoredCatalogue

WORDS = ("heron", "3", "budget", "kick-off", "The", "meeting", "report", "12", "July", "third", "2")


def named(draw: random.Random) -> str:
    return draw.choice((" ", "-", "_")).join(draw.choices(WORDS, k=draw.randint(1, 4)))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Documents that were added, moved, joined to another collection, and removed."""
    draw, vectors = random.Random(7), np.eye(2, dtype=np.float32)
    store = Store(tmp_path, create=True)
    store.set_fingerprint(Fingerprint("drawn", "1", "none", 0, "mean", "float32", 2))
    for number in range(160):
        said = "Ana: " if number % 3 else ""
        one = document(
            f"{said}text {number}",
            name=f"/minutes/{number % 4}/{named(draw)}.md",
            title=named(draw) if number % 2 else "report",
        )
        one = replace(one, part=named(draw) if number % 5 == 0 else "")
        spans = [Passage(0, len(one.text), tuple(one.speakers))]
        encoded = EncodedDocument(vectors[0], vectors[:1], 0, 0)
        store.put(one, spans, encoded, added="now", collection=draw.choice(("default", "other")))
    for each in draw.sample(store.identities(), 40):
        to = DocumentIdentity(each.id, f"/moved/{named(draw)}.vtt", "", named(draw), each.digest)
        draw.choice((store.move, lambda to: store.join(to, "other")))(to)
    store.remove([one.id for one in draw.sample(store.identities(), 10)])
    yield store
    store.close()


def views(store: Store) -> list[StoreView]:
    return [store, store.of("default"), store.of("other"), store.within((1, 2))]


def whole(view: StoreView) -> Catalogue:
    return Catalogue.of(view.named())


def test_questions_name_the_same_documents(store: Store) -> None:
    draw, several = random.Random(1), 0
    for view in views(store):
        every, stored = whole(view), StoredCatalogue(view, partial(whole, view))
        ids = [one.id for one in draw.sample(view.named(), 20)]
        names = [one.path.split("/")[-1] for one in view.named()]
        for number in range(400):
            name = draw.choice((named(draw), draw.choice(names), draw.choice(ids)))
            before = draw.choice(("What is said in the meeting", "according to", "in the file"))
            question = f"{before} {name} and {draw.choice(names)}?"
            found = stored.mentions(question)
            assert found == every.mentions(question), (number, question)
            several += bool(found)
            if found:
                assert stored.titles(found[0].ids) == every.titles(found[0].ids)
            asked = [word.lower() for word in question.split()]
            assert stored.title_words(asked) == every.title_words(asked)
    assert several > 400


def test_a_name_stands_for_the_same_document(store: Store) -> None:
    draw = random.Random(2)
    for view in views(store):
        entries = view.named()
        for one in draw.sample(entries, 30):
            for name in (
                one.title,
                one.path,
                one.id,
                "/minutes/1",
                "/minutes",
                "/",
                "nothing",
                "?",
            ):
                expected: list[str] = []
                with suppress(DocumentNotFound):
                    expected = documents_named(name, entries)
                if len(expected) == 1:
                    assert document_named(name, view) == expected[0]
                else:
                    with pytest.raises(DocumentNotFound, match=f"{len(expected) or 'no such'}"):
                        document_named(name, view)


def test_verification_and_repair_know_the_names(store: Store) -> None:
    assert not [one for one in verify(store.database) if one.what == "collections"]
    store.database.run("DELETE FROM names WHERE key LIKE 'nheron%'")
    store.database.run("INSERT INTO names VALUES ('nstray', 1, 1)")
    (found,) = [one for one in verify(store.database) if one.what == "collections"]
    assert "names are not those of the documents" in str(found)
    store.collections.repair()
    assert not [one for one in verify(store.database) if one.what == "collections"]
