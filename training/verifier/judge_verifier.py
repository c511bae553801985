"""Judges a verifier on articles and meetings left out: a line of JSON for each claim.

    python training/verifier/judge_verifier.py DATA/reading/train.jsonl.gz \
        --meetings DATA/qmsum/train.jsonl --weights verifier.safetensors --out claims.jsonl

A claim's excerpts are the three of its evidence with most of its words; `vetoes` says which of
them the rules exclude. `figures.py` makes a table of the lines.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import torch
from changes import changes
from safetensors.torch import load_file
from verifier_data import (
    MeetingClaims,
    MeetingText,
    PassageClaims,
    Reference,
    load_meetings,
    load_passages,
)

from generator.attribution.citer import Citer
from generator.attribution.entailment_rules import parse_sentence
from generator.attribution.excerpt_support import MOST, Excerpt, ExcerptSupport
from generator.attribution.verifier import Verifier
from generator.evidence import Sentence, Span, Vectors
from indexing.text.terms import Rarity, content_stems

SEED = 7


class Judge:
    """Scores claims with a verifier."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier

    def of_excerpts(self, text: str, evidence: Sequence[Excerpt]) -> dict[str, Any]:
        """Probabilities, vetoes and shares of words of the nearest excerpts."""
        spoken: list[Sentence] = [one for each in evidence for one in each.sentences]
        ordinary = frozenset(word for one in spoken for word in one.text.split() if word.islower())
        rarity = Rarity(map(content_stems, (one.text for one in spoken)))
        claim = parse_sentence(text, ordinary=ordinary)
        support = ExcerptSupport(spoken, self.verifier, rarity, ordinary)
        ranked = support.ranked(claim)[:MOST]
        texts = [each.excerpt.text for _, each in ranked]
        found = self.verifier.probabilities(text, texts)
        return {
            "probabilities": [round(float(each), 5) for each in found],
            "vetoes": [support.is_vetoed(claim, each) for _, each in ranked],
            "shares": [round(share, 4) for share, _ in ranked],
            "quoted": self.is_quoted(text, evidence),
        }

    def is_quoted(self, text: str, evidence: Sequence[Excerpt]) -> bool:
        """Whether a quote carries it by the rules alone, embeddings aside."""
        spans = [
            Span(each.sentences[0].document, each.sentences[0].start, each.sentences[-1].end, 1.0)
            for each in evidence
        ]
        citer = Citer(spans, self.embed)
        claim = parse_sentence(text, ordinary=citer._ordinary)
        return any(match.entails for match in citer._matches(claim))

    @staticmethod
    def embed(texts: list[str]) -> Vectors:
        """Not asked."""
        raise NotImplementedError(texts)

    def of_meeting(
        self, meeting: MeetingText, reference: Reference, other: MeetingText, rng: random.Random
    ) -> Iterator[dict[str, Any]]:
        """A sentence of a reference; changed; beside unmarked turns; beside another meeting."""
        marked = [meeting.excerpts[i] for i in reference.marked]
        yield self._line(reference.text, marked, True, "reference")
        made = changes(reference.text, rng, known=meeting.speakers, others=meeting.names)
        for one in made[:2]:
            yield self._line(one.text, marked, False, one.kind)
        unmarked = [meeting.excerpts[i] for i in reference.unmarked[:12]]
        yield self._line(reference.text, unmarked, False, "unmarked")
        yield self._line(reference.text, other.excerpts[:40], False, "other meeting")

    def _line(
        self, text: str, evidence: Sequence[Excerpt], true: bool, kind: str
    ) -> dict[str, Any]:
        return {"source": "qmsum", "kind": kind, "true": true, "text": text} | self.of_excerpts(
            text, evidence
        )


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--weights", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--references", default=100, show_default=True)
@click.option("--groups", default=90, show_default=True)
def main(
    data: Path, meetings: Path, weights: Path, out: Path, references: int, groups: int
) -> None:
    """Write a line for each claim."""
    torch.set_num_threads(1)
    rng = random.Random(SEED)
    judge = Judge(Verifier(load_file(weights)))
    held = load_meetings(meetings, held=True)
    pairs = [(each, one) for each in held for one in each.references if one.marked]
    with out.open("w", encoding="utf-8") as file:
        for meeting, reference in rng.sample(pairs, min(references, len(pairs))):
            other = rng.choice([each for each in held if each is not meeting])
            for line in judge.of_meeting(meeting, reference, other, rng):
                file.write(f"{json.dumps(line)}\n")
            file.flush()
        passages, talks = PassageClaims(load_passages(data)[1]), MeetingClaims(held)
        for number in range(groups):
            make = (passages.asked, passages.said, talks.said)[number % 3]
            for claim in make(rng):
                found = judge.verifier.probabilities(claim.text, claim.bag)
                line = {
                    "source": ("question", "sentence", "speech")[number % 3],
                    "kind": claim.kind,
                    "true": claim.true,
                    "text": claim.text,
                    "probabilities": [float(each) for each in found],
                }
                file.write(f"{json.dumps(line)}\n")
            file.flush()


if __name__ == "__main__":
    main()
