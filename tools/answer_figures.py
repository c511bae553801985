"""How good answers are: on the sample questions, and on QMSum's where you have it.

    python tools/answer_figures.py [--json]
    python tools/answer_figures.py --qmsum train.jsonl --corpus FOLDER [--json]
    python tools/answer_figures.py --answer free --decoding rag-sequence ...

An answer holds the evidence when a citation and a gold span share at least half of the shorter of
the two. For QMSum the gold spans are turns, each question is asked of its own meeting, and once
more of all meetings, to count the answers that are wrongly withheld; not so for free answers, which
take long. The folder keeps the corpus.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

from generator.answer import UNSUPPORTED_MARK, Answer, Citation
from generator.generator import DECODINGS, GeneratorSettings
from rag_app.corpus import Corpus
from rag_app.evaluation.qmsum import Meeting, Question, meetings
from retriever.filters import Filter

SAMPLES = Path(__file__).parent.parent / "data" / "samples"
Figures = dict[str, float]


@dataclass(frozen=True)
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


def figures(answers: Sequence[tuple[Answer, Sequence[Gold]]]) -> Figures:
    """Rates and means over questions that have an answer."""
    held = [
        [any(gold.held(citation) for gold in golds) for citation in answer.citations]
        for answer, golds in answers
    ]
    firsts = sorted(answer.seconds["first"] for answer, _ in answers)
    return {
        "questions": len(answers),
        "evidence cited": fmean(map(any, held)),
        "citations that are evidence": fmean(fmean(each) if each else 0.0 for each in held),
        "words": fmean(len(answer.text.split()) for answer, _ in answers),
        "wrongly withheld": fmean(answer.abstained for answer, _ in answers),
        "sentences that a quote supports": _supported([answer for answer, _ in answers]),
        "seconds to first text, median": median(firsts),
        "seconds to first text, 95 %": firsts[int(0.95 * (len(firsts) - 1))],
        "seconds to the whole answer, median": median(a.seconds["total"] for a, _ in answers),
    }


def _supported(answers: Sequence[Answer]) -> float:
    """The share of all sentences that have a verified quote; those of quote answers all do."""
    marks = sum(len(re.findall(r"\[\d+\]", answer.text)) for answer in answers)
    unverified = sum(
        answer.text.count(f"[{citation.marker}]")
        for answer in answers
        for citation in answer.citations
        if not citation.verified
    )
    without = sum(answer.text.count(UNSUPPORTED_MARK) for answer in answers)
    return (marks - unverified) / max(1, marks + without)


def samples(folder: Path, count: int, settings: GeneratorSettings) -> Figures:
    """The sample questions, answerable and not; evenly picked where fewer are wanted."""
    with Corpus(folder, generator=settings) as corpus:
        corpus.add([SAMPLES])
        asked = [json.loads(line) for line in (SAMPLES / "questions.jsonl").open(encoding="utf-8")]
        count = min(count, len(asked))
        asked = [asked[i * len(asked) // count] for i in range(count)]
        corpus.ask("anything")  # loads what is loaded once
        answers = [(corpus.ask(each["question"]), each) for each in asked]
        with_answer = [(a, list(_golds(corpus, q))) for a, q in answers if q["answerable"]]
        without = [answer.abstained for answer, q in answers if not q["answerable"]]
    return {
        **figures(with_answer),
        "unanswerable questions": len(without),
        "rightly withheld": fmean(without),
    }


def _golds(corpus: Corpus, question: dict[str, list[dict[str, str]]]) -> Iterator[Gold]:
    for evidence in question["evidence"]:
        quote = r"\s+".join(map(re.escape, evidence["quote"].split()))
        for entry in corpus.documents():
            if entry.path.endswith(evidence["path"]):
                found = re.search(quote, corpus.document(entry.id).text)
                if found:
                    yield Gold(entry.id, *found.span())


def qmsum(data: Path, folder: Path, skip: int, count: int, settings: GeneratorSettings) -> Figures:
    """Specific questions in a random order that is always the same, the first ones skipped."""
    found = meetings(data)
    pairs = [(each, question) for each in found for question in each.specific if question.turns]
    random.Random(5).shuffle(pairs)
    with Corpus(folder, generator=settings) as corpus:
        corpus.add([data])
        asked = pairs[skip : skip + count]
        answers = [(_ask(corpus, meeting, question), question) for meeting, question in asked]
        golds = [list(_turns(meeting, question)) for meeting, question in asked]
        everywhere = (
            [corpus.ask(question.text).abstained for _, question in asked]
            if settings.answer == "quote"
            else []
        )
    cited = [(answer, gold) for (answer, _), gold in zip(answers, golds, strict=True)]
    withheld = {"wrongly withheld, of all meetings": fmean(everywhere)} if everywhere else {}
    texts = [(answer.text, question.answer) for answer, question in answers]
    return {**figures(cited), **withheld, **_rouge(texts)}


def _ask(corpus: Corpus, meeting: Meeting, question: Question) -> Answer:
    return corpus.ask(question.text, where=Filter(documents=(meeting.document.id,)))


def _turns(meeting: Meeting, question: Question) -> Iterator[Gold]:
    for number in question.turns:
        turn = meeting.document.turns[number]
        yield Gold(meeting.document.id, turn.start, turn.end)


def _rouge(texts: Sequence[tuple[str, str]]) -> Figures:
    """ROUGE-1/2/L of answers, markers left out; nothing without the rouge-score package."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        return {}
    kinds = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(kinds, use_stemmer=True)
    scores = [
        scorer.score(gold, re.sub(r" \[(\d+|unsupported)\]", "", said)) for said, gold in texts
    ]
    return {kind: 100 * fmean(score[kind].fmeasure for score in scores) for kind in kinds}


@contextmanager
def _folder(named: Path | None) -> Iterator[Path]:
    if named:
        yield named
    else:
        with TemporaryDirectory() as made:
            yield Path(made)


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--qmsum", type=Path, help="a QMSum .json or .jsonl file")
    parser.add_argument("--corpus", type=Path, help="folder that keeps the corpus")
    parser.add_argument("--questions", type=int, default=150, help="at most")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of QMSum's first")
    parser.add_argument("--answer", choices=["quote", "free"], default="quote")
    parser.add_argument("--decoding", choices=list(DECODINGS), default="concat")
    parser.add_argument("--json", action="store_true", help="an object instead of a table")
    given = parser.parse_args()
    settings = GeneratorSettings(answer=given.answer, decoding=given.decoding)
    with _folder(given.corpus) as folder:
        result = (
            qmsum(given.qmsum, folder, given.skip, given.questions, settings)
            if given.qmsum
            else samples(folder, given.questions, settings)
        )
    if given.json:
        print(json.dumps({name: round(value, 4) for name, value in result.items()}))
        return
    for name, value in result.items():
        print(f"| {name} | {value:.3f} |")


if __name__ == "__main__":
    main()
