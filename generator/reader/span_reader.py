"""A reader by name: a model for extractive question answering, of the SQuAD 2.0 kind.

It says of each token how likely an answer begins or ends there, and of the first how likely there
is none. What the packaged reader says of a sentence and of a stretch follows from that: the best
words in it, less none. The scales differ from model to model; `reading_scale` moves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.evidence import Sentence, reading_order, stand_together
from generator.reader.reading import UNREAD, Reading, Words, best_pair
from generator.reader.reading_scale import ReadingScale, scale_of_reader
from indexing.errors import UnsupportedModel
from indexing.models.part import QUESTION_ANSWERING, NamedPart, Part

_STRETCH = 1_100  # characters, about the 200 tokens that the packaged reader reads at once
_AT_ONCE = 8  # stretches


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring sentences, with the speakers' labels between them."""

    text: str  # what is read
    sentences: tuple[tuple[int, int], ...]  # of each its number, and where it begins in the text


class SpanReader(NamedPart):
    """Reads with a model of a name; use as `Reader`."""

    _purpose = "reader"
    _kinds: ClassVar = {QUESTION_ANSWERING: "a model for question answering"}

    def _check(self, part: Part) -> None:
        if len(part.labels) != 2:
            raise UnsupportedModel(
                f"{self.name} is no reader: its head gives {len(part.labels)} numbers a token, not "
                "a start and an end; name a model for extractive question answering"
            )

    @cached_property
    def _scale(self) -> ReadingScale:
        return scale_of_reader(self._part.digest, self.read_unscaled)

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """Read sentences of evidence for a question, on the packaged reader's scale.

        Raises:
            ModelNotFound: There is no such model here.
            UnsupportedModel: It is made for something else.
            ModelError: It cannot be loaded.
        """
        with self._loading:
            scale = self._scale
        moved = scale.moved(self.read_unscaled(question, sentences))
        return replace(moved, reader=self.described)

    def read_unscaled(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """The same as the model has it."""
        relevance = np.full(len(sentences), UNREAD, np.float32)
        answerable = relevance.copy()
        words: list[Words | None] = [None] * len(sentences)
        every = list(_pieces(sentences))
        for at in range(0, len(every), _AT_ONCE):
            some = every[at : at + _AT_ONCE]
            for piece, found in zip(some, self._best(question, some, sentences), strict=True):
                best = max((each.score for each in found if each), default=UNREAD)
                for (number, _), each in zip(piece.sentences, found, strict=True):
                    words[number] = each
                    relevance[number] = each.score if each else UNREAD
                    answerable[number] = best
        return Reading(relevance, tuple(words), answerable)

    def _best(
        self, question: str, pieces: Sequence[Piece], sentences: Sequence[Sentence]
    ) -> Iterator[list[Words | None]]:
        """Of each piece, the best words of each of its sentences."""
        import torch

        part = self._part
        inputs = part.tokenizer(
            [question] * len(pieces),
            [each.text for each in pieces],
            truncation="only_second",
            max_length=part.longest,
            padding=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = inputs.pop("offset_mapping").numpy()
        with torch.inference_mode():
            outputs = part.model(
                **{key: each.to(part.model.device) for key, each in inputs.items()}
            )
        starts, ends = (
            each.float().cpu().numpy() for each in (outputs.start_logits, outputs.end_logits)
        )
        for row, piece in enumerate(pieces):
            second = np.array([each == 1 for each in inputs.sequence_ids(row)])
            none = float(starts[row, 0] + ends[row, 0])
            found: list[Words | None] = []
            for i, at in piece.sentences:
                within = offsets[row] - at
                inside = second & (within[:, 0] >= 0) & (within[:, 1] <= len(sentences[i].read))
                places = np.flatnonzero(inside & (within[:, 1] > within[:, 0]))
                both = starts[row][places][:, None] + ends[row][places]
                words = _words(sentences[i], within[places], both, none) if len(places) else None
                found.append(words)
            yield found


def _words(
    sentence: Sentence, offsets: NDArray[Any], both: NDArray[np.float32], none: float
) -> Words:
    """The best words, in characters of the document; offsets are of the n tokens of `both`."""
    first, last = best_pair(both)
    spans = [(int(start), int(end)) for start, end in offsets[[first, last]]]
    (start, _), (_, end) = sentence.places(spans)
    return Words(start, end, float(both[first, last]) - none)


def _pieces(sentences: Sequence[Sentence]) -> Iterator[Piece]:
    """Neighbours in reading order, as many as have room; a speaker's label before what they say."""
    text, before = "", None
    members: list[tuple[int, int]] = []
    for i in reading_order(sentences):
        one = sentences[i]
        near = before is not None and stand_together(before, one)
        if members and (not near or len(text) + len(one.read) > _STRETCH):
            yield Piece(text, tuple(members))
            text, members, before = "", [], None
        told = before is not None and before.utterance == one.utterance
        label = f"{one.speaker}: " if one.speaker and not told else ""
        text += f"{' ' if text else ''}{label}"
        members.append((i, len(text)))
        text, before = text + one.read, one
    if members:
        yield Piece(text, tuple(members))
