"""BM25 of a query's sentences: stems and pairs of stems, over passages and over documents.

Single stems leave out words of questions; pairs keep them, as they belong to set phrases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from indexing.index.snapshot import Snapshot
from indexing.text.english import QUESTION_WORDS
from indexing.text.language import ENGLISH, LANGUAGES, language_of_question
from indexing.text.vocabulary import Lexicon

FloatArray = npt.NDArray[np.float32]


def passage_stems(snapshot: Snapshot, texts: Sequence[str]) -> FloatArray:
    """BM25 of passages for each text, (q, passages), by stems."""
    lexicon = snapshot.lexicon
    return _rows([snapshot.passages.score(_topic(lexicon, text)) for text in texts])


def passage_pairs(snapshot: Snapshot, texts: Sequence[str]) -> FloatArray:
    """BM25 of passages for each text, (q, passages), by pairs of stems."""
    lexicon = snapshot.lexicon
    return _rows([snapshot.passage_pairs.score(_pairs(lexicon, text)) for text in texts])


def padded_stems(snapshot: Snapshot, text: str) -> FloatArray:
    """BM25 of passages for a text by stems, in a row with empty places between documents."""
    return snapshot.passages.score_padded(_topic(snapshot.lexicon, text), snapshot.padding)


def padded_pairs(snapshot: Snapshot, text: str) -> FloatArray:
    """The same by pairs of stems."""
    return snapshot.passage_pairs.score_padded(_pairs(snapshot.lexicon, text), snapshot.padding)


def pair_matches(snapshot: Snapshot, text: str) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """The passages that hold a pair of stems of a text, ascending, and their BM25 by pairs."""
    return snapshot.passage_pairs.matches(_pairs(snapshot.lexicon, text))


def document_stems(snapshot: Snapshot, text: str) -> FloatArray:
    """BM25 of whole documents, (documents,), by stems."""
    return snapshot.documents.score(_topic(snapshot.lexicon, text))


def document_pairs(snapshot: Snapshot, text: str) -> FloatArray:
    """BM25 of whole documents, (documents,), by pairs of stems."""
    return snapshot.document_pairs.score(_pairs(snapshot.lexicon, text))


def _rows(every: Sequence[FloatArray]) -> FloatArray:
    """(q, n) of arrays (n,), one of which is not copied."""
    return every[0][None] if len(every) == 1 else np.stack(every)


def _topic(lexicon: Lexicon, text: str) -> npt.NDArray[np.int64]:
    """Stems of a text but for words of questions; all of them where nothing else is left."""
    language = language_of_question(text, lexicon.languages)
    stems = lexicon.unigrams(lexicon.numbers(text, language))
    if language == ENGLISH:
        question_words = lexicon.numbers(" ".join(QUESTION_WORDS))
    else:
        question_words = lexicon.numbers(" ".join(LANGUAGES[language].stop_words), language)
    plain = {*question_words}  # np.isin sorts, and imports masked arrays to do so
    topic = stems[[stem not in plain for stem in stems.tolist()]]
    return topic if len(topic) else stems


def _pairs(lexicon: Lexicon, text: str) -> npt.NDArray[np.int64]:
    """Pairs of neighbouring stems of a text."""
    return lexicon.bigrams(numbers(lexicon, text))


def numbers(lexicon: Lexicon, text: str) -> list[int]:
    """Numbers of all words of a query, in its language."""
    return lexicon.numbers(text, language_of_question(text, lexicon.languages))
