"""`rag-app similar`: what it prints."""

import json

from click.testing import CliRunner

from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus


def run(corpus: Corpus, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["similar", *words, "--corpus", str(corpus.folder)])
    return done.exit_code, done.output


def test_text_and_json_say_the_same(samples_corpus: Corpus) -> None:
    status, said = run(samples_corpus, "heron-1-kick-off", "-k", "2")
    as_json = json.loads(run(samples_corpus, "heron-1-kick-off", "-k", "2", "--json")[1])
    expected = samples_corpus.similar("heron-1-kick-off", k=2)
    assert status == 0
    assert [one["id"] for one in as_json] == [each.document.id for each in expected]
    for number, one in enumerate(as_json, 1):
        assert f"{number}. {one['title']}  [{one['id']}]  {one['similarity']:.2f}" in said


def test_an_unknown_name_is_refused(samples_corpus: Corpus) -> None:
    status, said = run(samples_corpus, "heron-99")
    assert status == 1
    assert "no such document" in said
