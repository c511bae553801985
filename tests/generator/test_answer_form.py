"""Only the words that answer, or a list; what became of it stands in the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generator.answer import Answer
from generator.answer_form import (
    AS_ASKED,
    FORMS,
    LENGTHS,
    NO_WORDS,
    QUOTE_A_LINE,
    SENTENCES_ONLY,
    WORDS_ONLY,
    Form,
)
from generator.evidence import Embed
from generator.generator import Generator
from generator.lm.causal_lm import CausalModel
from generator.lm.server.openai_server import RemoteModel
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from rag_app.corpus.corpus import Corpus
from tests.generator.conftest import hit, transcript
from tests.generator.openai_server import running

TEXT = (
    "Anna: The ferry of Ellmere sails at nine o'clock.\n"
    "Ben: Its captain is Joan Reyes, who was elected in May.\n"
    "Anna: I find her rather friendly, on the whole, and the passengers like her.\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms") / "corpus"
    with Corpus(folder) as corpus:
        corpus.add_text(TEXT, name="ferry")
    return folder


def test_only_the_words_that_answer(folder: Path) -> None:
    with Corpus(folder) as corpus:
        usual = corpus.ask("Who is the captain of the ferry?", mode="quote")
        words = corpus.ask("Who is the captain of the ferry?", mode="quote", form="words")
        listed = corpus.ask("Who is the captain of the ferry?", mode="quote", form="list")
    assert usual.short is not None and words.short is not None
    assert words.text == f"{usual.short.text} [1]"
    assert "Joan Reyes" in words.text
    (cited,) = words.citations
    assert cited.quote[words.short.start - cited.start :].startswith(words.short.text)
    assert (words.configuration["form"], listed.configuration["form"]) == (WORDS_ONLY, QUOTE_A_LINE)
    assert listed.text == usual.text
    assert "form" not in usual.configuration


def test_where_no_words_stand_out_there_is_the_whole_quote(folder: Path) -> None:
    question = "What does Anna think of her, as the captain of the ferry?"
    with Corpus(folder) as corpus:
        usual = corpus.ask(question, mode="quote")
        words = corpus.ask(question, mode="quote", form="words")
    assert usual.short is None and usual.citations  # else the test shows nothing
    assert words.text == usual.text
    assert words.configuration["form"] == NO_WORDS


def test_a_model_is_told_the_form(folder: Path) -> None:
    with running() as url:

        def asked(form: Form) -> tuple[Answer, str]:
            with Corpus(folder, generator=GeneratorSettings(model=f"openai:{url}#good")) as corpus:
                answer = corpus.ask("When does the ferry sail?", mode="free", form=form)
            last = "".join(RemoteModel(f"openai:{url}#last").stream("?", max_new_tokens=500))
            return answer, str(json.loads(last)["seen"]["body"]["messages"])

        usual, message = asked("usual")
        assert "form" not in usual.configuration
        assert not any(told in message for told in FORMS.values() if told)
        answer, message = asked("words")
    assert FORMS["words"] in message
    assert answer.configuration["form"] == AS_ASKED


def test_the_packaged_model_is_not_believed(embed: Embed, model: CausalModel) -> None:
    document = transcript([("Anna", "The ferry of Ellmere sails at nine o'clock.")])
    settings = GeneratorSettings(answer="free", decoding="quotes", max_new_tokens=3)
    request = AskRequest("When does the ferry sail?", form="list", abstain=False)
    found = Retrieval([hit(document)], lambda _: document)
    answer = Generator(settings, embed=embed, load=lambda: model).answer(request, found)
    assert answer.configuration["form"] == SENTENCES_ONLY


def test_a_form_has_a_name() -> None:
    with pytest.raises(InvalidRequest, match="usual, list, words"):
        AskRequest("Why?", form="poem")  # type: ignore[arg-type]
    assert AskRequest("Why so?").instructed == "Why so?"


# ---- short and long answers beside usual ones ----

QUESTION = "What does the ferry carry?"
CARGO = ("coal", "sheep", "letters", "barrels of salt", "a grand piano", "three priests")


def test_a_longer_answer_quotes_more(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        text = "\n\n".join(f"The ferry carries {one} across the water." for one in CARGO)
        corpus.add_text(text, name="ferry")
        words = {
            length: sum(
                len(each.quote.split())
                for each in corpus.answer(AskRequest(QUESTION, length=length)).citations
            )
            for length in LENGTHS
        }
    assert 0 < words["short"] <= words["usual"] < words["long"]


def test_a_length_has_a_name() -> None:
    with pytest.raises(InvalidRequest, match="short, usual, long"):
        AskRequest("Why?", length="endless")  # type: ignore[arg-type]
