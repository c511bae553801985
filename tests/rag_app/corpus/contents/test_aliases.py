"""The aliases of a corpus: added by people, used by questions, never in a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import CorpusDamaged, InvalidRequest
from indexing.files import document
from indexing.filter import Filter
from indexing.walk import ALIAS_FILE
from rag_app.corpus.corpus import Corpus

TEXTS = {
    "monday": "Ana Ruiz: Eefa leads the field trial at the lake.\nEefa: I ordered sixty probes.\n"
    "Ana Ruiz: Then we work on the budget of the clinic.",
    "friday": "Ana Ruiz: Aoife leads the field trial until May.\nAoife: They came from Cork.\n"
    "Ana Ruiz: The budget of the clinic is late.",
}


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Corpus:
    corpus = Corpus(tmp_path / "corpus", encoder=encoder)
    corpus.add_documents(document(text, name=name) for name, text in TEXTS.items())
    return corpus


def test_add_and_remove(corpus: Corpus, tmp_path: Path) -> None:
    aliases = corpus.aliases
    assert not aliases.all()
    aliases.add("Aoife", "Eefa", " Ifa\n")
    aliases.add("Ana", "Anna")
    assert aliases.all().names == {"Anna": "Ana", "Eefa": "Aoife", "Ifa": "Aoife"}
    for name, spelling in (("Ana", "Eefa"), ("Ana", "Aoife"), ("Ana", " "), ("Ana", "a|b")):
        with pytest.raises(InvalidRequest):
            aliases.add(name, spelling)
    with pytest.raises(InvalidRequest, match="no alias"):
        aliases.remove("Olga")
    corpus.backup(tmp_path / "backup.zip")
    assert aliases.remove("Ifa", "Ana").names == {"Eefa": "Aoife"}
    assert corpus.document("monday").text == TEXTS["monday"]
    with Corpus(tmp_path / "restored") as restored:
        restored.restore(tmp_path / "backup.zip")
        assert restored.aliases.all().names["Ifa"] == "Aoife"
    for bad in ("[]", "{", '{"a": 3}', '{"a": ["b"], "b": ["c"]}', '{"a": ["x"], "b": ["x"]}'):
        (corpus.folder / ALIAS_FILE).write_text(bad, encoding="utf-8")
        with pytest.raises(CorpusDamaged, match=r"aliases\.json"):
            corpus.ask("Who leads the field trial?")


def test_a_question_sees_one_name(corpus: Corpus) -> None:
    corpus.aliases.add("Aoife", "Eefa")
    answer = corpus.ask("Which documents mention Aoife?")
    assert "mentioned 2 times in 2 of 2" in answer.text
    assert answer.read_as == "a count of the mentions of “Aoife”; “Eefa” read as “Aoife”"
    lead = corpus.ask("Does Aoife lead the field trial at the lake?", abstain_below=0.0)
    assert lead.citations[0].quote == "Eefa leads the field trial at the lake."
    assert lead.read_as == "a question; “Eefa” read as “Aoife”"
    for spelling in ("Eefa", "Aoife"):
        asked = corpus.ask(f"Does {spelling} lead the field trial at the lake?", abstain_below=0.0)
        assert asked.citations == lead.citations and asked.short == lead.short
        hits = corpus.search("probes", speaker=spelling, k=5)
        assert {hit.title for hit in hits} == {"monday", "friday"}
        where = Filter(participants=(spelling,))
        assert len(corpus.search("probes", where=where)) == 2
    said = corpus.ask("How many probes were ordered?", speaker="Aoife", abstain_below=0.0)
    assert said.citations[0].quote == "I ordered sixty probes."
    for one in corpus.documents():
        assert corpus.document(one.id).text == TEXTS[one.title]


def test_proposals_are_quoted_and_not_added(corpus: Corpus) -> None:
    texts = {
        "a": "Bram Tolsma: We met Liesbeth Kvamme at the harbour about the crane.\n"
        "Liesbeth Kvamme: The crane at the harbour waits for parts.\n" * 3,
        "b": "Bram Tolsma: I asked Liesbeth Quamme about the crane at the harbour.\n"
        "Bram Tolsma: And Quamme says that parts for the crane are late.\n" * 3,
    }
    corpus.add_documents(document(text, name=name) for name, text in texts.items())
    found = corpus.aliases.propose()
    assert {frozenset((one.spelling, one.name)) for one in found} == {
        frozenset(("Quamme", "Kvamme")),
        frozenset(("Eefa", "Aoife")),
    }
    for one in found:
        for quote, word in ((one.name_quote, one.name), (one.spelling_quote, one.spelling)):
            assert word in quote.text
            assert corpus.document(quote.document).text[quote.start : quote.end] == quote.text
    assert ("Quamme", "Kvamme") in {(one.spelling, one.name) for one in found}
    assert not corpus.aliases.all() and not (corpus.folder / ALIAS_FILE).exists()
    corpus.aliases.add("Kvamme", "Quamme")
    assert "Quamme" not in {one.spelling for one in corpus.aliases.propose()}
    assert json.loads((corpus.folder / ALIAS_FILE).read_text("utf-8")) == {"Kvamme": ["Quamme"]}
