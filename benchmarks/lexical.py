"""BM25 of passages by our postings, by bm25s and by SQLite's FTS5: same passages, one run.

For each: time to build the index, to score a question, and nDCG@10 of the right meeting when
meetings are ranked by their best passage.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import bm25s
import click
import numpy as np

from indexing.index.lexical.bm25 import Bm25Index
from indexing.text.chunking import split
from indexing.text.english import FUNCTION_WORDS
from indexing.text.vocabulary import Lexicon, stems, words
from rag_app.batch.qmsum import meetings
from rag_app.laboratory.evaluation import metrics

Score = Callable[[str], np.ndarray]


def ours(texts: list[str]) -> Score:
    """The postings that a snapshot holds."""
    lexicon = Lexicon()
    rows = [lexicon.unigrams(lexicon.learn(text)) for text in texts]
    units = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
    postings = Bm25Index.build(np.concatenate(rows), units, len(rows))
    return lambda query: postings.score(lexicon.unigrams(lexicon.numbers(query)))


def by_bm25s(texts: list[str]) -> Score:
    """bm25s with the same stems."""

    def terms(text: str) -> list[str]:
        return [w for w in stems(words(text)) if w not in FUNCTION_WORDS]

    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index([terms(text) for text in texts], show_progress=False)
    known = index.vocab_dict
    return lambda query: index.get_scores([t for t in dict.fromkeys(terms(query)) if t in known])


def by_fts5(texts: list[str]) -> Score:
    """SQLite's FTS5 with its own Porter stemmer, any word of the query, function words left out."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE p USING fts5(text, tokenize = 'porter unicode61')")
    database.executemany("INSERT INTO p(rowid, text) VALUES (?, ?)", enumerate(texts))

    def score(query: str) -> np.ndarray:
        scores = np.zeros(len(texts), np.float32)
        terms = dict.fromkeys(w for w in words(query) if w not in FUNCTION_WORDS)
        match = " OR ".join(f'"{word}"' for word in terms)
        rows = database.execute("SELECT rowid, bm25(p) FROM p WHERE p MATCH ?", [match])
        for row, value in rows:
            scores[row] = -value
        return scores

    return score


@click.command
@click.argument("data", type=click.Path(path_type=Path))
def command(data: Path) -> None:
    """BM25 here, in bm25s and in SQLite's FTS5, on QMSum's .json or .jsonl: time and nDCG@10."""
    sources = meetings(data)
    texts, owner = [], []
    for position, meeting in enumerate(sources):
        for passage in split(meeting.document):
            texts.append(meeting.document.text[passage.start : passage.end])
            owner.append(position)
    starts = np.searchsorted(np.array(owner), np.arange(len(sources)))
    questions = [(q.text, position) for position, m in enumerate(sources) for q in m.specific]
    click.echo(f"{len(texts)} passages, {len(questions)} questions")
    for name, build in (("ours", ours), ("bm25s", by_bm25s), ("FTS5", by_fts5)):
        started = perf_counter()
        score = build(texts)
        build_seconds = perf_counter() - started
        ranks, seconds = [], []
        for query, gold in questions:
            started = perf_counter()
            scores = score(query)
            seconds.append(perf_counter() - started)
            ranks.append(metrics.rank(np.maximum.reduceat(scores, starts), gold))
        click.echo(
            f"{name:6} built in {build_seconds:6.2f} s, {1000 * median(seconds):6.2f} ms a "
            f"question, nDCG@10 {metrics.ndcg(ranks):.3f}"
        )
