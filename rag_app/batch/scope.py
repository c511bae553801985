"""The documents that a question is limited to, and fingerprints of documents and settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from indexing.change_detection import DocumentIdentity
from indexing.errors import DocumentNotFound
from indexing.filter import Filter
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question
from rag_app.corpus.contents.document_names import documents_named
from rag_app.corpus.corpus import Corpus
from rag_app.request_fields import fields_of, request_field

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a corpus at one moment."""

    by_id: Mapping[str, DocumentIdentity]

    def scope(self, question: Question) -> tuple[DocumentIdentity, ...]:
        """The documents that a question is limited to; none for all.

        Raises:
            DocumentNotFound: The question names a document that is not there.
        """
        names = list(question.fields.get("documents", ()))
        if question.document is not None:
            names.append(question.document)
        if question.digest:
            matches = [one for one in self.by_id.values() if one.digest == question.digest]
            if not matches:
                raise DocumentNotFound(
                    f"{question.document}: not in this corpus, or changed since; "
                    "index the file of questions: rag-app index FILE"
                )
            return tuple(matches)
        known = list(self.by_id.values())
        ids = dict.fromkeys(id_ for name in names for id_ in documents_named(name, known))
        return tuple(self.by_id[id_] for id_ in ids)

    def fingerprint(self, scope: tuple[DocumentIdentity, ...]) -> str:
        """Twelve hexadecimal digits for the content of these documents, or of all."""
        return _digits(sorted(one.digest for one in scope or self.by_id.values()))


class CurrentDocuments:
    """The documents of a corpus as they are now, read again only after a change."""

    def __init__(self, corpus: Corpus, where: Filter | None = None) -> None:
        self.corpus, self.where = corpus, where or Filter()
        self._latest: tuple[str, Documents] | None = None

    def read(self) -> Documents:
        """The documents, as they are at this moment.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        with self.corpus.reading() as now:
            revision, latest = now.store.revision, self._latest
            if latest is None or latest[0] != revision:
                store = now.store.limited(self.where, self.corpus.scope)
                latest = revision, Documents({one.id: one for one in store.identities()})
        self._latest = latest
        return latest[1]


def answer_settings(corpus: Corpus, options: BatchOptions) -> Json:
    """All settings that an answer depends on, as plain values."""
    from generator.lm.calibration_record import usual
    from rag_app import __version__

    with corpus.reading() as now:
        vectors = now.store.fingerprint()
    generator = asdict(corpus.generator_settings)
    fields = {one.name: one.default for one in fields_of("batch", "ask")} | {**options.fields}
    generator["answer"] = fields["mode"] or generator["answer"] or usual(generator["model"]).mode
    if generator["answer"] == "quote":
        generator["model"] = ""  # none is used
    encoder = vectors.as_dict() if vectors else {}
    values = {
        "version": __version__,
        "k": fields["k"],
        "read_as": fields["read_as"],
        "generator": generator,
        "encoder": encoder,
    }
    if limits := options.where.occasion_in_words():
        values["documents"] = limits
    further = ("length", "form", "evidence", "abstain_below", "path", "speaker")
    used = {"evidence": generator["evidence"], "abstain_below": generator["answerable"]}
    values |= {
        name: fields[name]
        for name in further
        if fields[name] not in {request_field(name).default, used.get(name)}
    }
    return _plain(values)


def question_settings(settings: Json, question: Question) -> Json:
    """The settings of a batch with the fields that a question has of its own."""
    return settings | _plain(dict(question.fields)) if question.fields else settings


def _plain(values: Json) -> Json:
    """Values as they will be read back."""
    from generator.prompt.follow_up import Turn

    plain: Json = json.loads(
        json.dumps(values, default=lambda one: asdict(one) if isinstance(one, Turn) else str(one))
    )
    return plain


def fingerprint(settings: Json) -> str:
    """Twelve hexadecimal digits for these settings."""
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
