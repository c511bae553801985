"""How good answers are: ROUGE, what is supported, what is evidence, and what is withheld.

Two kinds of questions: QMSum's specific queries, each asked of its own meeting, with a reference
answer and gold utterances; and a person's own, JSON lines of `{"question", "answer", "answerable",
"evidence": [{"path", "quote"}]}`, asked of the folder in which their file lies.

A citation is evidence when it and a gold span share at least half of the shorter of the two. Beside
the ways to answer stand three yardsticks: the beginning of the document (lead); the sentences of
the retrieved passages that resemble the reference most (oracle), which no way of quoting can exceed
by much; and the reference itself, cited as an answer is, which tells how far the citations of a
model that answers well can be trusted.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

from generator.answer import Answer, Citation
from generator.attribution.citer import cite
from generator.evidence import Span, evidence_sentences, gather_evidence
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest, MissingDependency, UnreadableFile
from indexing.filter import Filter
from indexing.text.sentences import sentences
from rag_app.corpus.corpus import EVIDENCE_PASSAGES, Corpus
from rag_app.datasets.qmsum import Meeting, meetings
from rag_app.progress import counted
from retriever.retriever import Retriever

LEAD_WORDS = 90
ORACLE_SENTENCES = 5
KINDS = ("quote", "decoded", "free", "lead", "oracle", "reference")
"""Ways to answer: ranked quotes, quotes that the model decodes, its own words, and yardsticks."""

_SHUFFLED = 5  # seed of the order in which QMSum's questions are asked
_MARKER = re.compile(r" ?\[(\d+|unsupported)\]")


@dataclass(frozen=True, slots=True)
class Gold:
    """A span that answers a question."""

    document: str
    start: int
    end: int

    def held(self, citation: Citation) -> bool:
        """Whether half of the shorter of the two is in both."""
        shared = min(self.end, citation.end) - max(self.start, citation.start)
        shorter = min(self.end - self.start, citation.end - citation.start)
        return citation.document == self.document and shared >= 0.5 * shorter


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what is known of its answer.

    Attributes:
        question: As it is asked.
        reference: The answer somebody wrote; "" where none is known.
        gold: Spans that hold it; none for a question without an answer.
        document: Id of the one document it is asked of; None for all.
        answerable: Whether the documents hold an answer.
    """

    question: str
    reference: str
    gold: tuple[Gold, ...]
    document: str | None = None
    answerable: bool = True

    @property
    def where(self) -> Filter | None:
        """What the search is limited to."""
        return Filter(documents=(self.document,)) if self.document else None


@dataclass(frozen=True, slots=True)
class Said:
    """One answer, as far as it is measured; shares from 0 to 1, None where not defined."""

    text: str
    supported: float | None
    evidence: tuple[bool, ...]
    withheld: bool
    seconds: float


