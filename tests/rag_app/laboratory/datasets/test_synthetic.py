"""Generated tasks: of the right length, the same each time, each query with one answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from indexing.errors import InvalidRequest, UnreadableFile
from rag_app.laboratory.datasets import synthetic
from rag_app.laboratory.datasets.facts import PATTERNS, PLACES, TRADES, facts
from rag_app.laboratory.datasets.haystack import Haystack, haystack, plant
from rag_app.laboratory.datasets.task import Task

Make = Callable[..., Task]

ESSAYS = Haystack.of(
    f"Essay {n}. " + " ".join(f"Sentence {i} of essay {n} is here.\n" for i in range(60))
    for n in range(5)
)


def passkey(length: int, seed: int = 0) -> Task:
    return synthetic.passkey(length, seed=seed)


def needle(length: int, seed: int = 0) -> Task:
    return synthetic.needle(length, ESSAYS, seed=seed)


@pytest.mark.parametrize("make", [passkey, needle])
@pytest.mark.parametrize("length", [64, 256, 1024, 4096])
def test_every_document_has_three_words_for_four_tokens(make: Make, length: int) -> None:
    task = make(length)
    assert len(task.documents) == 100
    assert len(task.queries) == len({query.gold for query in task.queries}) == 50
    assert {len(document.text.split()) for document in task.documents} == {length * 3 // 4}


@pytest.mark.parametrize("make", [passkey, needle])
def test_a_seed_says_everything(make: Make) -> None:
    assert make(256) == make(256)
    assert make(256).digest != make(256, seed=1).digest
    assert make(256).digest != make(512).digest


def test_a_passkey_is_in_one_document_at_any_depth() -> None:
    task = passkey(1024)
    depths = []
    for query in task.queries:
        match = re.fullmatch(r"what is the passkey for (.+)\?", query.text)
        assert match
        name = match[1]
        holders = [at for at, one in enumerate(task.documents) if name in one.text]
        assert holders == [query.gold]
        text = task.documents[query.gold].text
        line = re.search(
            rf"^{name}'s pass key is (\d+)\. Remember it\. \1 is the pass key for {name}\.$",
            text,
            re.MULTILINE,
        )
        assert line
        depths.append(line.start() / len(text))
    assert min(depths) < 0.2
    assert max(depths) > 0.8
    assert 0.3 < sum(depths) / len(depths) < 0.7


def test_a_needle_answers_one_question_and_is_in_one_document() -> None:
    task = needle(512)
    by_question = {fact.question: fact.sentence for fact in facts()}
    for query in task.queries:
        sentence = by_question[query.text]
        holders = [at for at, one in enumerate(task.documents) if sentence in one.text]
        assert holders == [query.gold]
        rest = task.documents[query.gold].text.replace(sentence, "")
        assert not any(fact.sentence in rest for fact in facts())


def test_facts_differ_and_questions_keep_the_answer() -> None:
    made = facts()
    assert len({fact.sentence for fact in made}) == len({fact.question for fact in made}) >= 100
    for pattern in PATTERNS:
        assert len(set(pattern.answers)) == len(TRADES) == len(PLACES)
        for fact in made:
            answers = [each for each in pattern.answers if fact.sentence.endswith(f" {each}.")]
            assert not any(answer in fact.question for answer in answers)


def test_too_short_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="too short"):
        passkey(32)


@pytest.mark.parametrize("first", [0, 3, 5, 12])
def test_a_cut_goes_round(first: int) -> None:
    hay = Haystack.of(["one two\nthree", "four  five six"])
    words = ["one", "two", "three", "four", "five", "six"]
    assert hay.cut(first, 9).split() == [words[(first + i) % 6] for i in range(9)]
    assert hay.cut(1, 3) == "two\nthree\n\nfour"


def test_plant_goes_between_sentences() -> None:
    text = "First one here. Second one here. Third one here.\nFourth one."
    assert plant(text, "NEEDLE", 0) == "NEEDLE\n" + text
    assert plant(text, "NEEDLE", 1) == text + "\nNEEDLE"
    assert plant(text, "NEEDLE", 0.5) == (
        "First one here. Second one here.\nNEEDLE\nThird one here.\nFourth one."
    )


def test_a_haystack_is_read_from_what_the_user_names(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Alpha beta.")
    (tmp_path / "b.md").write_text("Gamma delta.")
    assert haystack(tmp_path).text.split() == ["Alpha", "beta.", "Gamma", "delta."]
    with pytest.raises(UnreadableFile, match="nowhere"):
        haystack(tmp_path / "nowhere")


def test_without_samples_a_haystack_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.laboratory.datasets.haystack.SAMPLES", tmp_path / "none")
    with pytest.raises(InvalidRequest, match="--haystack"):
        haystack(None)
