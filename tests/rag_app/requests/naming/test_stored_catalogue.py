"""What is looked up one by one is what a catalogue of all documents would find.

Their names, days and people, and which of them a filter admits.
"""

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
from indexing.documents import Occasion, Passage
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import DocumentNotFound, InvalidRequest
from indexing.files import document
from indexing.filter import Filter
from indexing.store.repair.verification import verify
from indexing.store.store import Store
from indexing.store.view import StoreView
from rag_app.corpus.contents.document_names import document_named, documents_named
from rag_app.requests.naming.catalogue import Catalogue
from rag_app.requests.naming.stored_catalogue import StoredCatalogue

WORDS = ("heron", "3", "budget", "kick-off", "The", "meeting", "report", "12", "July", "third", "2")


PEOPLE = ("Ana", "Ana Park", "ANA", "Bob Stone", "Łukasz O'Neil", "Straße", "Cem", "park")


def named(draw: random.Random) -> str:
    return draw.choice((" ", "-", "_")).join(draw.choices(WORDS, k=draw.randint(1, 4)))


def dated(draw: random.Random) -> Occasion:
    """One of some days, or none, with some people."""
    if draw.random() < 0.3:
        return Occasion()
    day = f"{draw.randint(2024, 2026)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    date = draw.choice((day, f"{day}T09:30:00+01:00", ""))
    return Occasion(date, "file name", tuple(draw.sample(PEOPLE, draw.randint(0, 3))), "lines")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Documents that were added, moved, joined to another collection, and removed."""
    draw, vectors = random.Random(7), np.eye(2, dtype=np.float32)
    store = Store(tmp_path, create=True)
    store.set_fingerprint(Fingerprint("drawn", "1", "none", 0, "mean", "float32", 2))
    for number in range(160):
        ana = draw.choice(PEOPLE[:4])
        said = f"{ana}: Yes.\n\nBob: No, no.\n\n{ana}: " if number % 3 else ""
        one = document(
            f"{said}text {number}",
            name=f"/minutes/{number % 4}/{named(draw)}.md",
            title=named(draw) if number % 2 else "report",
        )
        part = named(draw) if number % 5 == 0 else ""
        one = replace(one, part=part, occasion=dated(draw))
        spans = [Passage(0, len(one.text), tuple(one.speakers))]
        encoded = EncodedDocument(vectors[0], vectors[:1], 0, 0)
        store.put(one, spans, encoded, added="now", collection=draw.choice(("default", "other")))
    for each in draw.sample(store.identities(), 40):
        to = DocumentIdentity(
            each.id, f"/moved/{named(draw)}.vtt", "", named(draw), each.digest, dated(draw)
        )
        draw.choice((store.move, lambda to: store.join(to, "other")))(to)
    spoken = [one.id for one in store.named() if one.speakers]
    store.name_speakers({id_: {"Ana": "Ana Stone"} for id_ in draw.sample(spoken, 20)})
    store.leave([one.id for one in draw.sample(store.identities(), 10)], "other")
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


def limits(draw: random.Random, view: StoreView) -> Filter:
    """A filter of some kinds at once, of what is there and what is not."""
    entry = draw.choice(view.named())
    day, file = entry.occasion.day or "2025-06-15", entry.path.split("/")[-1]
    some = {
        "documents": draw.choice([(entry.id,), (entry.title, entry.id), (entry.title,), ("?",)]),
        "path": draw.choice(
            [
                entry.path,
                entry.path[1:],
                file,
                f"*/{file}",
                "*.md",
                "minutes/*",
                "moved/?*",
                "*e*",
                "?",
            ]
        ),
        "since": draw.choice([day, day[:7], day[:4], "2030"]),
        "until": draw.choice([day, day[:7], day[:4], "2020"]),
        "participants": draw.choice(
            [("ana",), ("Park", "stone"), ("a|bob",), ("|",), ("straSSE",), ("nobody",)]
        ),
        "speaker": "Ana",
    }
    chosen = draw.sample([*some], draw.randint(0, 3))
    with suppress(InvalidRequest):
        return Filter(**{name: some[name] for name in chosen})  # type: ignore[arg-type]
    return Filter()


def test_filters_admit_the_same_documents(store: Store) -> None:
    draw, some = random.Random(3), 0
    for view in views(store):
        every, stored = whole(view), StoredCatalogue(view, partial(whole, view))
        for _ in range(150):
            where = limits(draw, view)
            ids = every.admitted(where)
            assert stored.admitted(where) == ids, where
            assert stored.count(where) == len(ids)
            assert stored.nothing_within(where) == every.nothing_within(where)
            assert stored.admits_any(where) == bool(ids)
            assert stored.all_dated(where) == every.all_dated(where)
            known, found = every.meetings(where), stored.meetings(where)
            for name in ("first", "last", "last_spoken", "people"):
                assert getattr(found, name) == getattr(known, name), (name, where)
            for end in ("-03", "-05-12", f"{known.last[4:]}", f"{known.first[4:]}"):
                assert found.latest_year(end) == known.latest_year(end), (end, where)
            some += 0 < len(ids) < len(every.entries)
        for name in ("ana", "park", "stone ana", "nobody", "?"):
            assert stored.people_called(name) == every.people_called(name)
        assert [stored.is_larger_than(n) for n in (0, len(every.entries))] == [True, False]
    assert some > 150


def test_a_phrase_stands_for_the_same_documents(store: Store) -> None:
    draw, several = random.Random(4), 0
    for view in views(store):
        every, stored = whole(view), StoredCatalogue(view, partial(whole, view))
        entries = view.named()
        for _ in range(150):
            one, other = draw.sample(entries, 2)
            phrase = draw.choice((named(draw), one.title, one.id, f"the {one.title} meeting"))
            phrase = draw.choice((phrase, f"{phrase} and {other.id}", "this document"))
            scope = draw.choice(((), (one.id,), (one.id, other.id)))
            found = stored.resolve(phrase, scope)
            assert found == every.resolve(phrase, scope), (phrase, scope)
            several += bool(found)
    assert several > 150


@pytest.mark.parametrize(
    ("table", "key", "damage"),
    [("names", "key LIKE 'nheron%'", "'nstray', 1, 1"), ("occasions", "key > 'p'", "1, 'pO', 1")],
)
def test_verification_and_repair_know_what_is_derived(
    table: str, key: str, damage: str, store: Store
) -> None:
    assert verify(store.database) == []
    store.database.run(f"DELETE FROM {table} WHERE {key}")
    store.database.run(f"INSERT INTO {table} VALUES ({damage})")
    (found,) = verify(store.database)
    assert f"{table} are not those of the documents" in str(found)
    store.collections.repair()
    assert verify(store.database) == []


def test_lost_facts_take_what_is_derived_with_them(store: Store) -> None:
    store.database.run("UPDATE facts SET value = replace(value, 'Bob', 'Rob')")
    store.database.run("UPDATE facts SET value = '{' WHERE document % 7 = 0")
    store.repair_facts()
    assert verify(store.database) == []
    assert store.occasions.people == {
        name for one in store.named() for name in (*one.occasion.participants, *one.speakers)
    }