def evaluate(  # noqa: PLR0913 - one keyword option for each flag of the command
    data: Path,
    *,
    kinds: Sequence[str] = KINDS,
    settings: GeneratorSettings | None = None,
    folder: Path | None = None,
    questions: int | None = None,
    skip: int = 0,
    notify: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Figures by the way to answer, each a mean over the questions that have an answer.

    Args:
        data: QMSum's .json or .jsonl, or a person's own questions.
        kinds: Of `KINDS`.
        settings: How answers are made; what a kind says of it goes before.
        folder: Where the corpus is kept, and taken from; None for a temporary one.
        questions: At most so many, None for all.
        skip: Leave out so many of the first.
        notify: Told about anything that takes long.

    Raises:
        InvalidRequest: An unknown kind, or no question left.
        MissingDependency: ROUGE's library is not installed.
        UnreadableFile: The data cannot be read.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidRequest(f"no way to answer {kind!r}; there are: {', '.join(KINDS)}")
    rouge = _scorer()
    with kept(folder) as place, Corpus(place, notify=notify) as corpus:
        asked = asked_of(data, corpus)[skip:][:questions]
        if not any(one.answerable for one in asked):
            raise InvalidRequest(f"{data}: no question with an answer is left to ask")
        rows = {
            kind: _figures(asked, _answers(kind, asked, place, settings, notify), rouge)
            for kind in kinds
        }
    return {"task": "answers", "questions": len(asked), "answers": rows}


def _answers(
    kind: str,
    asked: Sequence[Asked],
    folder: Path,
    settings: GeneratorSettings | None,
    notify: Callable[[str], None] | None,
) -> list[Said]:
    base = settings or GeneratorSettings()
    mode: Any = "free" if kind == "free" else "quote"
    chosen = replace(base, quotes="decoded" if kind == "decoded" else base.quotes)
    with (
        Corpus(folder, generator=chosen, notify=notify) as corpus,
        counted(asked, doing=f"Answering ({kind})") as steps,
    ):
        if kind == "lead":
            return [_lead(corpus, one) for one in steps]
        if kind == "oracle":
            return [_oracle(corpus, one) for one in steps]
        if kind == "reference":
            return [_reference(corpus, one) for one in steps]
        corpus.ask(asked[0].question, answer=mode)  # loads what is loaded once
        return [said(corpus.ask(one.question, answer=mode, where=one.where), one) for one in steps]


def said(answer: Answer, asked: Asked) -> Said:
    """An answer, measured."""
    plain = _MARKER.sub("", answer.text)
    if answer.abstained:
        return Said(plain, None, (), True, answer.seconds["total"])
    quoted = answer.mode == "quote"
    supported = 1.0 if quoted else _supported(plain, answer.unsupported)
    held = _held(asked, answer.citations)
    return Said(plain, supported, held, False, answer.seconds["total"])


def _supported(text: str, unsupported: Sequence[str]) -> float:
    """The share of a text's sentences that are not among those without a quote."""
    return 1 - len(unsupported) / max(len(sentences(text, 0, len(text))), len(unsupported), 1)


def _held(asked: Asked, citations: Sequence[Citation]) -> tuple[bool, ...]:
    """Of each verified citation, whether it is evidence."""
    return tuple(
        any(gold.held(citation) for gold in asked.gold)
        for citation in citations
        if citation.verified
    )


def _lead(corpus: Corpus, asked: Asked) -> Said:
    """The first words of the document, or of the best one."""
    name = asked.document or corpus.search(asked.question, k=1)[0].document
    text = " ".join(corpus.document(name).text.split()[:LEAD_WORDS])
    return Said(text, 1.0, (), False, 0.0)


def _oracle(corpus: Corpus, asked: Asked) -> Said:
    """The retrieved sentences with the highest ROUGE-1 against the reference."""
    with corpus.retriever() as retriever:
        found = evidence_sentences(_shown(corpus, retriever, asked))
    scorer = _scorer()
    worth = [scorer.score(asked.reference, each.text)["rouge1"].fmeasure for each in found]
    best = sorted(range(len(found)), key=lambda i: -worth[i])[:ORACLE_SENTENCES]
    held = tuple(
        holds(asked.gold, found[i].document.id, found[i].start, found[i].end) for i in best
    )
    return Said("\n".join(found[i].text for i in sorted(best)), 1.0, held, False, 0.0)


def _reference(corpus: Corpus, asked: Asked) -> Said:
    """What somebody wrote, with quotes looked for as for an answer in a model's own words."""
    with corpus.retriever() as retriever:
        shown = _shown(corpus, retriever, asked)
        citations, unsupported = cite(
            asked.reference, shown, retriever.embed, question=asked.question
        )
    supported = _supported(asked.reference, unsupported) if asked.reference else None
    return Said(asked.reference, supported, _held(asked, citations), False, 0.0)


def _shown(corpus: Corpus, retriever: Retriever, asked: Asked) -> Sequence[Span]:
    """The passages that an answer would be made of."""
    hits = retriever.search(asked.question, passages=EVIDENCE_PASSAGES, where=asked.where)
    return gather_evidence(hits, corpus.document).passages[:EVIDENCE_PASSAGES]


def holds(golds: Sequence[Gold], document: str, start: int, end: int) -> bool:
    """Whether a span and one of these share half of the shorter of the two."""
    return any(
        gold.document == document
        and min(gold.end, end) - max(gold.start, start)
        >= 0.5 * min(gold.end - gold.start, end - start)
        for gold in golds
    )


def _figures(asked: Sequence[Asked], said: Sequence[Said], rouge: Any) -> dict[str, float | None]:  # noqa: ANN401
    """Means; ROUGE in percent, over the questions with a reference."""
    with_answer = [(one, it) for one, it in zip(asked, said, strict=True) if one.answerable]
    without = [it for one, it in zip(asked, said, strict=True) if not one.answerable]
    scores = [rouge.score(one.reference, it.text) for one, it in with_answer if one.reference]
    supported = [it.supported for _, it in with_answer if it.supported is not None]
    quoted = [it.evidence for _, it in with_answer if it.evidence]
    figures: dict[str, float | None] = {
        kind: _mean([100 * score[kind].fmeasure for score in scores])
        for kind in ("rouge1", "rouge2", "rougeL")
    }
    return figures | {
        "supported": _mean(supported),
        "evidence_cited": _mean([any(it.evidence) for _, it in with_answer]),
        "citations_in_evidence": _mean([fmean(each) for each in quoted]),
        "citations": sum(map(len, quoted)),
        "wrongly_withheld": _mean([it.withheld for _, it in with_answer]),
        "rightly_withheld": _mean([it.withheld for it in without]),
        "words": _mean([len(it.text.split()) for _, it in with_answer]),
        "seconds": round(median([it.seconds for _, it in with_answer]), 3),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None


def asked_of(data: Path, corpus: Corpus) -> list[Asked]:
    """The questions of a file, their documents indexed."""
    own = _own_questions(data)
    if own is None:
        corpus.add([data])
        return _of_meetings(meetings(data))
    corpus.add([data.parent])
    texts = {entry.id: corpus.document(entry.id).text for entry in corpus.documents()}
    paths = {entry.id: entry.path for entry in corpus.documents()}
    return [_own(one, texts, paths) for one in own]


def _own_questions(data: Path) -> list[dict[str, Any]] | None:
    """The objects of a JSON-lines file of questions; None where it is something else."""
    if not data.is_file() or data.suffix != ".jsonl":
        return None
    try:
        rows = [json.loads(line) for line in data.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        remedy = "write one JSON object a line, in UTF-8"
        raise UnreadableFile(data, f"is not JSON lines ({error})", remedy) from error
    asked = [row for row in rows if isinstance(row, dict) and isinstance(row.get("question"), str)]
    return asked if rows and len(asked) == len(rows) else None


def _own(values: dict[str, Any], texts: Mapping[str, str], paths: Mapping[str, str]) -> Asked:
    golds = []
    for evidence in values.get("evidence", ()):
        quote = r"\s+".join(map(re.escape, str(evidence.get("quote", "")).split()))
        for name, text in texts.items():
            if paths[name].endswith(str(evidence.get("path", ""))):
                golds += [Gold(name, *each.span()) for each in re.finditer(quote, text)][:1]
    return Asked(
        values["question"],
        str(values.get("answer") or ""),
        tuple(golds),
        answerable=bool(values.get("answerable", True)),
    )


def _of_meetings(found: Sequence[Meeting]) -> list[Asked]:
    """Every specific query with gold utterances, in an order that is always the same."""
    asked = [
        Asked(
            question.text,
            question.answer,
            tuple(_turns(meeting, question.utterances)),
            meeting.document.id,
        )
        for meeting in found
        for question in meeting.specific
        if question.utterances
    ]
    random.Random(_SHUFFLED).shuffle(asked)  # noqa: S311 - a sample, not a secret
    return asked


def _turns(meeting: Meeting, numbers: Sequence[int]) -> Iterator[Gold]:
    for number in numbers:
        utterance = meeting.document.utterances[number]
        yield Gold(meeting.document.id, utterance.start, utterance.end)


@contextmanager
def kept(folder: Path | None) -> Iterator[Path]:
    """The folder, or one that is gone afterwards."""
    if folder:
        yield folder
    else:
        with TemporaryDirectory() as made:
            yield Path(made)


def _scorer() -> Any:  # noqa: ANN401 - the library has no types
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingDependency(
            "rouge-score", "Measuring answers", 'pip install "rag-app[rouge]"'
        ) from error
    return RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
