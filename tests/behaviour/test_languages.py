"""German questions of a German document, among English ones, with the packaged encoder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexing.encoder.encoder import Encoder
from indexing.text.chunking import split
from rag_app.corpus.corpus import Corpus

MINUTES = """# Protokoll der Sitzung

Der Gemeinderat hat am Montag beschlossen, die alte Brücke über die Isar zu sanieren. Die Kosten der
Sanierung betragen 450.000 Euro und werden zur Hälfte vom Land getragen.

Frau Müller wurde zur neuen Leiterin des Bauamts gewählt. Sie tritt ihr Amt am 1. März an.

Die Bibliothek bleibt wegen des Umbaus im August geschlossen. Bücher können in dieser Zeit im
Rathaus abgegeben werden, z. B. am Empfang.

Der Antrag auf einen neuen Spielplatz wurde abgelehnt, weil das Grundstück zu klein ist.
"""
ANSWERED = {
    "Wann ist die Bibliothek geschlossen?": "August",
    "Wie hoch sind die Kosten für die Sanierung der Brücken?": "450.000 Euro",
    "Warum wurde der Antrag auf einen Spielplatz abgelehnt?": "zu klein",
    "Wo kann man Bücher abgeben?": "Rathaus",
    "Wer wurde zur Leiterin des Bauamts gewählt?": "Frau Müller",
    "When does the ferry sail?": "Mondays",
}
NOT_ANSWERED = ("Wie heißt der Bürgermeister?", "Wie viele Fahrräder hat Herr Schulze verkauft?")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("languages")
    (folder / "protokoll.md").write_text(MINUTES)
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry sails on Mondays with cars.")
    (folder / "soup.md").write_text("# Kitchen\n\nSoup is served at noon.")
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        corpus.add([folder])
        yield corpus


@pytest.mark.parametrize("question", ANSWERED)
def test_a_question_is_answered_in_its_language(question: str, corpus: Corpus) -> None:
    answer = corpus.ask(question)
    assert not answer.abstained, answer.probability
    assert ANSWERED[question] in answer.citations[0].quote


@pytest.mark.parametrize("question", NOT_ANSWERED)
def test_what_is_not_said_is_not_answered(question: str, corpus: Corpus) -> None:
    assert corpus.ask(question).abstained


def test_abbreviations_end_no_sentence(corpus: Corpus) -> None:
    answer = corpus.ask("Wo kann man Bücher abgeben?")
    assert answer.citations[0].quote.endswith("z. B. am Empfang.")
    document = next(each for each in corpus.documents() if each.title.startswith("Protokoll"))
    assert len(split(corpus.document(document.id))) >= 1
