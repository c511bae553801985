"""What a transfer brings to another store is what the first holds, sound, and told by versions."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from indexing.encoder.encoder import Encoder
from indexing.store.repair.verification import verify
from indexing.store.store import Store
from indexing.store.transfer import transfer, versions
from rag_app.corpus.corpus import Corpus


def test_documents_come_whole_and_every_change_makes_another_version(
    tmp_path: Path, encoder: Encoder
) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for name in ("one", "two", "three"):
            corpus.add_text(f"Ana: This is text {name}.\nBob: Yes.\n" * 3, name=name)
        corpus.collections.create("second")
        with corpus.reading() as now, closing(Store(tmp_path / "other", create=True)) as other:
            every = {id_: row for row, id_, _ in versions(now.store)}
            transfer(now.store, other, every.values(), removed=())
            transfer(now.store, other, [2], removed=[1])  # one again, one no more
            assert [row for row, _, _ in versions(other)] == [2, 3]
            assert verify(other.database) == []
            assert other.fingerprint() == now.store.fingerprint()
            for id_ in list(every)[1:]:
                assert other.document(id_) == now.store.document(id_)
                assert other.passages_of(id_) == now.store.passages_of(id_)
                wanted = now.store.passage_vectors_of(id_).tobytes()
                assert other.passage_vectors_of(id_).tobytes() == wanted
        changes = (
            lambda: corpus.speakers.rename("Ana", "Anabel", ["two"]),
            lambda: corpus.collections.add("second", ["two"]),
            lambda: corpus.add_text("Ana: Another text.", name="two"),
        )
        for change in changes:
            with corpus.reading() as now:
                before = {id_: version for _, id_, version in versions(now.store)}
            change()
            with corpus.reading() as now:
                after = {id_: version for _, id_, version in versions(now.store)}
            assert len(before.items() & after.items()) == 2
