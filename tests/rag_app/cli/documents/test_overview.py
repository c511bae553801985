"""`rag-app overview`: what it prints, and what for a name that fits nothing."""

from __future__ import annotations

import json

from click.testing import CliRunner

from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus


def run(corpus: Corpus, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["overview", *words, "--corpus", str(corpus.folder)])
    return done.exit_code, done.output


def test_it_prints_speakers_topics_and_where_each_quote_stands(samples_corpus: Corpus) -> None:
    about = samples_corpus.overview("heron-1-kick-off")
    status, said = run(samples_corpus, "heron-1-kick-off")
    assert status == 0
    assert said.startswith("heron-1-kick-off\n") and "00:28:58" in said
    plain = " ".join(said.split())
    for topic in about.topics:
        assert " ".join(topic.quote.text.split()) in plain
        assert f"characters {topic.quote.start}-{topic.quote.end}" in plain
    assert f"{about.speakers[0].name} ({about.speakers[0].words:,} words)" in plain


def test_json_is_the_overview(samples_corpus: Corpus) -> None:
    status, said = run(samples_corpus, "the-ferry-book", "--json")
    values = json.loads(said)
    assert status == 0 and values["title"] == "the-ferry-book"
    text = samples_corpus.document("the-ferry-book").text
    for topic in values["topics"]:
        assert text[topic["quote"]["start"] : topic["quote"]["end"]] == topic["quote"]["text"]


def test_an_unknown_name_is_refused(samples_corpus: Corpus) -> None:
    status, said = run(samples_corpus, "heron-99")
    assert status == 1
    assert "no such document" in said and "rag-app list" in said
