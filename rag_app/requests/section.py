"""A request such as "What are the limitations of the ferry study?": the section of that name.

A section is found by its heading, which none of its sentences repeats, so that a search for the
words of the question finds what is said about conclusions and not what is concluded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from generator.evidence import Sentence, Span, evidence_sentences
from generator.extractive.non_prose import is_row_of_numbers, names_only
from indexing.documents import Document
from indexing.store.view import StoreView
from indexing.text.chunking import count_words
from indexing.text.tables import is_row
from rag_app.requests.listing import Line
from rag_app.requests.summary import MOST_DOCUMENTS
from rag_app.requests.target import Target, Words, groups_of, pattern

MOST_WORDS = 150
"""Words of a section that are quoted; the rest are counted."""

_MOST_TRIED = 4  # headings of the same name

_NAMES = {
    "abstract": r"abstract|summary|executive summary|kurzfassung|zusammenfassung",
    "introduction": r"introduction|einleitung|einführung",
    "background": r"background|hintergrund",
    "related work": r"related work|previous work|verwandte arbeiten",
    "methods": r"(?:materials and )?methods?|methodology|methoden?|methodik|vorgehen",
    "results": r"results?|findings|ergebnisse",
    "discussion": r"discussion|diskussion",
    "limitations": r"limitations?(?: of (?:the|this) study)?|einschränkungen|grenzen",
    "conclusion": r"(?:summary and )?conclusions?(?: and [^\n]{1,30})?|concluding remarks"
    r"|summary and (?:outlook|discussion|future work)|(?:discussion|results) and conclusions?"
    r"|(?<=[3-9]\.\s)summary|(?<=[3-9]\s)summary|fazit|schlussfolgerung(?:en)?|schluss",
    "recommendations": r"(?:key )?recommendations?|empfehlungen",
    "future work": r"future (?:work|directions|research)|outlook|ausblick",
    "acknowledgements": r"acknowledge?ments?|danksagung",
}
"""What headings call each section, as patterns."""

_ASKED = "|".join(
    (
        "abstract|executive summary|introduction|background|related work|discussion",
        "limitations?|conclusions?|recommendations?|future work|acknowledge?ments?",
    )
)
_SECTION = rf"(?P<section{{}}>{_ASKED}|methods?|methodology|results|findings)"
_OF = r"(?:(?: section| part| chapter)?(?: (?:of|in|from) (?P<name{}>.+))?)"
_PATTERN = pattern(
    rf"what(?: is|'s| are| was| were)(?: the)? (?P<section{{}}>{_ASKED}){_OF}",
    rf"what does the {_SECTION}{_OF} say",
    rf"what(?: is|'s) (?:said |written )?in the {_SECTION}{_OF}",
    rf"(?:show|read|quote|give|summari[sz]e|sum up)(?: me| us)? the {_SECTION}{_OF}",
    r"what does (?P<name{}>.+) conclude",
)
_SIGNS = r"^[^\S\n]{,8}(?:\#{1,6}[^\S\n]{1,8})?(?:\*\*|__)?"
_NUMBER = r"(?:(?:section[^\S\n]+)?(?:\d{1,2}(?:\.\d{1,2})?|[IVX]{1,4}|[A-H])[.:)]?[^\S\n]{1,8})?"
_AFTER = r"[^\S\n]{,8}[:.]?(?:\*\*|__)?[^\S\n]{,8}\#{,8}[^\S\n]{,8}$"
_LEVEL = re.compile(r"[^\S\n]{,8}(?P<signs>\#{,6})[^\S\n]{,8}(?P<number>\d{1,2}(?:\.\d{1,2})*)?")
_UNDERLINE = re.compile(r"\n[=-]{3,}[^\S\n]*(?=\n|$)")
_TITLE = r"(?-i:[A-Z\u00c0-\u00de])[^\n.?!]{1,70}"
_NUMBERED = re.compile(
    rf"(?:(?<=\n\n)|(?<=[.:?!)]\n)){_SIGNS}(?:\d{{1,2}}(?:\.\d{{1,2}})*|[IVX]{{1,4}})[.:)]?"
    rf"[^\S\n]{{1,8}}{_TITLE}$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(
    rf"{_SIGNS}(?:references|bibliography|appendix[^\n.]{{0,60}}|literatur(?:verzeichnis)?|anhang"
    rf"|{'|'.join(_NAMES.values())}){_AFTER}"
    r"|^(?:key[ -]?words|schlüsselwörter|schlagwörter)\b",
    re.IGNORECASE | re.MULTILINE,
)
_CAPTION = re.compile(r"(?:figure|fig\.|table|abbildung|abb\.|tabelle)\s*\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under a heading as it is written, with the sentences of its prose."""

    heading: str
    sentences: tuple[Sentence, ...]

    @property
    def words(self) -> int:
        """How many words its sentences have."""
        return sum(count_words(each.text) for each in self.sentences)


