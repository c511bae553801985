"""The short form of `make campaign`: mutated files, the same ones in every run."""

from __future__ import annotations

import random
from pathlib import Path

from campaign.fuzz import attack, complaints, mutant
from campaign.seed_files import seeds
from indexing.documents import Document, Utterance
from indexing.loaders import LOADERS
from indexing.walk import Failure
from tests.reading import read


def test_every_loader_has_a_seed_that_it_reads(tmp_path: Path) -> None:
    made = seeds()
    formats = {each.format for each in LOADERS.values()} - {
        "picture"
    }  # which OCR takes seconds for
    assert {LOADERS[suffix].format for suffix in made} == formats
    for suffix, data in made.items():
        path = tmp_path / f"a{suffix}"
        path.write_bytes(data)
        entries = read(path)
        assert all(isinstance(entry, Document) for entry in entries), entries
        assert list(complaints(entries)) == []


def test_mutants_follow_from_their_seed() -> None:
    data = seeds()[".txt"]
    first, again, other = (mutant(".txt", data, random.Random(n)) for n in (1, 1, 2))
    assert first == again != other


def test_mutated_files(tmp_path: Path) -> None:
    result = attack(tmp_path, trials=200, seed=0)
    assert result.failures == []
    assert result.trials == 200 and result.outcomes["read"] > 20


def made(text: str, *utterances: Utterance) -> list[Document | Failure]:
    return [Document("1", "a", "", "a", "text", "", text, utterances)]


def test_what_is_unsound_is_complained_of() -> None:
    assert list(complaints([])) and list(complaints(made("a\rb")))
    assert list(complaints(made("ab", Utterance(0, 3, 0))))
    assert list(complaints([Failure("a", "is bad\nvery", "fix it")]))
    assert not list(complaints(made("ab", Utterance(0, 2, 1))))
