"""Quality of answers: ROUGE, support, citations in gold evidence, abstention.

A citation is in gold evidence when it and a gold span share at least half of the shorter of the
two. Beside the ways to answer stand three baselines: the beginning of the document (lead); the
sentences of the retrieved passages with the highest ROUGE-1 against the reference (oracle), an
upper bound for quoting; and the reference itself, attributed as a generated answer is, an upper
bound for attribution.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

from generator.answer import MARK, Answer, Citation, SentenceSupport
from generator.attribution.citer import attribute
from generator.attribution.verifier import Verifier, shipped_verifier
from generator.evidence import Span, evidence_sentences, gather_evidence
from generator.request import EVIDENCE_DOCUMENTS
from generator.scales.cosine_scale import PACKAGED, scale_of
from generator.settings import EVIDENCE_PASSAGES, GeneratorSettings
from indexing.errors import InvalidRequest, MissingDependency
from indexing.text.sentences import sentences
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets.labelled_questions import LabelledQuestion, in_gold, load_questions
from rag_app.laboratory.evaluation.short_answers import exact_match, word_f1
from rag_app.progress import track
from retriever.fusion import EVIDENCE
from retriever.retriever import Retriever

LEAD_WORDS = 90
ORACLE_SENTENCES = 5
KINDS = ("quote", "free", "lead", "oracle", "reference")
"""Ways to answer: quotes, generated text; then the baselines."""

WRONGLY_WITHHELD = 0.05
"""Share of the answerable questions that may be withheld, where near misses are counted."""

_MARKER = re.compile(f" ?{MARK.pattern}")


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """An answer with its measures.

    Attributes:
        text: Without markers.
        quoted: Share of sentences with a verified quote, 0 to 1; None where it abstained.
        supported: Share of sentences with a quote, or an excerpt that says it in other words.
        evidence: For each verified or supported citation, whether it is in gold evidence.
        withheld: Whether it abstained.
        seconds: To answer.
        short: The words that stand out; "" where none do.
        probability: That the documents answer; None where nothing says so.
    """

    text: str
    quoted: float | None
    supported: float | None
    evidence: tuple[bool, ...]
    withheld: bool
    seconds: float
    short: str = ""
    probability: float | None = None


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
    """Means over the answerable questions, by the way to answer.

    Args:
        data: QMSum's .json or .jsonl, SQuAD's .json, or a person's own questions.
        kinds: Of `KINDS`.
        settings: Of the generator; a kind overrides them.
        folder: Of the corpus, created or reused; None for a temporary one.
        questions: At most so many, None for all.
        skip: How many of the first to leave out.
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
    with corpus_folder(folder) as place, Corpus(place, notify=notify) as corpus:
        sample = load_questions(data, corpus)[skip:][:questions]
        if not any(one.answerable for one in sample):
            raise InvalidRequest(f"{data}: no question with an answer is left to ask")
        rows = {
            kind: _aggregate(sample, _answers(kind, sample, place, settings, notify), rouge)
            for kind in kinds
        }
    return {"task": "answers", "questions": len(sample), "answers": rows}


def _answers(
    kind: str,
    sample: Sequence[LabelledQuestion],
    folder: Path,
    settings: GeneratorSettings | None,
    notify: Callable[[str], None] | None,
) -> list[MeasuredAnswer]:
    mode: Any = "free" if kind == "free" else "quote"
    with (
        Corpus(folder, generator=settings, notify=notify) as corpus,
        track(sample, doing=f"Answering ({kind})") as steps,
    ):
        if kind in BASELINES:
            return [BASELINES[kind](corpus, one) for one in steps]
        corpus.ask(sample[0].question, mode=mode)  # warm-up
        return [
            measure_answer(corpus.ask(one.question, mode=mode, where=one.where), one)
            for one in steps
        ]


def measure_answer(answer: Answer, question: LabelledQuestion) -> MeasuredAnswer:
    """Measure an answer against the labels of its question."""
    plain = _MARKER.sub("", answer.text)
    if answer.abstained:
        likely = answer.probability
        return MeasuredAnswer(
            plain, None, None, (), True, answer.seconds["total"], probability=likely
        )
    quoted, supported = 1.0, 1.0
    if answer.mode != "quote":
        quoted, supported = _support_shares(plain, answer.unsupported, answer.sentences)
    evidence = _in_evidence(question, answer.citations)
    return MeasuredAnswer(
        plain,
        quoted,
        supported,
        evidence,
        False,
        answer.seconds["total"],
        answer.short.text if answer.short else "",
        answer.probability,
    )


def _support_shares(
    text: str, unsupported: Sequence[str], marks: Sequence[SentenceSupport]
) -> tuple[float, float]:
    """Of a text's sentences the share that is quoted, and the share that is not unsupported."""
    count = max(len(sentences(text, 0, len(text))), len(unsupported), 1)
    in_other_words = sum(each.support == "supported" for each in marks)
    return 1 - (len(unsupported) + in_other_words) / count, 1 - len(unsupported) / count


def _in_evidence(question: LabelledQuestion, citations: Sequence[Citation]) -> tuple[bool, ...]:
    """For each verified or supported citation, whether it is in gold evidence."""
    return tuple(
        in_gold(question.gold, each.document, each.start, each.end)
        for each in citations
        if each.verified or each.supported
    )


def _lead(corpus: Corpus, question: LabelledQuestion) -> MeasuredAnswer:
    """The first words of the document, or of the best one."""
    name = question.document or corpus.search(question.question, k=1)[0].document
    text = " ".join(corpus.document(name).text.split()[:LEAD_WORDS])
    return MeasuredAnswer(text, 1.0, 1.0, (), False, 0.0)


