"""Collections: names and owners, who may read what, and documents with a place in each."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexing.change_detection import DocumentIdentity
from indexing.documents import Document, Passage, content_digest
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import CollectionNotFound, InvalidRequest
from indexing.filter import OWNER, Filter, Scope
from indexing.store.collections import DEFAULT, NOBODY, RECOVERED, Collection, collection_name
from indexing.store.file_states import FileState
from indexing.store.repair.salvage import salvage
from indexing.store.repair.verification import verify
from indexing.store.store import FILE_NAME, Store
from tests.indexing.store.drawn import passage_rows

FP = Fingerprint("model", "r1", "pcw", 64, "mean", "float32", 4)
UNIT = np.eye(4, dtype=np.float32)
A, B = "a" * 12, "b" * 12


def put(store: Store, id_: str, *, collection: str | None) -> None:
    """A short document, which depends on its id."""
    text = f"A probe of {id_}."
    whole = Document(
        id=id_,
        path=f"/notes/{id_}",
        part="",
        title=f"Note {id_[0]}",
        format="text",
        digest=content_digest(text, (), ()),
        text=text,
    )
    vectors = EncodedDocument(UNIT[0], UNIT[:1], 9, 9)
    store.put(whole, [Passage(0, len(text))], vectors, added="now", collection=collection)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Document A in "default" and, under another name, in Ana's; document B in Ana's alone."""
    store = Store(tmp_path / "corpus", create=True)
    store.set_fingerprint(FP)
    put(store, A, collection=DEFAULT)
    store.collections.create("Ana's", owner="ana")
    store.join(DocumentIdentity(A, "/ana/mine.vtt", "", "Mine", ""), "Ana's")
    put(store, B, collection="Ana's")
    assert verify(store.database) == []
    return store


def held(store: Store) -> dict[str, set[tuple[str, str]]]:
    """Ids and titles in each collection."""
    return {
        one.name: {(each.id, each.title) for each in store.of(one.name).identities()}
        for one in store.collections.all()
    }


def test_each_collection_has_its_documents_under_its_names(store: Store) -> None:
    assert held(store) == {
        DEFAULT: {(A, "Note a")},
        "Ana's": {(A, "Mine"), (B, "Note b")},
    }
    assert store.of("nowhere").entries() == []
    hers, all_ = store.of("Ana's"), store
    assert [(one.id, one.path) for one in hers.entries()] == [
        (A, "/ana/mine.vtt"),
        (B, "/notes/bbbbbbbbbbbb"),
    ]
    assert (hers.document(A).title, all_.document(A).title) == ("Mine", "Note a")
    assert [one.collections for one in all_.entries()] == [(DEFAULT, "Ana's"), ("Ana's",)]
    assert [one.collections for one in hers.entries()] == [("Ana's",), ("Ana's",)]
    (row, *_), *_ = all_.document_rows()
    assert hers.documents_at([row])[0].title == "Mine"
    assert store.collections.all() == [
        Collection(DEFAULT, None, False, 1),
        Collection("Ana's", "ana", False, 2),
    ]


def test_a_document_goes_with_its_last_membership(store: Store) -> None:
    store.files.remember("/ana/mine.vtt", FileState(1, 2), collection="Ana's")
    stamp = store.stamp
    assert store.leave([A], DEFAULT) == []
    assert store.stamp == stamp, "no document has changed, so that no index is built again"
    assert store.document(A).title == "Mine", "the record has the place that is left"
    assert store.leave([A, B], "Ana's") == [A, B]
    assert store.entries() == [] and passage_rows(store) == [] and store.stamp != stamp
    assert store.files.state("/ana/mine.vtt", collection="Ana's") is None
    assert verify(store.database) == []


def test_a_deleted_collection_takes_what_no_other_holds(store: Store) -> None:
    assert store.collections.only("Ana's") == [B]
    assert store.delete_collection("Ana's") == [B]
    assert held(store) == {DEFAULT: {(A, "Note a")}}
    assert verify(store.database) == []


def test_a_document_put_again_stays_where_it_is(store: Store) -> None:
    before = held(store)
    put(store, A, collection=None)
    assert held(store) == before and verify(store.database) == []


@pytest.mark.parametrize(
    ("person", "names"), [(None, {A, B}), ("ana", {A, B}), ("bob", {A}), ("", {A})]
)
def test_who_may_read_what(person: str | None, names: set[str], store: Store) -> None:
    def readable() -> set[str]:
        return {one.id for one in store.limited(None, Scope(person)).entries()}

    assert readable() == names
    store.collections.share("Ana's")
    assert readable() == {A, B}
    store.collections.share("Ana's", shared=False)
    assert readable() == names
    store.collections.give("Ana's", "bob")
    assert readable() == ({A, B} if person in {None, "bob"} else {A})


