"""Stretches: neighbouring sentences of evidence that are read together with a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from generator.evidence import Sentence, reading_order, stand_together

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_LONGEST = 200  # tokens of the sentences and speakers' labels of a stretch
_LONGEST_QUESTION = 48  # tokens
_LONGEST_LABEL = 12  # tokens


class Tokens(Protocol):
    """What the cross-encoder reads of a stretch; attributes as in `Stretch`."""

    @property
    def ids(self) -> Sequence[int]:
        """Token ids."""

    @property
    def first(self) -> int:
        """Index of the first token after the question."""

    @property
    def places(self) -> Sequence[tuple[int, int]]:
        """Tokens of each sentence."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """`[CLS] question [SEP] sentences [SEP]`, as token ids.

    A speaker's label ("Project Manager:") is read before each utterance, but belongs to none of
    its sentences.
    """

    ids: Sequence[int]  # token ids, special ones included
    first: int  # index of the first token after the question
    places: Sequence[tuple[int, int]]  # first and last + 1 token of each sentence
    sentences: Sequence[int] = ()  # index of each sentence in the evidence
    offsets: Sequence[Sequence[tuple[int, int]]] = ()  # the characters of each sentence's tokens


def stretches(tokenizer: Tokenizer, question: str, sentences: Sequence[Sentence]) -> list[Stretch]:
    """Evidence cut into stretches, document by document; a sentence without a token is in none."""
    ids, spans = _encoded(tokenizer, sentences)
    names = sorted({sentence.speaker for sentence in sentences if sentence.speaker})
    labels = {name: _ids(tokenizer, f"{name}:")[:_LONGEST_LABEL] for name in names}
    begin, end = tokenizer.encode("").ids
    prompt = [begin, *_ids(tokenizer, question)[:_LONGEST_QUESTION], end]
    return [_joined(prompt, group, ids, spans, end) for group in _groups(sentences, ids, labels)]


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def _encoded(
    tokenizer: Tokenizer, sentences: Sequence[Sentence]
) -> tuple[list[list[int]], list[list[tuple[int, int]]]]:
    """Token ids and characters of each sentence, its tail cut where it is too long."""
    most = _LONGEST - _LONGEST_LABEL
    texts = [sentence.read for sentence in sentences]
    every = tokenizer.encode_batch(texts, add_special_tokens=False)
    spans = [
        sentence.places([_without_blank(sentence.read, each) for each in one.offsets[:most]])
        for sentence, one in zip(sentences, every, strict=True)
    ]
    return [one.ids[:most] for one in every], spans


def _without_blank(text: str, place: tuple[int, int]) -> tuple[int, int]:
    """Where a token stands, without the blank before it that some tokenizers count to it."""
    start, end = place
    return start + (end - start > 1 and text[start].isspace()), end


Member = tuple[int, list[int]]
"""Index of a sentence, and the token ids of the label that is read before it."""


def _groups(
    sentences: Sequence[Sentence], ids: Sequence[Sequence[int]], labels: dict[str, list[int]]
) -> Iterator[list[Member]]:
    """Neighbouring sentences in reading order, as many as have room."""
    group: list[Member] = []
    size = 0
    for i in reading_order(sentences):
        if not ids[i]:
            continue
        label = labels.get(sentences[i].speaker or "", [])
        before = sentences[group[-1][0]] if group else None
        full = size + len(ids[i]) + len(label) > _LONGEST
        if before is not None and (full or not stand_together(before, sentences[i])):
            yield group
            group, size, before = [], 0, None
        if before is not None and before.utterance == sentences[i].utterance:
            label = []
        group.append((i, label))
        size += len(ids[i]) + len(label)
    if group:
        yield group


def _joined(
    prompt: Sequence[int],
    group: Sequence[Member],
    ids: Sequence[Sequence[int]],
    spans: Sequence[Sequence[tuple[int, int]]],
    end: int,
) -> Stretch:
    joined = list(prompt)
    places = []
    for i, label in group:
        joined += label
        places.append((len(joined), len(joined) + len(ids[i])))
        joined += ids[i]
    indexes = tuple(i for i, _ in group)
    return Stretch(
        (*joined, end), len(prompt), tuple(places), indexes, tuple(spans[i] for i in indexes)
    )
