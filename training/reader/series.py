"""The sets of `series.jsonl.gz` as corpora: dated documents whose facts change, with questions.

140 sets, written for this by seven sessions that knew nothing of the program (STATE.md). Two of
them stand in one corpus.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.folders.steps import evidence_of
from generator.extractive.features import SentenceFeatures
from generator.request import AskRequest
from rag_app.corpus.corpus import Corpus
from rag_app.progress import track

SETS = Path(__file__).parent / "series.jsonl.gz"
TOGETHER = 2  # sets in a corpus


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a set.

    Attributes:
        author: Who wrote the set, by number.
        kind: R revised, S like it but not revised, H what was so before, P other words, D direct,
            N near miss.
        answers: Words that answer, in any of their forms; none of a near miss.
        features: Of its evidence, which was read.
    """

    author: str
    kind: str
    answers: tuple[str, ...]
    features: SentenceFeatures

    @property
    def is_read_once(self) -> bool:
        """Whether no larger reader read the best sentences again."""
        return self.features.usual is self.features


def asked_of_sets(corpora: Path, most: int | None = None) -> Iterator[Asked]:
    """The questions of the first so many sets, or of all; the corpora are kept in that folder."""
    with gzip.open(SETS, "rt", encoding="utf-8") as file:
        sets = [json.loads(line) for line in file][:most]
    for at in range(0, len(sets), TOGETHER):
        yield from _asked(sets[at : at + TOGETHER], corpora / sets[at]["title"])


def _asked(sets: list[dict[str, Any]], folder: Path) -> Iterator[Asked]:
    with Corpus(folder / "corpus") as corpus:
        for each in sets:
            files = folder / "files" / each["title"]
            files.mkdir(parents=True, exist_ok=True)
            for one in each["documents"]:
                name = one["name"].replace("/", "-").removesuffix(".txt")
                (files / f"{name}.txt").write_text(one["text"], encoding="utf-8")
        corpus.add([folder / "files"])
        asked = [(each["title"], one) for each in sets for one in each["questions"]]
        with track(asked, doing=folder.name) as questions:
            for title, one in questions:
                features = evidence_of(corpus, AskRequest(one["question"]))
                if features is not None and features.sentences and features.is_read:
                    yield Asked(title[0], one["kind"], tuple(one["answers"]), features)
