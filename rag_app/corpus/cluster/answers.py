"""Questions answered by the workers of a Ray cluster, from what was retrieved for them here.

A worker is sent the question with its hits and their documents, and sends the answer back: it needs
the models, and neither the corpus nor its folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from generator.answer import Answer
from generator.generator import Generator
from generator.request import AskRequest, Retrieval, no_picture
from generator.settings import GeneratorSettings
from indexing.encoder.fingerprint import Fingerprint
from rag_app.corpus.cluster.workers import WorkerPool, lasting
from rag_app.corpus.models import Models

Generate = Callable[[AskRequest, Retrieval], Answer]


def generate_on(
    pool: WorkerPool, settings: GeneratorSettings, stored: Fingerprint | None
) -> Generate:
    """What answers requests on a cluster; errors are those of `WorkerPool.call`."""
    settings = replace(settings, model=lasting(settings.model))

    def generate(request: AskRequest, retrieval: Retrieval) -> Answer:
        documents = {hit.document: retrieval.document(hit.document) for hit in retrieval.hits}
        whole = replace(retrieval, document=documents.__getitem__, picture=no_picture)
        return pool.call(request.question, answer, settings, stored, request, whole)()

    return generate


def answer(
    settings: GeneratorSettings,
    stored: Fingerprint | None,
    request: AskRequest,
    retrieval: Retrieval,
) -> Answer:
    """What a worker does."""
    return _generator(settings, stored).answer(request, retrieval)


@lru_cache(maxsize=1)
def _generator(settings: GeneratorSettings, stored: Fingerprint | None) -> Generator:
    """The generator of a worker, whose models stay loaded from question to question."""
    nowhere = Path("the cluster")  # for messages
    models = Models(nowhere, encoder=None, generator=settings, quick_start=False, notify=None)
    return models.generator(stored)
