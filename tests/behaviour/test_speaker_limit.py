"""A question or search limited to a speaker shows what that person says, and nobody else's words.

The oracle is the list of what was said: every quote, mark and time is one of that person's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from re import DOTALL, findall, sub
from typing import Any

import pytest
from click.testing import CliRunner

from generator.answer import Answer, Citation
from generator.request import AskRequest
from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.filter import Filter
from rag_app.chat.page import html
from rag_app.chat.web.mcp.tools import _search
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

SAID = (
    ("Ada Park", "Shall we talk about the probe of the heron and the flood?"),
    ("Bo Lind", "The probe of the heron is made of cork, which floats in a flood."),
    ("Cy Oak", "The probe of the heron is not made of cork but of pine wood."),
    ("Ada Park", "I think that the probe of the heron should be made of copper."),
    ("Bo Lind", "Copper would sink in the flood, and the heron would lose its probe."),
    ("Ada Park", "Then the probe is to be painted with tar before the flood."),
)
QUESTION = "What should the probe of the heron be made of?"
ADA = {words for who, words in SAID if who == "Ada Park"}
TIMES = {f"00:00:{at}0" for at, (who, _) in enumerate(SAID) if who == "Ada Park"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("speakers")
    segments = [
        {"start": 10.0 * at, "end": 10.0 * at + 5, "text": f" {words}", "speaker": who}
        for at, (who, words) in enumerate(SAID)
    ]
    (folder / "meeting.json").write_text(json.dumps({"segments": segments}))
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        corpus.add([folder / "meeting.json"])
        yield corpus


def is_adas(text: str) -> bool:
    return any(text.strip() in words for words in ADA)


def asked(corpus: Corpus, name: str | None = "Ada", **options: Any) -> Answer:
    request = AskRequest(QUESTION, where=Filter(speaker=name), **options)
    return corpus.answer(
        replace(request, abstain=False) if "abstain_below" not in options else request
    )


def said_by_ada(citation: Citation) -> bool:
    return citation.speaker == "Ada Park" and is_adas(citation.quote)


@pytest.mark.parametrize("name", ["Ada Park", " ada", "PARK"])
@pytest.mark.parametrize("length", ["short", "usual", "long"])
def test_quotes_are_of_that_person(corpus: Corpus, name: str, length: str) -> None:
    answer = asked(corpus, name, length=length)
    assert answer.citations and all(map(said_by_ada, answer.citations))
    assert not any(words in answer.text for _, words in SAID if words not in ADA)


def test_closest_passages_are_of_that_person(corpus: Corpus) -> None:
    answer = asked(corpus, abstain_below=1.0)
    assert answer.abstained and answer.closest and all(map(said_by_ada, answer.closest))


def test_the_ledger_counts_what_that_person_says(corpus: Corpus) -> None:
    assert asked(corpus).context[0].kept < asked(corpus, None).context[0].kept


@pytest.mark.parametrize("evidence", ["passages", "documents"])
def test_a_model_reads_that_person_alone(corpus: Corpus, evidence: str) -> None:
    answer = asked(corpus, mode="free", evidence=evidence)
    assert all(map(said_by_ada, answer.citations))
    assert answer.configuration["shown"] == "of the passages, what Ada says"


def test_hits_say_what_that_person_says_and_when(corpus: Corpus) -> None:
    for hit in search(corpus):
        document = corpus.document(hit.document)
        for passage in hit.passages:
            assert passage.speaker == "Ada Park" and passage.time == 0.0
            assert [passage.words(one) for one in passage.utterances] == [
                words for who, words in SAID if who == "Ada Park"
            ]
            for one in passage.utterances:
                assert is_adas(document.text[one.text_start : one.end])
    everybody = corpus.search(QUESTION)[0].passages[0]
    assert everybody.utterances == () and everybody.time == 0.0


def search(corpus: Corpus) -> list[Hit]:
    hits = corpus.search(QUESTION, where=Filter(speaker="Ada"))
    assert hits
    return hits


def test_marks_of_the_page_are_on_that_persons_words(corpus: Corpus) -> None:
    page = html.hits(corpus, search(corpus), Filter(speaker="Ada"))
    marks = [
        unescape(sub("<[^>]+>", "", one)) for one in findall("<mark>(.*?)</mark>", page, DOTALL)
    ]
    assert {one.strip() for one in marks if one.strip()} == ADA
    assert all(words in unescape(page) for _, words in SAID[1:5])  # others' words around them


def test_a_later_speaker_has_the_time_of_their_own_words(corpus: Corpus) -> None:
    where = Filter(speaker="Cy")
    page = html.hits(corpus, corpus.search(QUESTION, where=where), where)
    assert "00:00:20 · Cy Oak" in page


def test_tools_of_other_programs_get_that_persons_words(corpus: Corpus) -> None:
    (hit,) = _search(corpus, QUESTION, {"speaker": "Ada"}).documents
    assert {each.text for each in hit.passages} == ADA
    assert {each.time for each in hit.passages} == TIMES


def test_a_terminal_shows_that_persons_words(corpus: Corpus) -> None:
    command = ["search", QUESTION, "--speaker", "Ada", "--corpus", str(corpus.folder)]
    shown = " ".join(CliRunner().invoke(main, command).output.split())
    assert all(words in shown for words in ADA)
    assert not any(words in shown for _, words in SAID if words not in ADA)
