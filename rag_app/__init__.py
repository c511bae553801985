"""Ask questions of long documents.

from rag_app import Corpus

corpus = Corpus("my-corpus")
corpus.add(["meetings/"])
print(corpus.ask("Why was the budget cut?").text)
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes long enough for Ctrl-C to come meanwhile
if TYPE_CHECKING:
    from typing import Any

    from generator.answer import (
        Answer,
        AnswerReady,
        Citation,
        ContextEntry,
        ContextReady,
        Event,
        ShortAnswer,
        TextDelta,
    )
    from generator.instances.instances import Instances
    from generator.overview.overview import Action, Overview, Quote, SpeakerShare, Topic
    from generator.parts import Parts
    from generator.prompt.follow_up import Turn
    from generator.register.entry import Entry, Matter, Register
    from generator.request import AskRequest
    from generator.settings import GeneratorSettings
    from indexing.documents import Document, Hit, Occasion, PassageHit
    from indexing.encoder.settings import EncoderSettings
    from indexing.errors import RagAppError
    from indexing.filter import Filter, Scope
    from indexing.index_report import IndexReport, Progress
    from indexing.limits import FileLimits
    from indexing.ocr.reading import OcrSettings
    from indexing.store.collections import Collection
    from indexing.store.repair.verification import Damage
    from indexing.store.view import DocumentEntry
    from rag_app.corpus.access import Access
    from rag_app.corpus.contents.info import CorpusInfo
    from rag_app.corpus.contents.speakers import Speaker
    from rag_app.corpus.copies.backup import Backup
    from rag_app.corpus.copies.exchange import ImportReport
    from rag_app.corpus.corpus import Corpus
    from rag_app.corpus.reader import CorpusReader
    from rag_app.corpus.verification import RepairReport, Verification
    from rag_app.event_loop import stream_async
    from rag_app.proof.verdict import Verdict, check_proof

__version__ = "0.1.0"
__all__ = [
    "Access", "Action", "Answer", "AnswerReady", "AskRequest", "Backup", "Citation", "Collection",
    "ContextEntry", "ContextReady", "Corpus", "CorpusInfo", "CorpusReader", "Damage", "Document",
    "DocumentEntry", "EncoderSettings", "Entry", "Event", "FileLimits", "Filter",
    "GeneratorSettings", "Hit", "ImportReport", "IndexReport", "Instances", "Matter", "Occasion",
    "OcrSettings", "Overview", "Parts", "PassageHit", "Progress", "Quote", "RagAppError",
    "Register", "RepairReport", "Scope", "ShortAnswer", "Speaker", "SpeakerShare", "TextDelta",
    "Topic", "Turn", "Verdict", "Verification", "__version__", "check_proof", "stream_async",
]  # fmt: skip

_NAMES = {
    "generator.answer": (
        *("Answer", "AnswerReady", "Citation", "ContextEntry", "ContextReady", "Event"),
        *("ShortAnswer", "TextDelta"),
    ),
    "generator.instances.instances": ("Instances",),
    "generator.overview.overview": ("Action", "Overview", "Quote", "SpeakerShare", "Topic"),
    "generator.parts": ("Parts",),
    "generator.prompt.follow_up": ("Turn",),
    "generator.register.entry": ("Entry", "Matter", "Register"),
    "generator.request": ("AskRequest",),
    "generator.settings": ("GeneratorSettings",),
    "indexing.documents": ("Document", "Hit", "Occasion", "PassageHit"),
    "indexing.encoder.settings": ("EncoderSettings",),
    "indexing.errors": ("RagAppError",),
    "indexing.filter": ("Filter", "Scope"),
    "indexing.index_report": ("IndexReport", "Progress"),
    "indexing.limits": ("FileLimits",),
    "indexing.ocr.reading": ("OcrSettings",),
    "indexing.store.collections": ("Collection",),
    "indexing.store.repair.verification": ("Damage",),
    "indexing.store.view": ("DocumentEntry",),
    "rag_app.corpus.access": ("Access",),
    "rag_app.corpus.contents.info": ("CorpusInfo",),
    "rag_app.corpus.contents.speakers": ("Speaker",),
    "rag_app.corpus.copies.backup": ("Backup",),
    "rag_app.corpus.copies.exchange": ("ImportReport",),
    "rag_app.corpus.corpus": ("Corpus",),
    "rag_app.corpus.reader": ("CorpusReader",),
    "rag_app.corpus.verification": ("RepairReport", "Verification"),
    "rag_app.event_loop": ("stream_async",),
    "rag_app.proof.verdict": ("Verdict", "check_proof"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attributes are of any kind
    """Load on first use, so that `rag-app --help` need not wait for torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_app' has no attribute {name!r}")
    from importlib import import_module

    from indexing.models.runtime import let_blas_threads_sleep

    let_blas_threads_sleep()  # most of what follows imports NumPy
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """What there is to import."""
    return sorted(__all__)