def _oracle(corpus: Corpus, question: LabelledQuestion) -> MeasuredAnswer:
    """The retrieved sentences with the highest ROUGE-1 against the reference."""
    with corpus.retriever(EVIDENCE) as retriever:
        pool = evidence_sentences(_passages(corpus, retriever, question))
    scorer = _scorer()
    scores = [scorer.score(question.reference, each.text)["rouge1"].fmeasure for each in pool]
    best = sorted(range(len(pool)), key=lambda i: -scores[i])[:ORACLE_SENTENCES]
    evidence = tuple(
        in_gold(question.gold, pool[i].document.id, pool[i].start, pool[i].end) for i in best
    )
    text = "\n".join(pool[i].text for i in sorted(best))
    return MeasuredAnswer(text, 1.0, 1.0, evidence, False, 0.0)


def _reference(corpus: Corpus, question: LabelledQuestion) -> MeasuredAnswer:
    """The reference answer, attributed to the passages as a generated answer is."""
    with corpus.retriever(EVIDENCE) as retriever:
        passages = _passages(corpus, retriever, question)
        fingerprint = retriever.store.fingerprint()
        scale = scale_of(fingerprint, retriever.embed) if fingerprint else PACKAGED
        start = time.perf_counter()
        citer = attribute(
            question.reference,
            passages,
            retriever.embed,
            question=question.question,
            verifier=_verifier(),
            scale=scale,
        )
        seconds = time.perf_counter() - start
    quoted: float | None = None
    supported: float | None = None
    if question.reference:
        quoted, supported = _support_shares(question.reference, citer.unsupported, citer.sentences)
    evidence = _in_evidence(question, citer.citations)
    return MeasuredAnswer(question.reference, quoted, supported, evidence, False, seconds)


BASELINES: dict[str, Callable[[Corpus, LabelledQuestion], MeasuredAnswer]] = {
    "lead": _lead,
    "oracle": _oracle,
    "reference": _reference,
}


@cache
def _verifier() -> Verifier | None:
    """One for all questions."""
    return shipped_verifier()


def _passages(corpus: Corpus, retriever: Retriever, question: LabelledQuestion) -> Sequence[Span]:
    """The passages that an answer would be made from."""
    hits = retriever.search(
        question.question, k=EVIDENCE_DOCUMENTS, passages=EVIDENCE_PASSAGES, where=question.where
    )
    return gather_evidence(hits, corpus.document).passages[:EVIDENCE_PASSAGES]


def _aggregate(
    sample: Sequence[LabelledQuestion],
    answers: Sequence[MeasuredAnswer],
    rouge: Any,  # noqa: ANN401 - the library has no types
) -> dict[str, float | None]:
    """Means; ROUGE in percent, over the questions with a reference."""
    pairs = list(zip(sample, answers, strict=True))
    answerable = [(question, answer) for question, answer in pairs if question.answerable]
    unanswerable = [answer for question, answer in pairs if not question.answerable]
    scores = [rouge.score(q.reference, answer.text) for q, answer in answerable if q.reference]
    supported = [a.supported for _, a in answerable if a.supported is not None]
    citing = [answer.evidence for _, answer in answerable if answer.evidence]
    figures: dict[str, float | None] = {
        kind: _mean([100 * score[kind].fmeasure for score in scores])
        for kind in ("rouge1", "rouge2", "rougeL")
    }
    return figures | {
        "quoted": _mean([a.quoted for _, a in answerable if a.quoted is not None]),
        "supported": _mean(supported),
        "evidence_cited": _mean([any(answer.evidence) for _, answer in answerable]),
        "citations_in_evidence": _mean([fmean(each) for each in citing]),
        "citations": sum(map(len, citing)),
        "wrongly_withheld": _mean([answer.withheld for _, answer in answerable]),
        "rightly_withheld": _mean([answer.withheld for answer in unanswerable]),
        **_withheld_at(
            [answer.probability for _, answer in answerable],
            [answer.probability for answer in unanswerable],
        ),
        "short_f1": _mean([word_f1(a.short, q.short) for q, a in answerable if q.short]),
        "short_exact": _mean([exact_match(a.short, q.short) for q, a in answerable if q.short]),
        "words": _mean([len(answer.text.split()) for _, answer in answerable]),
        "seconds": round(median([answer.seconds for _, answer in answerable]), 3),
    }


def _withheld_at(
    answerable: Sequence[float | None], unanswerable: Sequence[float | None]
) -> dict[str, float | None]:
    """Unanswerable questions withheld at the threshold that withholds 5 % of the others.

    And how well the probability tells them apart, whatever the threshold: its ROC AUC.
    """
    right = sorted(each for each in answerable if each is not None)
    wrong = [each for each in unanswerable if each is not None]
    if not right or not wrong:
        return {"withheld_at_5": None, "answerable_auc": None}
    threshold = right[int(WRONGLY_WITHHELD * len(right))]
    pairs = [(a > b) + 0.5 * (a == b) for a in right for b in wrong]
    return {
        "withheld_at_5": _mean([each < threshold for each in wrong]),
        "answerable_auc": _mean(pairs),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None


@contextmanager
def corpus_folder(folder: Path | None) -> Iterator[Path]:
    """The folder, or a temporary one."""
    if folder:
        yield folder
    else:
        with TemporaryDirectory() as name:
            yield Path(name)


def _scorer() -> Any:  # noqa: ANN401 - the library has no types
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingDependency(
            "rouge-score", "Measuring answers", 'pip install "rag-app[rouge]"'
        ) from error
    return RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
