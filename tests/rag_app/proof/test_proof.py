"""Proofs of real answers hold, in both forms and by every way to check them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from generator.answer import Answer
from generator.answer_json import from_json, schema
from indexing.encoder.encoder import Encoder
from indexing.errors import InputError, InvalidRequest
from indexing.files import document
from rag_app.corpus.corpus import Corpus
from rag_app.proof.check_proof import END, HEADS, MARK
from rag_app.proof.proof import HEAD, SCRIPT, as_file, proof_of
from rag_app.proof.verdict import check_proof
from tests.conftest import SAMPLES

QUESTIONS = (
    "When is the launch?",  # utterances with times
    "How did the water level of the Ellmere change?",  # pages of a PDF
    "How much does the managing director of Tarnwick earn?",  # closest passages only
    "Which documents are there?",  # lines without quotes
    "Summarize the shoreline outage postmortem.",
    "What was decided in heron-5-field-trial?",
)
HOSTILE = (
    "The <body> costs </script><script>alert(1)</script> \"nine\" & 'ten' pounds, "
    "\u202eand backwards\u202c. <!-- It -->\n<img src=x onerror=alert(1)> [1] {0} %s é 漢."
)


@pytest.fixture(scope="module")
def answers(samples_corpus: Corpus) -> list[Answer]:
    return [samples_corpus.ask(question) for question in QUESTIONS]


def run_script(*words: object) -> tuple[int, str]:
    """The script by itself: no site-packages, no environment."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), *map(str, words)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_proofs_hold(samples_corpus: Corpus, answers: list[Answer], tmp_path: Path) -> None:
    originals = [one for one in SAMPLES.iterdir() if one.suffix != ".jsonl"]
    for number, answer in enumerate(answers):
        for path in (tmp_path / f"{number}.html", tmp_path / f"{number}.json"):
            samples_corpus.write_proof(answer, path)
            verdict = check_proof(path, corpus=samples_corpus)
            assert verdict.faults == ()
            quotes = len(answer.citations) + len(answer.closest)
            assert (verdict.quotes, verdict.placed) == (quotes, quotes)
    assert check_proof(tmp_path / "0.html", originals) == check_proof(
        tmp_path / "0.html", corpus=samples_corpus
    )
    assert check_proof(tmp_path / "3.html", corpus=samples_corpus).unquoted > 10


def test_the_script_says_the_same(
    samples_corpus: Corpus, answers: list[Answer], tmp_path: Path
) -> None:
    proof, shown = tmp_path / "proof.html", tmp_path / "texts"
    samples_corpus.write_proof(answers[0], proof)
    assert run_script(proof, samples_corpus.folder)[0] == 0
    assert run_script(proof, samples_corpus.folder / "corpus.sqlite")[0] == 0
    shown.mkdir()
    for id_ in {one.document for one in answers[0].citations}:  # as `rag-app show` prints it
        text = samples_corpus.document(id_).text
        (shown / f"{id_}.txt").write_bytes(f"{text}\n".replace("\n", "\r\n").encode())
    assert run_script(proof, shown)[0] == 0
    assert check_proof(proof, [shown]).faults == ()
    next(shown.iterdir()).write_text("Another text.", encoding="utf-8")
    status, said = run_script(proof, shown)
    assert status == 1 and "not in the originals" in said
    assert any("none of the originals" in one for one in check_proof(proof, [shown]).faults)
    assert run_script(proof)[0] == 1 and run_script()[0] == 1
    proof.write_text("<html>", encoding="utf-8")
    assert run_script(proof, shown)[0] == 1
    assert check_proof(proof).faults == ("it is no proof of rag-app, or not the whole file",)


def test_the_script_is_short_and_needs_python_alone() -> None:
    lines = SCRIPT.read_text("utf-8").splitlines()
    assert len(lines) <= 60
    imported = {line.split()[1] for line in lines if re.match(r"(from|import) ", line)}
    assert imported <= sys.stdlib_module_names
    assert ("", sha256(HEAD.read_bytes()).hexdigest()) == HEADS


