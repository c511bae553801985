"""Excerpts: neighbouring sentences of the evidence with their speakers' labels, read as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from generator.evidence import Sentence
from indexing.text.terms import strip_annotations

LENGTH = 600
"""Most characters of the sentences of an excerpt; a longer sentence stands alone."""

_LONGEST_GAP = 120  # characters between neighbours: a speaker's label, a heading


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Neighbouring sentences of one document, at least one."""

    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """What they say, each utterance after its speaker's label, without annotations."""
        return " ".join(filter(None, self._parts()))

    def _parts(self) -> Iterator[str]:
        utterance: int | None = None
        for sentence in self.sentences:
            if sentence.speaker and sentence.utterance != utterance:
                yield f"{sentence.speaker}:"
            utterance = sentence.utterance
            yield " ".join(strip_annotations(sentence.text).split())


def excerpts(sentences: Iterable[Sentence], *, length: int = LENGTH) -> list[Excerpt]:
    """The sentences in excerpts, in reading order.

    Args:
        sentences: Of the evidence, in any order.
        length: Most characters of an excerpt's sentences.
    """
    order = sorted(sentences, key=lambda each: (each.document.id, each.start))
    groups: list[list[Sentence]] = []
    for sentence in order:
        if groups and _belongs(groups[-1], sentence, length):
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    return [Excerpt(tuple(group)) for group in groups]


def _belongs(group: Sequence[Sentence], sentence: Sentence, length: int) -> bool:
    """Whether a sentence goes on from a group and has room in it."""
    near = 0 <= sentence.start - group[-1].end <= _LONGEST_GAP
    size = sum(each.end - each.start for each in group) + sentence.end - sentence.start
    return sentence.document.id == group[-1].document.id and near and size <= length