def test_names_that_are_none_or_not_to_be_known(store: Store) -> None:
    def error(where: Filter, scope: Scope = OWNER) -> str:
        with pytest.raises(CollectionNotFound) as raised:
            store.limited(where, scope)
        return str(raised.value)

    known = "Anas: no such collection; there are: default, Ana's"
    assert error(Filter(collections=("Anas",))) == known
    hidden = "Ana's: no such collection; there are: default"
    assert error(Filter(collections=("Ana's",)), Scope("bob")) == hidden
    spaced = store.limited(Filter(collections=("  Ana's ",)), OWNER)
    assert [one.id for one in spaced.entries()] == [A, B]


@pytest.mark.parametrize(
    "name", ["", " \n", "a\x00b", "a\x1b[31m", "x" * 101, "\ud800", "a\u202eb"]
)
def test_no_name(name: str) -> None:
    with pytest.raises(InvalidRequest, match="visible characters on one line"):
        collection_name(name)


def test_one_name_has_one_spelling() -> None:
    assert collection_name(" Cafe\u0301 \n minutes ") == "Café minutes"


def test_taken_names_and_owners(store: Store) -> None:
    with pytest.raises(InvalidRequest, match="there is a collection of this name"):
        store.collections.create("Ana's ")
    with pytest.raises(InvalidRequest, match="there is a collection of this name"):
        store.collections.rename("Ana's", DEFAULT)
    for owner in ("", "a:b", "a\nb"):
        with pytest.raises(InvalidRequest, match="no login name"):
            store.collections.give("Ana's", owner)
    with pytest.raises(InvalidRequest, match="everybody"):
        store.collections.give(DEFAULT, "ana")
    store.collections.rename("Ana's", "Ana’s")  # noqa: RUF001 - typographic
    assert store.collections.named("Ana’s").owner == "ana"  # noqa: RUF001


def test_what_is_claimed_is_its_owners_also_after_it_was_deleted(store: Store) -> None:
    store.collections.claim("Ana's", "ana")
    with pytest.raises(InvalidRequest, match="belongs to somebody else"):
        store.collections.claim("Ana's", "bob")
    with pytest.raises(InvalidRequest, match="belongs to somebody else"):
        store.collections.claim(DEFAULT, "bob")
    store.delete_collection("Ana's")
    store.collections.claim("Ana's", "ana")
    assert store.collections.named("Ana's") == Collection("Ana's", "ana", False)


def test_the_revision_tells_of_every_change(store: Store) -> None:
    seen = [store.revision]
    for change in (
        lambda: store.collections.create("New"),
        lambda: store.collections.add([B], "New"),
        lambda: store.collections.share("New"),
        lambda: store.collections.rename("New", "Newer"),
        lambda: store.leave([B], "Newer"),
        lambda: store.delete_collection("Newer"),
        lambda: store.join(replace(store.identities()[0], title="T"), "Ana's"),
        lambda: store.remove([A]),
    ):
        change()
        seen.append(store.revision)
    assert len(set(seen)) == len(seen)
    assert store.revision == store.revision


# ---- damage ----


def damaged(store: Store, statement: str) -> Store:
    """The store after somebody wrote to its file in another way than this program."""
    store.close()
    with closing(sqlite3.connect(store.folder / FILE_NAME)) as database:
        database.execute(statement)
        database.commit()
    return Store(store.folder)


@pytest.mark.parametrize(
    ("statement", "reason", "places"),
    [
        (
            "UPDATE collections SET shared = 1 WHERE name != 'default'",
            "1 of the collections are not as they were written",
            {DEFAULT: {A}, "recovered 2": {A, B}},
        ),
        (
            "UPDATE memberships SET collection = 1 WHERE path LIKE '%bbb%'",
            "1 of the memberships are not as they were written",
            {DEFAULT: {A}, "Ana's": {A}, RECOVERED: {B}},
        ),
        (
            "DELETE FROM memberships WHERE path LIKE '%bbb%'",
            "1 documents are in no collection",
            {DEFAULT: {A}, "Ana's": {A}, RECOVERED: {B}},
        ),
    ],
)
def test_nobody_sees_by_a_repair_what_was_private(
    statement: str, reason: str, places: dict[str, set[str]], store: Store
) -> None:
    store = damaged(store, statement)
    assert [(one.what, one.reason) for one in verify(store.database)] == [("collections", reason)]
    store.collections.repair()
    assert verify(store.database) == []
    assert {name: {id_ for id_, _ in here} for name, here in held(store).items()} == places
    for one in store.collections.all():
        assert one.owner == (
            NOBODY if one.name.startswith(RECOVERED) else "ana" if one.name != DEFAULT else None
        )
    assert {one.id for one in store.limited(None, Scope("bob")).entries()} == {A}


def test_what_is_salvaged_is_where_it_was(store: Store, tmp_path: Path) -> None:
    before = held(store)
    assert salvage(store.database, tmp_path / "new.sqlite") == []
    (tmp_path / "new").mkdir()
    (tmp_path / "new.sqlite").rename(tmp_path / "new" / FILE_NAME)
    new = Store(tmp_path / "new")
    assert held(new) == before and new.collections.all() == store.collections.all()
    assert verify(new.database) == []
