"""The real small models, loaded once, and two short documents to ask about."""

from __future__ import annotations

from collections.abc import Sequence

from generator.evidence import Span
from indexing.documents import Document, Hit, PassageHit, Utterance


def transcript(said: Sequence[tuple[str, str]], *, name: str = "meeting") -> Document:
    """A document of utterances, ten seconds apart."""
    text, utterances = "", []
    for i, (speaker, words) in enumerate(said):
        start = len(text)
        text += f"{speaker}: {words}\n"
        utterances.append(
            Utterance(start, len(text) - 1, start + len(speaker) + 2, speaker, 10.0 * i)
        )
    return Document(name, f"/{name}.vtt", "", name.title(), "vtt", "", text, tuple(utterances))


def prose(text: str, *, name: str = "report") -> Document:
    return Document(name, f"/{name}.txt", "", name.title(), "txt", "", text)


def hit(document: Document, *spans: tuple[int, int], score: float = 1.0) -> Hit:
    """A hit whose passages are the given spans, each a little worse than the one before."""
    passages = tuple(
        PassageHit(start, end, document.text[start:end], score - 0.01 * i)
        for i, (start, end) in enumerate(spans or [(0, len(document.text))])
    )
    return Hit(document.id, document.title, document.path, document.part, score, passages)


def span(document: Document) -> Span:
    return Span(document, 0, len(document.text), 1.0)
