"""What is hidden, where, and the published key-value format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generator.prompt.arrangement import arrange
from generator.prompt.builder import build_in_order
from generator.prompt.chat_template import Chat
from indexing.errors import InvalidRequest, UnreadableFile
from indexing.models.files import generator_weights
from rag_app.laboratory.datasets.haystack import haystack
from rag_app.laboratory.datasets.probes import (
    KINDS,
    PARTS,
    Material,
    corpus_haystack,
    make_probes,
    places,
    read_key_values,
)


@pytest.fixture(scope="module")
def chat() -> Chat:
    from transformers import AutoTokenizer

    return Chat(AutoTokenizer.from_pretrained(generator_weights().folder))


@pytest.fixture(scope="module")
def material(chat: Chat) -> Material:
    return Material(haystack(None), lambda text: len(chat.content(text)), 300)


@pytest.mark.parametrize("kind", KINDS)
def test_the_evidence_stands_where_it_is_wanted(kind: str, material: Material, chat: Chat) -> None:
    for probe in make_probes(kind, 4, material):
        assert probe.answer in probe.gold
        assert probe.answer not in probe.question + probe.lead
        assert not any(probe.answer in text for text in probe.distractors)
        said = chat.tokenizer.decode(probe.prompt(chat, 0.5).ids)
        assert said.count(probe.question) == 2
        assert said.count(probe.gold) == 1
        starts = [
            chat.tokenizer.decode(probe.prompt(chat, place).ids).index(probe.gold)
            for place in places(5)
        ]
        assert starts == sorted(starts)
        assert len(set(starts)) == (3 if kind == "qa" else 5)
        assert probe.texts(0)[0] == probe.texts(1)[-1] == probe.gold
        assert probe.texts(0.5).index(probe.gold) == round(len(probe.distractors) / 2)
        evidence = sum(material.size(text) for text in probe.distractors)
        assert 150 < evidence <= 300


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_give_equal_probes(kind: str, material: Material) -> None:
    other = Material(material.hay, material.size, material.length, seed=1)
    assert make_probes(kind, 3, material) == make_probes(kind, 3, material)
    assert (
        not {one.answer for one in make_probes(kind, 3, material)}
        & {one.answer for one in make_probes(kind, 3, other)}
        or kind == "qa"
    )
    assert make_probes(kind, 3, material) != make_probes(kind, 3, other)


def test_long_probes_run_out_of_facts_not_of_luck(material: Material) -> None:
    (probe,) = make_probes("qa", 1, Material(material.hay, material.size, 10**9))
    assert len(probe.distractors) == 143


def test_unknown_kinds_and_numbers_are_refused(material: Material) -> None:
    with pytest.raises(InvalidRequest, match="passkey, kv, qa"):
        make_probes("riddle", 1, material)
    with pytest.raises(InvalidRequest, match="144"):
        make_probes("kv", 145, material)


def test_an_order_that_is_asked_for_is_kept(material: Material, chat: Chat) -> None:
    probe = make_probes("qa", 1, material)[0]
    spans = probe.prompt(chat, 1.0).spans
    assert [one.document.title for one in spans] == [f"Document {n + 1}" for n in range(len(spans))]
    turned = build_in_order(probe.question, spans[::-1], chat=chat)
    assert turned.spans == spans[::-1]
    assert len(arrange(spans)) == len(spans)


def record(**more: object) -> str:
    pairs = [["a", "1"], ["b", "2"], ["c", "3"]]
    return json.dumps({"ordered_kv_records": pairs, "key": "b", "value": "2", **more})


def test_published_records(tmp_path: Path) -> None:
    file = tmp_path / "kv.jsonl"
    file.write_text(f"{record()}\n\n{record(key='a', value='1')}\n")
    first, second = read_key_values(file, 9)
    assert (first.answer, first.gold, first.lead) == ("2", '"b": "2"', '"b": "')
    assert first.texts(0.5) == ['"a": "1"', '"b": "2"', '"c": "3"']
    assert second.texts(1)[-1] == '"a": "1"'
    assert len(read_key_values(file, 1)) == 1


@pytest.mark.parametrize(
    "text",
    ["", "no json", record(key="z"), record(value=2), record(ordered_kv_records=3),
     "[]", "[" * 9999],
)  # fmt: skip
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "kv.jsonl"
    file.write_text(text)
    with pytest.raises(UnreadableFile, match="kv"):
        read_key_values(file, 9)
    with pytest.raises(UnreadableFile):
        read_key_values(tmp_path / "none.jsonl", 9)
    with pytest.raises(UnreadableFile):
        read_key_values(tmp_path, 9)


def test_text_of_a_corpus(samples_corpus: object, tmp_path: Path) -> None:
    from rag_app.corpus.corpus import Corpus

    assert isinstance(samples_corpus, Corpus)
    assert len(corpus_haystack(samples_corpus.folder).spans) > 10_000
    with Corpus(tmp_path / "empty") as empty:
        empty.add([])
    with pytest.raises(InvalidRequest, match="holds no document"):
        corpus_haystack(tmp_path / "empty")


@pytest.mark.parametrize("kind", ["passkey", "kv", "qa"])
def test_evidence_is_passages_of_their_own(kind: str, material: Material) -> None:
    for probe in make_probes(kind, 2, material):
        evidence = probe.evidence(0.5)
        lines = [line for span in evidence.passages for line in span.text.split("\n")]
        assert lines == probe.texts(0.5)
        assert len(evidence.passages) == (min(PARTS, len(lines)) if probe.joined else len(lines))
        assert sum(probe.gold in span.text for span in evidence.passages) == 1
