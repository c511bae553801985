"""The real small models, loaded once, and two short documents to ask about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from generator.evidence import Embed, Span, Vectors
from generator.lm.causal_lm import CausalModel
from indexing.documents import Document, Hit, PassageHit, Utterance
from indexing.models.files import encoder_weights


@pytest.fixture(scope="session")
def model() -> CausalModel:
    """SmolLM2, converted once into the user's cache folder, in float32 for exact comparison."""
    import torch

    return CausalModel.load(device="cpu", dtype=torch.float32)


@pytest.fixture(scope="session")
def embed() -> Embed:
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(encoder_weights().folder), device="cpu")

    def embedded(texts: list[str]) -> Vectors:
        return np.asarray(encoder.encode(texts, normalize_embeddings=True), dtype=np.float32)

    return embedded


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
