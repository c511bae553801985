"""Damage to the database is noticed, or does no harm; and repair brings back what was there."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexing.documents import Document, Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import RagAppError
from indexing.store.store import FILE_NAME
from rag_app.corpus.corpus import Corpus

TRIALS = 64  # `make campaign` does 1,500
PAGE = 4096
QUERY = "Which probe measured the ridge?"


@dataclass(frozen=True)
class Content:
    """Everything that a corpus gives back."""

    documents: dict[str, Document]
    passages: dict[str, object]
    vectors: list[tuple[bytes, bytes]]
    hits: list[Hit]


def content(corpus: Corpus) -> Content:
    with corpus.reading() as now:
        ids = [one.id for one in now.store.identities()]
        documents = {id_: now.store.document(id_) for id_ in ids}
        passages: dict[str, object] = {id_: now.store.passages_of(id_) for id_ in ids}
        vectors = sorted((a.tobytes(), b.tobytes()) for _, a, b in now.store.vectors())
    return Content(documents, passages, vectors, corpus.search(QUERY, k=3))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> tuple[Path, Content]:
    """A corpus of meetings and notes, long enough for pages of every kind."""
    folder = tmp_path_factory.mktemp("whole")
    draw = random.Random(5)
    words = ["probe", "ridge", "crater", "survey", "drill", "core", "basalt", "orbit", "dust"]
    for number in range(10):
        said = "\n".join(
            f"{name}: {' '.join(draw.choices(words, k=60))} number {number}."
            for name in ("Ana", "Bob", "Eve") * 4
        )
        (folder / f"meeting {number}.txt").write_text(said, encoding="utf-8")
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        corpus.add([folder])
        before = content(corpus)
        assert corpus.verify().sound
    return folder / "corpus", before


def damage(data: bytearray, draw: random.Random) -> str:
    """Damage a database as disks and copies do; what was done."""
    at, kind = draw.randrange(len(data)), draw.randrange(7)
    page, other = (draw.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    if kind == 0:
        data[at] ^= 1 << draw.randrange(8)
    elif kind == 1:
        data[at] = draw.randrange(256)
    elif kind == 2:
        data[at : at + 64] = draw.randbytes(len(data[at : at + 64]))
    elif kind == 3:
        data[at // 512 * 512 : at // 512 * 512 + 512] = bytes(512)
    elif kind == 4:
        data[page : page + PAGE] = bytes(PAGE)
    elif kind == 5:
        data[page : page + PAGE] = data[other : other + PAGE]
    else:
        del data[draw.randrange(len(data)) :]
    return f"kind {kind} at {at}, pages {page // PAGE} and {other // PAGE}"


@dataclass(frozen=True)
class Trial:
    """What became of one damaged copy: "harmless", "noticed", "repaired", or what is wrong."""

    what: str
    end: str


def trial(folder: Path, before: Content, encoder: Encoder, *, repair: bool) -> str:
    with Corpus(folder, encoder=encoder) as corpus:
        try:
            if corpus.verify().sound:
                return "harmless" if content(corpus) == before else "not noticed"
        except RagAppError:
            return "noticed"
        if not repair:
            return "noticed"
        result = corpus.repair()
        after = content(corpus)
        if result.lost or not result.damages or not corpus.verify().sound:
            return f"not repaired: {result}"
        same = (after.documents, after.vectors) == (before.documents, before.vectors)
        return "repaired" if same else f"repaired into something else: {result}"


def test_every_damage_is_noticed_or_harmless(
    whole: tuple[Path, Content], encoder: Encoder, tmp_path: Path
) -> None:
    source, before = whole
    sound = (source / FILE_NAME).read_bytes()
    ends: list[Trial] = []
    for seed in range(TRIALS):
        data = bytearray(sound)
        what = damage(data, random.Random(seed))
        folder = tmp_path / "trial"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        (folder / FILE_NAME).write_bytes(data)
        repair = seed % 8 == 0 and data[:PAGE] == sound[:PAGE]
        ends.append(Trial(f"{seed}: {what}", trial(folder, before, encoder, repair=repair)))
    assert [one for one in ends if one.end not in {"harmless", "noticed", "repaired"}] == []
    counts = Counter(one.end for one in ends)
    assert counts["noticed"] > TRIALS / 2
    assert counts["repaired"] >= 6
