"""Which answers of a batch are overtaken: their quotes are looked up again, and their evidence.

An answer is overtaken if one of its quotes no longer stands where it stood, or if its evidence is
another: near the passages that it quotes or above them there is one that was not among it, or that
has passed others of it. Its line then becomes that of a new answer, with the former one and what
became of its quotes as `before`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Literal

from generator.answer import Answer
from generator.evidence import Evidence, Span
from indexing.documents import Document
from indexing.errors import DocumentNotFound
from rag_app.batch.questions import Question
from rag_app.batch.scope import Documents
from rag_app.corpus.corpus import Corpus
from rag_app.proof.standing import around, look_up
from rag_app.request_fields import ask_request

NEAR = 0.6
"""Share of the score of the last passage quoted, from which on a new passage may be quoted too.

On two sets of made documents (`benchmarks.refresh`) no answer changed by one below it."""

Json = dict[str, Any]
Reason = Literal["quotes", "evidence", "documents"]


@dataclass(frozen=True, slots=True)
class Change:
    """A question that was asked again."""

    id: str  # of the question
    question: str
    # quotes that are not the same; new evidence; or that documents changed, where the answer is
    # computed from all of them, or an earlier version did not keep its evidence
    reason: Reason
    # titles of those whose passages are new or higher among the evidence
    documents: tuple[str, ...]
    changed: bool  # whether the answer has other words now; else other places at most
    before: Json  # the former answer, its quotes with what became of each as `now`
    after: Json  # the line as it is now

    @property
    def added(self) -> list[Json]:
        """The quotes of the new answer that the former one has not, or has where they are gone."""
        quoted = self.before["citations"]
        former = [one["quote"].split() for one in quoted if one["now"]["standing"] != "gone"]
        quotes = self.after.get("citations", ())
        return [one for one in quotes if one["quote"].split() not in former]

    @classmethod
    def of(cls, record: Json) -> Change | None:
        """That of a line which tells of one that has not been told yet."""
        before = record.get("before")
        if not before or before["told"]:
            return None
        after = {name: value for name, value in record.items() if name != "before"}
        return cls(
            record["id"],
            record["question"],
            before["reason"],
            tuple(before["documents"]),
            _words(before) != _words(after),
            before,
            after,
        )


def evidence_kept(answer: Answer, evidence: Evidence) -> tuple[list[str], dict[str, Document]]:
    """What a line keeps of the evidence: a digest of each passage, or document that a model read.

    Also the documents themselves, by id.
    """
    spans = _read(evidence, answer.mode)
    return [_digest(one) for one in spans], {
        one.document.id: one.document for one in evidence.whole
    }


def with_surroundings(values: Json, documents: Mapping[str, Document]) -> Json:
    """An answer as JSON, its quotes with who says them and what stands around them."""
    for one in [*values["citations"], *values["closest"]]:
        document = documents.get(one["document"])
        if document and document.text[one["start"] : one["end"]] == one["quote"]:
            one.update(around(document, one["start"], one["end"]))
    return values


@dataclass(frozen=True, slots=True)
class Refresh:
    """What looks answers up again, among the documents as they are now."""

    corpus: Corpus
    current: Documents
    fields: Mapping[str, Any]

    def overtaken(self, record: Json, question: Question) -> Json | None:
        """The answer of a line with what became of it, if it is overtaken; else None.

        Raises:
            CorpusError: There is no corpus, or it cannot be used.
        """
        quotes = [
            self._looked_up(one) for one in [*record["citations"], *record.get("closest", ())]
        ]
        reason, titles = self._reason(record, quotes, question)
        if reason is None:
            return None
        former = record.get("before")
        if former is None or former["told"]:
            former = {name: record.get(name) for name in ("answer", "mode", "abstained")}
        else:
            quotes = [self._looked_up(one) for one in former["citations"]]
        more = {"citations": quotes, "reason": reason, "documents": titles, "told": False}
        return former | more

    def _reason(
        self, record: Json, quotes: Sequence[Json], question: Question
    ) -> tuple[Reason | None, list[str]]:
        """Why an answer is overtaken, and titles of what is new or higher in its evidence."""
        if any(one["now"]["standing"] != "same" for one in quotes):
            return "quotes", []
        try:
            scope = self.current.scope(question)
        except DocumentNotFound:
            return "documents", []
        if record["fingerprint"].partition("-")[2] == self.current.fingerprint(scope):
            return None, []
        if record.get("kind", "question") != "question" or "evidence" not in record:
            return "documents", []
        limits = {"documents": [one.id for one in scope]} if scope else {}
        request = ask_request(question.text, {**self.fields, **question.fields, **limits})
        titles = list(dict.fromkeys(_new_evidence(record, self.corpus.evidence(request))))
        return ("evidence" if titles else None), titles

    def _looked_up(self, quote: Json) -> Json:
        """A quote with what became of it."""
        known = self.current.by_id
        id_ = quote["document"]
        if id_ not in known:  # its file may have been indexed anew
            place = quote["path"], quote["part"]
            id_ = next((one.id for one in known.values() if (one.path, one.part) == place), None)
        try:
            document = self.corpus.document(id_) if id_ else None
        except DocumentNotFound:
            document = None
        now = asdict(look_up(quote, document))
        if now["standing"] == "same" and id_ != quote["document"]:
            now["standing"] = "moved"
        return {**quote, "now": now}


def _new_evidence(record: Json, evidence: Evidence) -> Iterator[str]:
    """Titles of what is new or higher among what ranks near what is quoted or above it."""
    spans = _read(evidence, record["mode"])
    rank = {digest: at for at, digest in reversed([*enumerate(record["evidence"])])}
    quoted = [
        span.score
        for span in spans
        for one in record["citations"]
        if span.document.id == one["document"]
        and span.start < one["end"]
        and one["start"] < span.end
    ]
    last = min(quoted, default=float("-inf"))
    ranks = [rank.get(_digest(span)) for span in spans]
    for at, span in enumerate(spans):
        before, overtaken = ranks[at], [one for one in ranks[at + 1 :] if one is not None]
        is_higher = quoted and before is not None and before > min(overtaken, default=before)
        if span.score >= min(NEAR * last, last) and (before is None or is_higher):
            yield span.document.title


def _read(evidence: Evidence, mode: str) -> Sequence[Span]:
    """What an answer of a mode was made of: passages, or documents that a model may have read."""
    return evidence.whole if mode == "free" else evidence.passages


def _digest(span: Span) -> str:
    return sha256(span.text.encode()).hexdigest()[:12]


def _words(answer: Json) -> object:
    """What tells an answer from another one: its text, and the words of its quotes."""
    quotes = [] if answer.get("abstained") else answer.get("citations", ())
    return (answer["answer"] or "").split(), [one["quote"].split() for one in quotes]
