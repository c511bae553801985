"""What is exported comes back to the last bit; what a stranger changes is refused."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexing.documents import Occasion
from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import UnreadableFile
from rag_app.corpus.copies.archive import MANIFEST
from rag_app.corpus.copies.exchange import DOCUMENTS, VECTORS
from rag_app.corpus.corpus import Corpus

MEETING = "Ana: The mast fell.\nBob: It was old.\nAna: Zoë orders a new one. 東京 \U0001f600\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    tmp_path = tmp_path_factory.mktemp("exchange")
    (tmp_path / "meeting 2026-03-14.txt").write_text(MEETING)
    (tmp_path / "long.md").write_text("# Ridge\n\n" + "The probe fell on the ridge. " * 90)
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([tmp_path / "meeting 2026-03-14.txt", tmp_path / "long.md"])
        with corpus.writing() as store:
            store.name_speakers({corpus.documents()[0].id: {"Bob": "Rob"}})
        yield corpus


def content(corpus: Corpus) -> dict[str, object]:
    with corpus.reading() as now:
        store = now.store
        ids = [one.id for one in store.identities()]
        vectors = [(whole.tobytes(), parts.tobytes()) for _, whole, parts in store.vectors()]
        return {
            id_: (store.document(id_), store.passages_of(id_), own)
            for id_, own in zip(ids, vectors, strict=True)
        }


def test_everything_comes_back(corpus: Corpus, tmp_path: Path, encoder: Encoder) -> None:
    assert corpus.export_archive(tmp_path / "export.zip") == 2
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        first, again = (new.import_archive(tmp_path / "export.zip") for _ in range(2))
        assert (set(first.added), first.known, first.encoded) == (set(content(corpus)), 0, 0)
        assert (again.added, again.known) == ((), 2)
        assert content(new) == content(corpus)
        assert new.verify().sound
        hit = new.search("new mast")[0]
        document = new.document(hit.document)
        assert document.occasion == Occasion("2026-03-14", "file name")
        assert document.speakers == ("Ana", "Rob")


def places(corpus: Corpus) -> set[tuple[str, str | None, bool, str, str]]:
    """Collection, owner, shared, title and text of each membership."""
    with corpus.reading() as now:
        return {
            (one.name, one.owner, one.shared, each.title, now.store.document(each.id).text)
            for one in now.store.collections.all()
            for each in now.store.of(one.name).identities()
        }


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path_factory.mktemp("owned") / "corpus", encoder=encoder) as corpus:
        corpus.collections.create("Ana's", owner="ana")
        corpus.collections.create("club", owner="bob", shared=True)
        corpus.collections.create("empty")
        corpus.add_text(MEETING, name="meeting")
        corpus.add_text(MEETING, name="mast", collection="Ana's")
        corpus.add_text("The diary says it.", name="diary", collection="Ana's")
        corpus.add_text("The diary says it.", name="proof", collection="club")
        yield corpus


@pytest.mark.parametrize("max_length", [None, 32])
def test_collections_come_back(owned: Corpus, max_length: int | None, tmp_path: Path) -> None:
    """Whether vectors are taken as they are or made again, once and a second time."""
    owned.export_archive(tmp_path / "export.zip")
    settings = EncoderSettings(max_length=max_length)
    with Corpus(tmp_path / "new", encoder=settings) as new:
        for _ in range(2):
            new.import_archive(tmp_path / "export.zip")
            assert places(new) == places(owned)
            every = new.collections.all()
            assert {one.name for one in every} == {"default", "Ana's", "club", "empty"}
        assert new.verify().sound


def test_nobody_reads_by_an_import_what_was_not_theirs(
    owned: Corpus, tmp_path: Path, encoder: Encoder
) -> None:
    owned.export_archive(tmp_path / "export.zip")
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        new.collections.create("Ana's")  # everybody's
        new.collections.create("club", owner="eve")
        new.add_text("The diary says it.", name="copy", collection="club")
        report = new.import_archive(tmp_path / "export.zip")
        assert (len(report.added), report.known) == (1, 1)
        changed = {"Ana's": "Ana's (2)", "club": "club (2)"}
        came = {(changed.get(name, name), *rest) for name, *rest in places(owned)}
        before = ("club", "eve", False, "copy", "The diary says it.")
        assert places(new) == {*came, before}
        assert new.import_archive(tmp_path / "export.zip").added == ()
        assert places(new) == {*came, before}


def test_an_export_from_before_collections_goes_into_the_default_one(
    corpus: Corpus, tmp_path: Path, encoder: Encoder
) -> None:
    def older(entries: dict[str, bytes], manifest: dict[str, Any]) -> None:
        del manifest["collections"]
        lines = [json.loads(line) for line in entries[DOCUMENTS].splitlines()]
        old = [{n: v for n, v in one.items() if n != "collections"} for one in lines]
        entries[DOCUMENTS] = b"\n".join(json.dumps(one).encode() for one in old)

    corpus.export_archive(tmp_path / "export.zip")
    changed(tmp_path / "export.zip", older)
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        new.import_archive(tmp_path / "export.zip")
        assert content(new) == content(corpus)
        assert {one.collections for one in new.documents()} == {("default",)}


def test_it_is_plain_json_and_numpy(corpus: Corpus, tmp_path: Path) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        archive.extractall(tmp_path / "out")
    lines = (tmp_path / "out" / DOCUMENTS).read_text("utf-8").splitlines()
    assert {json.loads(line)["text"] for line in lines} >= {MEETING}
    wholes, parts = (np.load(tmp_path / "out" / name, allow_pickle=False) for name in VECTORS)
    assert (len(wholes), wholes.dtype) == (2, np.float32)
    assert np.allclose(np.linalg.norm(parts, axis=1), 1, atol=1e-4)


def test_another_encoder_reads_the_texts_again(corpus: Corpus, tmp_path: Path) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    other = EncoderSettings(dtype="float32", max_length=32)
    with Corpus(tmp_path / "new", encoder=other) as new:
        done = new.import_archive(tmp_path / "export.zip")
        assert (len(done.added), done.encoded) == (2, 2)
        fingerprint = new.info().fingerprint
        assert fingerprint is not None and fingerprint.max_length == 32
        assert {one.text for one in (new.document(id_) for id_ in done.added)} >= {MEETING}


def changed(path: Path, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> None:
    """Write an archive again, its entries changed and its manifest fitting them."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries.pop(MANIFEST))
    change(entries, manifest)
    manifest["files"] = {
        name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in entries.items()
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        archive.writestr(MANIFEST, json.dumps(manifest))


def line(**values: object) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
    def change(entries: dict[str, bytes], _: dict[str, Any]) -> None:
        first, *rest = entries[DOCUMENTS].splitlines()
        entries[DOCUMENTS] = b"\n".join(
            [json.dumps({**json.loads(first), **values}).encode(), *rest]
        )

    return change


def entry(name: str, data: bytes) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
    return lambda entries, _: entries.update({name: data})


def facts(**values: object) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
    return lambda _, manifest: manifest.update(values)


@pytest.mark.parametrize(
    "change",
    [
        line(text="another"),
        line(text=7),
        line(text="lone \ud800"),
        line(passages=[[0, 10**9, [], None, None]]),
        line(passages=[]),
        line(passages=[["0", 5, [], None, None]]),
        line(utterances=[[0, 5, 0]]),
        line(pages=[[-1, 5, 1]]),
        line(breaks="all"),
        line(tokens=True),
        line(added="yesterday"),
        line(metadata="{"),
        line(id=""),
        line(collections=[]),
        line(collections=[["default", "/a", "", "A"], ["default", "/b", "", "B"]]),
        line(collections=[["elsewhere", "/a", "", "A"]]),
        line(collections=[["default", 7, "", "A"]]),
        line(collections="default"),
        facts(collections=[{"name": "a\x1b"}, {"name": "default"}]),
        facts(collections=[{"name": "a", "owner": "a:b"}, {"name": "default"}]),
        facts(collections=[{}]),
        facts(collections=7),
        entry(DOCUMENTS, b"[" * 100_000),
        entry(DOCUMENTS, b""),
        entry(VECTORS[0], b"\x80\x04pickled"),
        entry(VECTORS[0], b"\x93NUMPY\x01\x00\x10\x00__import__('os')"),
        facts(documents=3),
        facts(passages=0),
        facts(documents="many"),
    ],
)
def test_what_a_stranger_changed_is_refused(
    change: Callable[[dict[str, bytes], dict[str, Any]], None],
    corpus: Corpus,
    tmp_path: Path,
    encoder: Encoder,
) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    changed(tmp_path / "export.zip", change)
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        with pytest.raises(UnreadableFile, match=r"damaged|does not say"):
            new.import_archive(tmp_path / "export.zip")
        assert new.verify().sound
        assert len(new.documents()) < 3


def test_a_model_that_an_archive_names_is_not_loaded(
    corpus: Corpus, tmp_path: Path, encoder: Encoder
) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    named = {**encoder.fingerprint.as_dict(), "model": "/tmp/evil"}
    changed(tmp_path / "export.zip", facts(fingerprint=named))
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        assert new.import_archive(tmp_path / "export.zip").encoded == 2
        assert new.info().fingerprint == encoder.fingerprint