class Reading(HTMLParser):
    """What a browser shows of a page, and what it would run or load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.said: list[str] = []
        self.within: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.within.append(tag)
        if tag not in {"meta", "html"}:
            assert {name for name, _ in attributes} <= {"class", "type", "id"}
        if tag == "script":
            assert ("type", "application/json") in attributes

    def handle_endtag(self, tag: str) -> None:
        self.within.remove(tag)

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & {*self.within}:
            self.said.append(data)


def test_hostile_texts_are_shown_and_not_obeyed(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_documents([document(f"Costs.\n\n{HOSTILE}", name="../<b>&", title="<i>'\"")])
        answer = corpus.ask("What does the <body> cost in pounds?", abstain_below=0.0)
        path = tmp_path / "a.html"
        corpus.write_proof(answer, path)
        assert check_proof(path, corpus=corpus).faults == ()
    page = Reading(path.read_text("utf-8"))
    assert page.tags == {"html", "head", "meta", "title", "style", "body", "div", "b", "script"}
    assert answer.citations
    for one in answer.citations:
        assert one.quote in page.said
    assert "onerror" in "".join(page.said) and "<i>'\"" in page.said


def test_a_page_says_all_that_its_json_holds(samples_corpus: Corpus, answers: list[Answer]) -> None:
    proof = proof_of(samples_corpus, answers[0])
    file = as_file(proof, page=True).decode()
    values = json.loads(file.rpartition(MARK)[2].removesuffix(END))
    said = Reading(file).said

    def leaves(value: Any) -> list[Any]:
        within = value.values() if isinstance(value, dict) else value
        is_leaf = not isinstance(value, dict | list)
        return [value] if is_leaf else [one for each in within for one in leaves(each)]

    assert {str(one) for one in leaves(values)} <= {*said, ""}
    assert values == json.loads(as_file(proof, page=False))


def test_a_proof_is_an_answer_with_more(samples_corpus: Corpus, answers: list[Answer]) -> None:
    for answer in answers:
        proof = proof_of(samples_corpus, answer)
        read = from_json(json.loads(json.dumps(proof)))
        named = [replace(one, path=Path(one.path).name) for one in answer.citations]
        assert (read.text, list(read.citations), read.short) == (answer.text, named, answer.short)
        properties = schema()["properties"]
        for name in proof.keys() & properties.keys() - {"citations", "closest"}:
            jsonschema.validate(proof[name], properties[name])
        assert not any("/" in one["path"] for one in proof["citations"])


def test_what_cannot_be_written(
    samples_corpus: Corpus, answers: list[Answer], tmp_path: Path
) -> None:
    with pytest.raises(InvalidRequest, match=r"\.html or \.json"):
        samples_corpus.write_proof(answers[0], tmp_path / "a.pdf")
    with pytest.raises(InputError, match="cannot be written"):
        samples_corpus.write_proof(answers[0], tmp_path / "none" / "a.html")
    for name in ("mine.html", "mine.json"):
        (tmp_path / name).write_text('{"of": "mine"}')
        with pytest.raises(InvalidRequest, match="no proof of rag-app"):
            samples_corpus.write_proof(answers[0], tmp_path / name)
        assert (tmp_path / name).read_text() == '{"of": "mine"}'
        (tmp_path / name).unlink()
        for _ in range(2):  # one of its own is replaced
            samples_corpus.write_proof(answers[0], tmp_path / name)
    first = replace(answers[0].citations[0], quote="Something else.")
    with pytest.raises(InvalidRequest, match="has changed since the answer"):
        samples_corpus.write_proof(replace(answers[0], citations=(first,)), tmp_path / "a.html")


def sealed(proof: dict[str, Any], path: Path) -> Path:
    path.write_bytes(as_file(proof, page=True))
    return path


def test_what_only_the_program_notices(
    samples_corpus: Corpus, answers: list[Answer], tmp_path: Path
) -> None:
    """Proofs that were changed and sealed again, by the places and the words of their quotes."""

    def faults(change: str, value: object, *, of_quote: bool = True) -> str:
        proof = json.loads(json.dumps(proof_of(samples_corpus, answers[0])))
        (proof["citations"][1] if of_quote else proof)[change] = value
        path = sealed(proof, tmp_path / "a.html")
        return "; ".join(check_proof(path, corpus=samples_corpus).faults)

    assert faults("label", "Tobias Lindqvist").startswith("quote [2]: label is 'Maren Osei', not")
    assert "time_seconds" in faults("time_seconds", 12.5)
    assert "page" in faults("page", 3)
    text = answers[0].text.replace("May", "June")
    changed = [one.marker for one in answers[0].citations if "May" in one.quote]
    assert faults("answer", text, of_quote=False) == "; ".join(
        f"the answer does not say quote [{marker}]" for marker in changed
    )
    assert len(changed) > 1
    short = {**proof_of(samples_corpus, answers[0])["short"], "text": "June"}
    assert "the words that answer" in faults("short", short, of_quote=False)


def test_an_answer_says_its_quotes_and_other_words_are_counted(
    samples_corpus: Corpus, answers: list[Answer], tmp_path: Path
) -> None:
    whole = samples_corpus.ask(QUESTIONS[0])
    words = samples_corpus.ask(QUESTIONS[0], form="words")

    def said(text: str, answer: Answer = whole, **values: object) -> tuple[list[str], int]:
        proof = {**proof_of(samples_corpus, answer), "answer": text, **values}
        verdict = check_proof(sealed(proof, tmp_path / "a.html"), corpus=samples_corpus)
        return [one[-3:] for one in verdict.faults], verdict.unquoted

    lines = whole.text.split("\n")
    assert said(whole.text) == ([], 0) == said(words.text, words)
    assert said(f"The board dismissed its treasurer. {whole.text}") == ([], 1)
    assert said(f"{whole.text}\nThe treasurer lied. [1]") == ([], 1)
    assert said(f"{whole.text}\nThe treasurer lied.", abstained=True) == ([], 1)
    for other in ("[1]", "a [1]", lines[0].replace(" [1]", " Then she lied. [1]")):
        assert said("\n".join([other, *lines[1:]])) == (["[1]"], 1)
    assert said("", words) == (["[1]"], 0)
    assert said(words.text.replace("May", "June"), words) == (["[1]"], 1)
    decided = answers[5]  # "Decided: ...": that these are decisions, nothing attests
    assert said(decided.text, decided) == ([], len(decided.text.split("\n")))
