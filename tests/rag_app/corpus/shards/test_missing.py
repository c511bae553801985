"""Lines of the ledger for what was not looked at."""

from __future__ import annotations

from pathlib import Path

from generator.answer import Answer, AnswerReady, ContextReady, TextDelta, with_entries
from indexing.encoder.encoder import Encoder
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.shards.manifest import shard_of
from rag_app.corpus.shards.missing import ledger_lines


def test_each_lost_shard_has_a_line_with_its_documents(tmp_path: Path, encoder: Encoder) -> None:
    names = ["0", "1", "2"]
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        for n in range(8):
            corpus.add_text(f"The probe {n} fell.", name=f"talk-{n}")
        entries = corpus.documents()
    first, second = ledger_lines(["1", "2"], names, entries)
    for line, name in ((first, "1"), (second, "2")):
        own = [one for one in entries if shard_of(one.id, names) == name]
        assert own
        assert line.title == f"shard {name} is lost; documents not looked at: {len(own)}"
        assert (line.tokens, line.kept) == (sum(one.tokens for one in own), 0)
        assert line.dropped == line.tokens and not line.document
    one = next(entry for entry in entries if shard_of(entry.id, names) == "0")
    assert ledger_lines(["1", "2"], names, [one]) == ()

    ready, text = ContextReady((first,)), TextDelta("a")
    assert with_entries(ready, (second,)) == ContextReady((first, second))
    assert with_entries(text, (second,)) == text
    whole = with_entries(AnswerReady(Answer("a?", "b", context=(first,))), (second,))
    assert isinstance(whole, AnswerReady) and whole.answer.context == (first, second)
