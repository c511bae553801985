"""`rag-app every`, over the sample documents."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner

from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

QUESTION = "Every time the budget was discussed"


def run(corpus: Corpus, *words: str) -> str:
    done = CliRunner().invoke(main, ["every", *words, "--corpus", str(corpus.folder)])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_page_of_places_as_json_and_for_people(samples_corpus: Corpus) -> None:
    words = (QUESTION, "--path", "*heron-*", "--page", "3")
    values: dict[str, Any] = json.loads(run(samples_corpus, *words, "--json"))
    assert values["low"] < values["about"] < values["high"] and not values["counted"]
    quotes = [one for hit in values["documents"] for one in hit["passages"]]
    assert 0 < len(quotes) <= 3 <= values["found"]
    for hit in values["documents"]:
        text = samples_corpus.document(hit["document"]).text
        assert all(text[one["start"] : one["end"]] == one["text"] for one in hit["passages"])
    shown = run(samples_corpus, *words)
    assert shown.startswith(f"About {round(values['about'])} places (")
    assert "1 to 3 shown" in shown.splitlines()[0]


def test_a_number_that_no_document_says_is_called_counted(samples_corpus: Corpus) -> None:
    shown = run(samples_corpus, "How often did we mention rain?", "--path", "*heron-5*")
    assert "Counted, as no place was found that says it:" in shown or "as it is said" in shown
