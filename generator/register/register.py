"""The register of documents: what each says, and the matters that it comes to."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache

from cachetools import LRUCache

from generator.extractive.latest import document_days
from generator.overview.blocks import blocks
from generator.overview.commitment_words import QUESTION
from generator.overview.commitments import LONGEST, Commitment, commitments
from generator.overview.people import people_of
from generator.register.chains import Said, chained
from generator.register.entry import Register
from generator.register.outcome_words import is_outcome, without_outcome
from indexing.documents import Document
from indexing.text.days.deadline import day_meant
from indexing.text.days.stated_date import DAY_NUMBERS, MONTH_NUMBERS, WEEKDAYS
from indexing.text.english import ORDINALS, UNITS
from indexing.text.language import language_of
from indexing.text.terms import content_stems, content_words, stem, words

_KEPT: LRUCache[object, tuple[Said, ...]] = LRUCache(20_000, lambda found: len(found) + 1)
"""What was read of documents: so many sentences, the least recently asked for go."""
_WORD = re.compile(r"\w+")
_LOCK = threading.Lock()
_HEAD = 600  # characters that say of which day a document is, and whether it is of a meeting
_MEETING = re.compile(
    r"\b(?:meeting|minutes|notes|call|session|decisions?|actions?|\w*sitzung|\w*protokoll|niederschrift"
    r"|besprechung|beschl[uü]sse?|versammlung|\w*versammlung)\b",
    re.IGNORECASE,
)
_OF_DECIDING = f"""
    action agreed agree decided decide decision resolved resolve carried committee board group
    meeting society team council members question unresolved still item point next week month
    today tomorrow end new got get send write ask call put done finished need back going take last
    year pounds beschluss beschließt beschlossen vorstand verein aufgabe frage noch sitzung idea
    einstimmig bis ende übernimmt kümmert euro todo damit everybody somebody said told also already
    good time hundred thousand accordingly offen klären drei zwei vier neue neuen lange wegen
    {" ".join((*MONTH_NUMBERS, *WEEKDAYS, *UNITS, *ORDINALS)).lower()}"""


def register(documents: Iterable[Document], people: Collection[str] = ()) -> Register:
    """The register of documents; those that are of no meeting have no entries.

    Each is read once, in any order. People are those who may be named in any of them.
    """
    others = frozenset(people)
    found: dict[str, tuple[Said, ...]] = {}
    heads: dict[str, Document] = {}
    for document in documents:
        if is_of_meeting(document):
            found[document.id] = said(document, others)
            heads[document.id] = replace(document, text=document.text[:_HEAD], utterances=())
    days = document_days(heads)
    order = sorted(found, key=lambda id_: (not days[id_], days[id_]))
    matters = chained([_dated(one, days[id_]) for one in found[id_]] for id_ in order)
    return Register(tuple(matters), days)


def is_of_meeting(document: Document) -> bool:
    """Whether somebody speaks or takes part in a document, or it says that it is of a meeting."""
    if document.utterances or document.occasion.participants:
        return True
    return _MEETING.search(f"{document.title}\n{document.text[:_HEAD]}") is not None


def said(document: Document, others: frozenset[str]) -> tuple[Said, ...]:
    """The sentences of a document that are entries or may be, in order, without its day.

    They are kept from register to register, without the document.
    """
    named = _named(document, others)
    people = document.occasion.participants, tuple(document.speaker_names.items()), named
    key = (document.id, document.digest, hash(document.breaks), document.speakers, people)
    with _LOCK:
        found = _KEPT.get(key)
    if found is None:
        found = _read(document, named)
        bare = replace(document, text="", utterances=(), pages=(), breaks=(), figures=())
        kept = _of(replace(bare, metadata=""), found)
        if len(kept) < _KEPT.maxsize:
            with _LOCK:
                _KEPT[key] = kept
        return found
    return _of(document, found)


def _named(document: Document, others: frozenset[str]) -> frozenset[str]:
    """Those people whom a document may name, as it has a word of their names."""
    known = {*_WORD.findall(document.text)}
    return frozenset(one for one in others if not known.isdisjoint(_WORD.findall(one)))


def _of(document: Document, every: tuple[Said, ...]) -> tuple[Said, ...]:
    """The same of another copy of their document."""
    return tuple(replace(one, sentence=replace(one.sentence, document=document)) for one in every)


def _read(document: Document, others: frozenset[str]) -> tuple[Said, ...]:
    people = people_of(document, others)
    every = blocks(document)
    language = language_of(document.text)
    entries = commitments(every, people)
    known = {one.sentence.start for one in entries}
    told = [
        Said(one.sentence, None, _stems(one.sentence.text, language))
        for block in every
        for one in block.statements
        if one.sentence.start not in known
        and one.words <= LONGEST
        and is_outcome(one.sentence.text)
    ]
    both = [*(_said(one, language) for one in entries), *told]
    return tuple(sorted(both, key=lambda one: one.sentence.start))


def _said(one: Commitment, language: str) -> Said:
    text = one.sentence.text.replace(one.when or "\0", " ")
    if one.kind == "question":
        text = QUESTION.sub(" ", text)
    stems = _stems(text, language, (one.who or "").lower().replace(",", " ").split())
    return Said(one.sentence, one.kind, stems, who=one.who or "", until=one.when or "")


def _stems(text: str, language: str, names: Collection[str] = ()) -> frozenset[str]:
    """Stems of the words that tell which matter a sentence is on, but for names."""
    every = content_words(without_outcome(text), language)
    some = [word.removesuffix("'s") for word in every]
    stems = {
        stem(word, language)
        for word in some
        if word not in names and "'" not in word and word[0].isalpha() and word not in DAY_NUMBERS
    }
    return frozenset(stems - _empty_stems(language))


@lru_cache
def _empty_stems(language: str) -> frozenset[str]:
    return frozenset(content_stems(_OF_DECIDING, language)) | frozenset(words(_OF_DECIDING))


def _dated(one: Said, day: str) -> Said:
    return replace(one, day=day, due=day_meant(one.until, day) if one.until else "")
