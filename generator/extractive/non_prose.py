"""What stands in a document but says nothing: headings, labels, references, rows of bare numbers.

A heading, or the label of a figure, names what follows and answers nothing. An entry in a list of
references has the words of a question on its subject, and a row of numbers whose columns are named
elsewhere has none that could be understood: both answer only where nothing else does, as in "Who
wrote ...?" and "How many ...?". So does what a document says of itself: the head of a mail, and the
words at its beginning that say of what day it is; and so does what is cut off ("If we fail ...").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from generator.evidence import Sentence, Vectors
from generator.extractive.features import SentenceFeatures
from generator.extractive.question.answer_type import classify_question
from generator.extractive.table_rows import is_header
from indexing.text.days.stated_date import stated_date
from indexing.text.references import reference_lists
from indexing.text.tables import is_row

_HEADING = 10  # words
_LINE = 3  # words of a title's line, at least
_NUMBERING = re.compile(r"\W*(?:(?:\d{1,2}|[A-Z])(?:\.\d{1,2})*\.?|[IVX]{1,5}\.)\s+(?=[^\W\d_])")
_LABEL = re.compile(
    r"(?:figure|fig\.?|table|tab\.?|chart|box|exhibit|algorithm|equation|abbildung|abb\.|tabelle)"
    r"\s*[A-Z]?\d{1,3}(?:\.\d{1,3})?[a-z]?\s*[.:]?",
    re.IGNORECASE,
)
_PART = re.compile(  # of a heading, that ends like a sentence: "Part B. The drug cabinet"
    r"\s*(?:(?:part|section|chapter|annex|appendix|teil|abschnitt|kapitel|anhang) )?"
    r"(?:(?-i:[\dA-Z]{1,3})(?:\.\d+)*[.):])?\s*",
    re.IGNORECASE,
)
_PAGE_NUMBER = re.compile(r"^\d{1,4}\s+(?=\D)|(?<=\D)\s+\d{1,4}$")
_NUMBER = re.compile(r"[-\u2212+\u00b1<>=~]?[.,]?\d[\d.,:/]*[%\u2020*a-z]?")
_WORKS = re.compile(
    r"\b(?:cit(?:e[sd]?|ing|ations?)|references?|bibliograph\w+|publi(?:shed|cations?)"
    r"|zitier\w+|zitate?|literatur\w*|veröffentlich\w+)\b",
    re.IGNORECASE,
)
_HEAD_LINE = re.compile(
    r"[>\s*_]*(?:date|sent|from|to|cc|bcc|subject|reply-to|attachments?|datum|gesendet|von|an|kopie"
    r"|betreff|anlagen?)[*_]*\s*:",
    re.IGNORECASE,
)
_OF_ITSELF = re.compile(
    r"\b(?:e-?mails?|letters?|messages?|who sen[dt]|sent by|wr[oi]te\w*|meetings?|minutes|memo"
    r"|reports?|dated|date of|transcripts?|recording|nachricht\w*|brief\w*|geschickt|geschrieben"
    r"|sitzung\w*|protokoll\w*|besprechung\w*|bericht\w*)\b",
    re.IGNORECASE,
)
_BEGINNING = 600  # characters in which a document says of what day it is
_CUT_OFF = re.compile(r"(?:\.{2,}|\u2026|\s[-\u2013]|\u2014)[\"'\u201d\u2019)]*$")
_NUMBERS = 4  # that a row of numbers has at least
_SHARE = 0.6  # of its words that are numbers


def names_only(sentence: Sentence) -> bool:
    """Whether a sentence is a heading, a label of a figure without its text, or the title.

    A document that has no other words than its title says them.
    """
    text = " ".join(sentence.text.split())
    is_all = sentence.end - sentence.start == len(sentence.document.text.strip())
    is_title = _is_title(text, sentence) and not is_all
    return is_title or is_heading(sentence) or bool(_LABEL.fullmatch(text))


def _is_title(text: str, sentence: Sentence) -> bool:
    """Whether a sentence is the document's title, with a page's number or without.

    At the beginning of the document a line of it will do.
    """
    title = " ".join(sentence.document.title.split()).casefold()
    words = _PAGE_NUMBER.sub("", text).casefold()
    is_line = sentence.start <= 2 * len(title) and len(words.split()) >= _LINE and words in title
    return is_line or words == title


def is_heading(sentence: Sentence) -> bool:
    """Whether a sentence is a heading.

    One of Markdown; the names of a table's columns; or a short line by itself, between blank
    lines, without a digit but for its numbering and without a mark at its end.
    """
    text = sentence.document.text
    start = text.rfind("\n", 0, sentence.start) + 1
    line = text[start : sentence.end]
    if re.match(r"#{1,6}\s", line) or (is_row(line) and is_header(sentence)):
        return True
    above = line[: sentence.start - start]
    alone = _PART.fullmatch(above) is not None and sentence.utterance is None
    before, after = text[max(0, start - 2) : start], text[sentence.end : sentence.end + 2]
    apart = before in {"", "\n", "\n\n"} and after == "\n\n"
    numbering = _NUMBERING.match(sentence.text)
    words = sentence.text[numbering.end() if numbering else 0 :].split()
    numbered = numbering is not None and after[:1] == "\n"
    plain = words and words[-1][-1].isalnum() and not any(map(str.isdigit, "".join(words)))
    return bool(alone and (apart or numbered) and plain and len(words) <= _HEADING)


def is_row_of_numbers(text: str) -> bool:
    """Whether most words of a sentence are numbers."""
    words = text.split()
    numbers = sum(_NUMBER.fullmatch(word) is not None for word in words)
    return numbers >= _NUMBERS and numbers >= _SHARE * len(words)


def non_prose(features: SentenceFeatures) -> Vectors:
    """(n,) 1 for references, rows of bare numbers, and what a document says of itself.

    0 for references where the question asks for works, for numbers where it asks for one, and for
    the head of a mail or a meeting's day where it asks for a mail, a meeting or a report.
    """
    of_itself = _OF_ITSELF.search(features.question) is not None
    asks_for_works = _WORKS.search(features.question) is not None
    asks_for_number = classify_question(features.question) == "quantity"
    documents = {sentence.document.id: sentence.document for sentence in features.sentences}
    lists = {id_: reference_lists(document.text) for id_, document in documents.items()}
    return np.array(
        [
            (not asks_for_works and _is_within(lists[sentence.document.id], sentence.start))
            or (not asks_for_number and is_row_of_numbers(sentence.text))
            or (not of_itself and is_of_itself(sentence))
            or _is_cut_off(sentence)
            for sentence in features.sentences
        ],
        np.float32,
    )


def _is_cut_off(sentence: Sentence) -> bool:
    """Whether somebody who speaks does not come to the end of a sentence."""
    return sentence.utterance is not None and bool(_CUT_OFF.search(sentence.text.rstrip()))


def is_of_itself(sentence: Sentence) -> bool:
    """Whether a sentence is a line of a mail's head, or says no more than the document's day."""
    if is_row(sentence.text):
        return False
    if sentence.utterance is None and _HEAD_LINE.match(sentence.text):
        return True
    document = sentence.document
    if sentence.start >= _BEGINNING:
        return False
    day = document.occasion.day or stated_date(document.title, document.text)
    said = stated_date("", sentence.text, years=[int(day[:4])] if day else ())
    return bool(day) and (said.startswith(day) or day.startswith(said or "-"))


def _is_within(spans: Iterable[tuple[int, int]], at: int) -> bool:
    return any(start <= at < end for start, end in spans)
