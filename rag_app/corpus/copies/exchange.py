"""Export and import: a corpus as JSON and NumPy arrays, for other versions and other programs.

`documents.jsonl` holds a document a line, `document_vectors.npy` and `passage_vectors.npy` their
vectors in the same order. Nothing of it is run, and every value is checked before it is stored.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import IO, Any

import numpy as np

from indexing.change_detection import DocumentIdentity, KnownDocuments, identify
from indexing.documents import Document, Passage, content_digest
from indexing.encoder.lookahead import DocumentEncoder
from indexing.encoder.pooling import EncodedDocument
from indexing.store.collections import DEFAULT, MAX_NAME, Collection, Membership
from indexing.store.store import Store
from indexing.text.chunking import split
from rag_app.corpus.copies.archive import Archive, writing
from rag_app.corpus.copies.exported_values import (
    FloatArray,
    Place,
    check,
    read_document,
    read_name,
    read_owner,
    read_passages,
    read_places,
    read_text,
    read_whole,
)

FORMAT = 1
DOCUMENTS = "documents.jsonl"
VECTORS = ("document_vectors.npy", "passage_vectors.npy")
MAX_LINE = 1 << 30  # bytes of one document
MAX_DIMENSION = 1 << 16
MAX_COLLECTIONS = 100_000
Steps = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    Attributes:
        added: Ids of new documents.
        known: How many were there already.
        encoded: How many were encoded, as the corpus or the archive has other vectors.
    """

    added: tuple[str, ...]
    known: int
    encoded: int


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document with what a corpus stores beside it."""

    document: Document
    passages: list[Passage]
    encoded: EncodedDocument
    added: str
    places: tuple[Place, ...]


def write_export(store: Store, path: Path, *, version: str, progress: Steps | None = None) -> int:
    """Write all documents and vectors to an archive; how many documents.

    Raises:
        CorpusError: It cannot be written.
    """
    with store.reading():
        entries, fingerprint = store.entries(), store.fingerprint()
        shapes = (len(entries), sum(one.passages for one in entries))
        facts: dict[str, Any] = {
            "documents": shapes[0],
            "passages": shapes[1],
            "fingerprint": fingerprint.as_dict() if fingerprint else None,
            "collections": [
                {"name": one.name, "owner": one.owner, "shared": one.shared}
                for one in store.collections.all()
            ],
        }
        dimension = fingerprint.dimension if fingerprint else 0
        with writing(path, kind="export", format_=FORMAT, version=version, facts=facts) as archive:

            def lines() -> Iterator[bytes]:
                for done, entry in enumerate(entries, 1):
                    yield _line(store, entry.id, entry.tokens, entry.added)
                    if progress:
                        progress(done, len(entries))

            archive.add(DOCUMENTS, lines())
            wholes = (whole.tobytes() for _, whole, _ in store.vectors())
            parts = (own.tobytes() for _, _, own in store.vectors())
            for name, rows, blobs in zip(VECTORS, shapes, (wholes, parts), strict=True):
                archive.add(name, _npy((rows, dimension), blobs))
    return len(entries)


def stored_documents(archive: Archive, dimension: int) -> Iterator[StoredDocument]:
    """What an export holds, one by one, checked.

    Raises:
        UnreadableFile: Something in it cannot be of an export.
    """
    facts = archive.manifest.facts
    shapes = [(facts.get(name), dimension) for name in ("documents", "passages")]
    with (
        archive.entry(DOCUMENTS) as lines,
        archive.entry(VECTORS[0]) as wholes,
        archive.entry(VECTORS[1]) as parts,
    ):
        for stream, shape in zip((wholes, parts), shapes, strict=True):
            if _shape(archive, stream) != shape:
                raise archive.unreadable("is damaged: vectors are not as many as it says")
        number = 0
        while line := lines.readline(MAX_LINE):
            number += 1
            try:
                values = json.loads(line)
                document, passages = read_document(values), read_passages(values)
                places = tuple(read_places(values, document))
                vector = _rows(wholes, 1, dimension)
                own = _rows(parts, len(passages), dimension)
                check(document, passages, np.vstack([vector, own]))
                tokens = read_whole(values["tokens"])
                encoded = EncodedDocument(vector[0], own, tokens, tokens)
                added = str(datetime.fromisoformat(read_text(values["added"])).isoformat())
            except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
                reason = " ".join(str(error).split())[:200]
                raise archive.unreadable(f"is damaged: document {number}: {reason}") from error
            yield StoredDocument(document, passages, encoded, added, places)
        if (number, parts.read(1)) != (facts.get("documents"), b""):
            raise archive.unreadable("is damaged: documents are not as many as it says")


def import_documents(
    store: Store, archive: Archive, encoder: DocumentEncoder, *, progress: Steps | None
) -> ImportReport:
    """Add the documents of an export to a store; those whose content is there are left out.

    They go into the collections that they were in. One that somebody else has here under the same
    name gets a number: nobody reads by an import what was not theirs to read.

    Vectors are taken as they are if they were made as the encoder makes them; else the texts are
    encoded again: what an archive names is never loaded.

    Raises:
        UnreadableFile: The archive is damaged; documents before the damage are added.
    """
    fingerprint = encoder.fingerprint
    facts = archive.manifest.facts
    same = facts.get("fingerprint") == fingerprint.as_dict()
    dimension, total = _facts(archive)
    collections = _collections(archive)
    store.set_fingerprint(fingerprint)
    names = {one.name: _name_here(one, store) for one in collections}
    here = KnownDocuments.of(store.identities())
    digests = {digest: id_ for digest, (id_, _) in store.digests().items()}
    added: list[str] = []
    encoded = known = 0
    for done, one in enumerate(stored_documents(archive, dimension), 1):
        if any(at.collection not in names for at in one.places):
            raise archive.unreadable("is damaged: a document is in a collection that it has not")
        places = [replace(at, collection=names[at.collection]) for at in one.places]
        if (id_ := digests.get(one.document.digest)) is not None:
            known += 1
            _join(id_, places, store)
        else:
            document = replace(one.document, id=here.unused_id(one.document.id))
            stored = one if same else _encoded(one, encoder)
            encoded += not same
            memberships = [
                Membership(store.collections.ensure(at.collection), at.path, at.part, at.title)
                for at in places
            ]
            store.put(
                document,
                stored.passages,
                stored.encoded,
                added=one.added,
                collection=None,
                memberships=memberships,
            )
            added.append(document.id)
            digests[document.digest] = document.id
            store.pictures.put(document.id, document.figures)
            here.put(identify(document, document.id))
        if progress:
            progress(done, total)
    return ImportReport(tuple(added), known, encoded)


def _join(id_: str, places: list[Place], store: Store) -> None:
    """Put a document of the corpus into those of the collections that do not hold it yet."""
    holding = {one.name for one in store.collections.holding(id_)}
    for at in places:
        if at.collection not in holding:
            store.join(DocumentIdentity(id_, at.path, at.part, at.title, ""), at.collection)


def _encoded(one: StoredDocument, encoder: DocumentEncoder) -> StoredDocument:
    """The document with passages and vectors of this corpus."""
    passages = split(one.document)
    (vectors,) = encoder.encode([(one.document, passages)])
    return replace(one, passages=passages, encoded=vectors)


def _collections(archive: Archive) -> list[Collection]:
    """The collections that an export names, checked; the default one where it is older."""
    values = archive.manifest.facts.get("collections", [{"name": DEFAULT}])
    try:
        if len(values) > MAX_COLLECTIONS:
            raise ValueError("too many")
        return [
            Collection(
                read_name(one["name"]),
                None if one.get("owner") is None else read_owner(one["owner"]),
                bool(one.get("shared", False)),
            )
            for one in values
        ]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise archive.unreadable(f"is damaged: its collections cannot be ({error})") from error


def _name_here(one: Collection, store: Store) -> str:
    """The name of a collection in the corpus, which is made where it has none of that owner."""
    here = {other.name: other.owner for other in store.collections.all()}
    for number in count(1):
        name = one.name if number == 1 else f"{one.name[: MAX_NAME - 8]} ({number})"
        if name == DEFAULT and one.owner is not None:  # which belongs to everybody
            continue
        if name not in here:
            store.collections.create_as(name, one)
            return name
        if here[name] == one.owner:
            return name
    raise AssertionError("there are more numbers than collections")


def _facts(archive: Archive) -> tuple[int, int]:
    """The dimension of the vectors of an export, and the number of documents."""
    fingerprint = archive.manifest.facts.get("fingerprint")
    try:
        dimension = 0 if fingerprint is None else read_whole(fingerprint["dimension"])
        total = read_whole(archive.manifest.facts["documents"])
    except (KeyError, TypeError, ValueError) as error:
        raise archive.unreadable("does not say how its vectors were made") from error
    if not 0 <= dimension <= MAX_DIMENSION:
        raise archive.unreadable("does not say how its vectors were made")
    return dimension, total


def _line(store: Store, id_: str, tokens: int, added: str) -> bytes:
    document = store.document(id_)
    values = asdict(replace(document, utterances=(), pages=(), figures=()))
    if not document.metadata:  # the first format had another digest
        values["digest"] = content_digest(document.text, document.utterances, document.pages)
    values["utterances"] = [
        [one.start, one.end, one.text_start, one.label, one.time] for one in document.utterances
    ]
    values["speaker_names"] = document.speaker_names
    values["pages"] = [one.values for one in document.pages]
    values["figures"] = [
        {**one.fields, "data": b64encode(one.data).decode("ascii")}
        for one in store.pictures.figures(id_)
    ]
    values["passages"] = [
        [one.start, one.end, one.speakers, one.time, one.page] for one in store.passages_of(id_)
    ]
    values |= {"tokens": tokens, "added": added, "collections": store.places(id_)}
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _npy(shape: tuple[int, int], blobs: Iterator[bytes]) -> Iterator[bytes]:
    """A file of float32 rows in NumPy's format, block by block."""
    from io import BytesIO

    header = BytesIO()
    values = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, values)
    yield header.getvalue()
    yield from blobs


def _shape(archive: Archive, stream: IO[bytes]) -> tuple[int, ...]:
    """The shape of a NumPy file of float32 rows, whose header is read; pickles are refused."""
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("not version 1.0")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except (ValueError, SyntaxError) as error:
        raise archive.unreadable(f"is damaged: no NumPy file ({error})") from error
    if fortran or dtype != np.dtype("<f4"):
        raise archive.unreadable("is damaged: vectors are not float32 rows")
    return tuple(shape)


def _rows(stream: IO[bytes], rows: int, dimension: int) -> FloatArray:
    data = stream.read(rows * dimension * 4)
    return np.frombuffer(data, "<f4").reshape(rows, dimension)
