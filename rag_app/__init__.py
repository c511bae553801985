"""Ask questions of long documents.

from rag_app import Corpus

corpus = Corpus("my-corpus")
corpus.add(["meetings/"])
print(corpus.ask("Why was the budget cut?").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indexing.errors import RagAppError

if TYPE_CHECKING:
    from rag_app.corpus import Corpus
    from retriever.filters import Filter

__version__ = "0.1.0"
__all__ = ["Corpus", "Filter", "RagAppError", "__version__"]

_HOMES = {"Corpus": "rag_app.corpus", "Filter": "retriever.filters"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attributes are of any kind
    """Load on first use, so that `rag-app --help` need not wait for torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_app' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