def match(words: Words) -> Target | None:
    """A request for a section of one to three documents that are no transcripts.

    Without a name it is about all documents that the question is limited to, if they are so few.
    """
    groups = groups_of(_PATTERN, words.text)
    if not groups:
        return None
    catalogue, name = words.catalogue, groups.get("name")
    every = words.scope or tuple(catalogue.entries)
    ids = (words.resolve(name) or catalogue.titled(name)) if name else every
    ids = tuple(id_ for id_ in ids if id_ in every and id_ not in catalogue.transcripts)
    if not 1 <= len(ids) <= MOST_DOCUMENTS:
        return None
    section = _called(groups.get("section", "conclusion"))
    read_as = f"a request for the {section} of {catalogue.titles(ids)}"
    return Target("section", read_as, ids, phrase=section)


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """Of each document that has the section, its first paragraphs; none where none has it."""
    wording = target.wording
    for id_ in target.documents:
        document = store.document(id_)
        section = find_section(document, target.phrase)
        if section is None:
            continue
        text = wording.say("{title}, “{heading}”:", title=document.title, heading=section.heading)
        rest = section.words
        for quote in _quotes(section):
            yield Line(text, quote)
            text, rest = "", rest - count_words(quote.text)
        if rest > 0:
            yield Line(
                wording.say("The section goes on for {words}.", words=wording.count(rest, "word"))
            )


def find_section(document: Document, name: str) -> Section | None:
    """The section of a document that has a name, one of `_NAMES`; None where there is none.

    Of several, such as a line of the table of contents, the longest.
    """
    text, found, ends = document.text, [], _ends(document)
    for heading in filter(_is_written_as_one, _heading(name).finditer(text)):
        underline = _UNDERLINE.match(text, heading.end())
        start = underline.end() if underline else heading.end()
        following = (ends[at] for at in range(bisect_left(ends, start), len(ends)))
        end = next((at for at in following if _ends_at(text, heading, start, at)), len(text))
        found.append((start - end, start, end, heading["heading"]))
    for _, start, end, words in sorted(found)[:_MOST_TRIED]:
        prose = tuple(filter(_is_prose, evidence_sentences([Span(document, start, end, 0.0)])))
        if prose:
            return Section(" ".join(words.split()), prose)
    return None


def _ends(document: Document) -> list[int]:
    """Where headings begin, ascending."""
    text = document.text
    ends = {each.start() for kind in (_NAMED, _NUMBERED) for each in kind.finditer(text)}
    if document.format != "pdf":  # whose breaks are its pages
        ends.update(document.breaks)
    return sorted(ends)


def _ends_at(text: str, heading: re.Match[str], start: int, at: int) -> bool:
    """Whether a section ends at the heading there, and that is not one of its own.

    A heading of its own has more number signs, or a longer number ("4.1" below "4"). Where neither
    is written, it is one if nothing stands before it.
    """
    signs, number = _level(text, heading.start())
    its_signs, its_number = _level(text, at)
    if signs and its_signs:
        return len(its_signs) <= len(signs)
    if number and its_number:
        return not its_number.startswith(f"{number}.")
    return bool(text[start:at].strip()) or _NAMED.match(text, at) is not None


def _level(text: str, at: int) -> tuple[str, str]:
    """The number signs and the number of the heading there, "" for none."""
    found = _LEVEL.match(text, at)
    return (found["signs"] or "", found["number"] or "") if found else ("", "")


def _is_written_as_one(heading: re.Match[str]) -> bool:
    """Whether a line is marked as a heading, or begins with a capital."""
    return "#" in heading[0] or any(map(str.isupper, heading["heading"]))


def _is_prose(sentence: Sentence) -> bool:
    """Whether a sentence is none of a table, and not what stands at a figure or in it."""
    text = " ".join(sentence.text.split())
    apart = "| |" in text or is_row(text) or is_row_of_numbers(text) or _CAPTION.match(text)
    return not (apart or names_only(sentence))


def _quotes(section: Section) -> Iterator[Sentence]:
    """Its first paragraphs, each as one quote, as far as `MOST_WORDS` go."""
    words, quote = 0, None
    for each in section.sentences:
        words += count_words(each.text)
        if quote is not None and words > MOST_WORDS:
            break
        if quote is not None and _goes_on(quote, each):
            quote = replace(quote, end=each.end)
            continue
        if quote is not None:
            yield quote
        quote = each
    if quote is not None:
        yield quote


def _goes_on(quote: Sentence, following: Sentence) -> bool:
    """Whether a sentence is of the same paragraph, with nothing left out before it."""
    between = following.document.text[quote.end : following.start]
    return between.isspace() and "\n\n" not in between


def _called(asked: str) -> str:
    """The name, a key of `_NAMES`, of the section that a question asks for."""
    return next(name for name in _NAMES if re.fullmatch(_NAMES[name], asked, re.IGNORECASE))


@cache
def _heading(name: str) -> re.Pattern[str]:
    """Lines that are the heading of a section, or begin with that of an abstract: "Abstract—We"."""
    runs_on = r"|[^\S\n]*[.:]?[^\S\n]?[\u2014\u2013-]" if name == "abstract" else ""
    expression = rf"{_SIGNS}(?P<heading>{_NUMBER}(?:{_NAMES[name]}))(?:{_AFTER}{runs_on})"
    return re.compile(expression, re.IGNORECASE | re.MULTILINE)
