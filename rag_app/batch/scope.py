"""Which documents a question is asked of, and the fingerprint of what its answer rests on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from indexing.change_detection import Held
from indexing.errors import DocumentNotFound
from rag_app.corpus.document_names import named

if TYPE_CHECKING:
    from generator.answer import Mode
    from rag_app.batch.questions import Question
    from rag_app.corpus.corpus import Corpus

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a corpus at one moment.

    Attributes:
        held: Names and digests, by id.
    """

    held: Mapping[str, Held]

    @classmethod
    def of(cls, corpus: Corpus) -> Documents:
        """As they are now."""
        with corpus.retriever() as retriever:
            return cls({one.id: one for one in retriever.store.held()})

    def scope(self, question: Question) -> tuple[Held, ...]:
        """The documents to ask; none for all of them.

        Raises:
            DocumentNotFound: The question names a document that is not there.
        """
        if question.document is None:
            return ()
        if question.digest:
            found = [one for one in self.held.values() if one.digest == question.digest]
            if not found:
                raise DocumentNotFound(
                    f"{question.document}: not in this corpus, or changed since; "
                    "index the file of questions: rag-app index FILE"
                )
            return tuple(found)
        return tuple(self.held[id_] for id_ in named(question.document, list(self.held.values())))

    def fingerprint(self, scope: tuple[Held, ...]) -> str:
        """Twelve digits that stand for the content of these documents, or of all."""
        return _digits(sorted(one.digest for one in scope or self.held.values()))


def settings(corpus: Corpus, *, answer: Mode | None, k: int) -> Json:
    """Everything chosen that an answer depends on, as plain values."""
    from generator.answer_mode import usual
    from rag_app import __version__

    with corpus.retriever() as retriever:
        fingerprint = retriever.store.fingerprint()
    chosen = asdict(corpus.generator_settings)
    chosen["answer"] = answer or chosen["answer"] or usual(chosen["model"]).mode
    if chosen["answer"] == "quote" and chosen["quotes"] == "ranked":
        chosen["model"] = ""  # none is asked
    encoder = fingerprint.as_dict() if fingerprint else {}
    values = {"version": __version__, "k": k, "generator": chosen, "encoder": encoder}
    plain: Json = json.loads(json.dumps(values, default=str))  # as it will be read back
    return plain


def fingerprint(settings: Json) -> str:
    """Twelve digits that stand for these settings."""
    return _digits(settings)


def differences(before: Json, now: Json, path: str = "") -> Iterable[str]:
    """What has changed, as "k was 5, is 3"."""
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from differences(old, new, f"{path}{name}.")
        elif old != new:
            yield f"{path}{name} was {old}, is {new}"


def _digits(values: object) -> str:
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:12]
