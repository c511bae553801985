"""The meetings that a question is limited to: "in March", "the meeting with Bob".

A time in a question is often that of a thing ("Why did sales fall in March?"). It is taken for that
of a meeting only where the question says so ("the meeting of 12 May"), or where it stands right
beside what people said, decided or did in a meeting ("What did we decide in March?", but not "What
was said about sales in March?"). What is taken is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Protocol

from indexing.filter import Filter
from indexing.message import N_, joined
from indexing.text import terms
from indexing.text.days.dates import date_in
from indexing.text.language import LANGUAGES
from rag_app.requests.occasion_words import OCCASION_WORDS, OccasionWords

_TAKEN = frozenset({"made", "taken", "reached", "getroffen", "gefasst", "dazu", "davon", "darüber"})
_SURE = frozenset({"latest", "meeting", "dated", "week", "with"})  # forms that name a meeting


class Meetings(Protocol):
    """When the documents are of that a question may be limited to, and who takes part."""

    @property
    def first(self) -> str:
        """The first day; "" where no document has a date."""

    @property
    def last(self) -> str:
        """The last day; "" where no document has a date."""

    @property
    def last_spoken(self) -> str:
        """The last day of a transcript; "" where none has a date."""

    @property
    def people(self) -> frozenset[str]:
        """Everybody who takes part or speaks in any."""

    def latest_year(self, end: str) -> str:
        """The latest year with a document of a month or day, such as "-03" or "-03-14"; or ""."""


@dataclass(frozen=True, slots=True)
class KnownMeetings:
    """Those of documents that are known: the day of each that has one, who takes part in any."""

    days: Mapping[str, str]
    people: frozenset[str]
    spoken: frozenset[str] = frozenset()

    @property
    def first(self) -> str:
        """As `Meetings.first`."""
        return min(self.days.values(), default="")

    @property
    def last(self) -> str:
        """As `Meetings.last`."""
        return max(self.days.values(), default="")

    @property
    def last_spoken(self) -> str:
        """As `Meetings.last_spoken`."""
        return max((day for id_, day in self.days.items() if id_ in self.spoken), default="")

    def latest_year(self, end: str) -> str:
        """As `Meetings.latest_year`."""
        days = self.days.values()
        return max((day[:4] for day in days if day[4:].startswith(end)), default="")


@dataclass(frozen=True, slots=True)
class OccasionMention:
    """A place in a question that limits it to a time or to people."""

    start: int  # first character in the question
    end: int  # one past the last
    where: Filter  # the limits: `since`, `until` and `participants` of a filter
    words: OccasionWords  # those of its language
    sure: bool  # whether it names a meeting, and not a time alone

    def preposition(self, question: str) -> str:
        """What to put before a name in its place: "in", where it begins with such a word."""
        first = question[self.start : self.end].split(maxsplit=1)[0]
        return self.words.prepositions.get(first.lower(), "")


def occasion_mentions(
    question: str, meetings: Callable[[], Meetings], *, today: date | None = None
) -> list[OccasionMention]:
    """Where a question limits itself to a time or to people, in order, without overlaps.

    The documents are asked for where it may. "yesterday" is counted from today.
    """
    mentions: list[OccasionMention] = []
    for words in OCCASION_WORDS:
        for form, pattern in words.forms.items():
            for match in pattern.finditer(question):
                if not any(match.start() < one.end and one.start < match.end() for one in mentions):
                    day = today or date.today()
                    context = _QuestionContext(question, words, meetings(), day)
                    mentions.extend(context.mentions(form, match))
    return sorted(mentions, key=lambda one: one.start)


@dataclass(frozen=True, slots=True)
class _QuestionContext:
    """A question read in one language, the documents that there are, and the day of asking."""

    question: str
    words: OccasionWords
    meetings: Meetings
    today: date

    def mentions(self, form: str, match: re.Match[str]) -> list[OccasionMention]:
        """What a form limits the question to: one mention, or none."""
        if form == "with":
            return self._with(match)
        sure = form in _SURE
        if not self.meetings.last or not (sure or self._may_be_of_meeting(match)):
            return []
        if self.words.outside.search(self.question[: match.start()]):
            return []
        where = self._when(form, match)
        if where is None or (not sure and _is_before_all(where, self.meetings)):
            return []
        return [OccasionMention(match.start(), match.end(), where, self.words, sure)]

    def _may_be_of_meeting(self, match: re.Match[str]) -> bool:
        """Whether a time alone can be that of a meeting: a year only where one is spoken of."""
        times = [value for value in match.groupdict().values() if value]
        of_year = any(map(self.words.year.fullmatch, times))
        if of_year and not self.words.meeting.search(self.question):
            return False
        before, after = self.question[: match.start()], self.question[match.end() :]
        if not before.strip():
            return self.words.speech.search(after) is not None
        if self.words.matter.search(before):
            return False
        *_, said = (0, *(one.end() for one in self.words.speech.finditer(before)))
        if said and self._words_of_matter(before[said:]) <= self.words.subjects:
            return True
        verb = self.words.speech.search(after) if self.words.verbs_last else None
        return verb is not None and not self._words_of_matter(after[: verb.start()])

    def _words_of_matter(self, between: str) -> int:
        """How many words between what was done and its time are neither small nor names."""
        people = terms.words(" ".join(self.meetings.people))
        known = LANGUAGES[self.words.language].stop_words | _TAKEN | {*people}
        return sum(word not in known for word in terms.words(between))

    def _when(self, form: str, match: re.Match[str]) -> Filter | None:
        """The time that a form limits to; None where it is none of these documents' business."""
        groups = {name: value for name, value in match.groupdict().items() if value}
        if form == "latest":
            latest = _latest(groups.get("kind", ""), self.meetings)
            return Filter(since=latest, until=latest) if latest else None
        since, until = groups.get("since") or groups.get("first"), groups.get("until")
        if since or until:
            first = self._period(since) if since else None
            last = self._period(until) if until else None
            return self._range(form, match, first, last)
        period = self._period(groups.get("time", ""))
        return Filter(since=period[0], until=period[1]) if period else None

    def _range(
        self,
        form: str,
        match: re.Match[str],
        first: tuple[str, str] | None,
        last: tuple[str, str] | None,
    ) -> Filter | None:
        word = match.group().split()[0].lower()
        since, until = first and first[0], last and last[1]
        if first and word in self.words.after:
            since = _next(first[1])
        if last and word in self.words.before and form == "until":
            until = _before(last[0])
        if (first is None and last is None) or (since and until and since[: len(until)] > until):
            return None
        return Filter(since=since, until=until)

    def _with(self, match: re.Match[str]) -> list[OccasionMention]:
        """People whom the words after "with" name, as far as they are names."""
        names: list[str] = []
        end = match.start("names")
        both = self.words.both
        for part in re.finditer(
            rf"(?:\s*(?:,|{both}|&)\s+)?([^,&]+?)(?=\s*(?:,|&|\b{both}\b|$))", match["names"]
        ):
            name = _name(part[1], self.meetings.people)
            if name is None:
                break
            names.append(name)
            end = match.start("names") + part.start(1) + len(name)
        where = Filter(participants=tuple(names))
        return [OccasionMention(match.start(), end, where, self.words, sure=True)] if names else []

    def _period(self, text: str) -> tuple[str, str] | None:
        """First and last day, month or year of a time; without a year, of the latest one."""
        words = " ".join(text.lower().replace(",", " ").split()).removeprefix("the ")
        for name, pattern in self.words.relative.items():
            if pattern.fullmatch(words):
                return _relative(name, self.today)
        if re.fullmatch(r"\d{4}(?:-\d{2})?", words):
            return _checked(words)
        if exact := date_in(words)[:10]:
            return exact, exact
        months = self.words.months.items()
        month = next((number for beginning, number in months if beginning in words), None)
        if month is None:
            return None
        year = re.search(r"\b(\d{4})\b", words)
        day = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)?\b", words)
        end = f"-{month:02d}" + (f"-{int(day[1]):02d}" if day else "")
        if year:
            return _checked(year[1] + end)
        return _checked((self.meetings.latest_year(end) or self.meetings.last[:4]) + end)


def _is_before_all(where: Filter, meetings: Meetings) -> bool:
    """Whether a time lies before every document that has a date, so that it is of the matter."""
    until = where.until or ""
    return bool(until) and meetings.first[: len(until)] > until


def limited(where: Filter, mentions: Sequence[OccasionMention]) -> Filter:
    """A filter with what a question adds; what a person has set stays."""
    for one in mentions:
        added = one.where
        if (added.since or added.until) and not (where.since or where.until):
            where = replace(where, since=added.since, until=added.until)
        if added.participants and not where.participants:
            where = replace(where, participants=added.participants)
    return where


def _name(words: str, everybody: Collection[str]) -> str | None:
    """The longest beginning of some words that is somebody's name, or a word of it."""
    row = words.split()
    for length in range(min(len(row), 5), 0, -1):
        name = " ".join(row[:length])
        if len(name) > 1 and any(_is_part(name, each) for each in everybody):
            return name
    return None


def _is_part(name: str, whole: str) -> bool:
    return f" {name.casefold()} " in f" {' '.join(whole.casefold().split())} "


def _latest(kind: str, meetings: Meetings) -> str | None:
    """The last day of a transcript, or of any document where no transcript has a date."""
    if kind.strip():
        return None  # which one of its kind is the last, only its name could tell
    return meetings.last_spoken or meetings.last


def _checked(value: str) -> tuple[str, str] | None:
    return (value, value) if date_in(f"{value}-01-01"[:10]) else None


def _relative(words: str, today: date) -> tuple[str, str]:
    """First and last day, month or year of a time relative to today, in English words."""
    monday = today - timedelta(days=today.weekday())
    month = today.replace(day=1)
    days = {
        "today": (today, today),
        "yesterday": (today - timedelta(days=1), today - timedelta(days=1)),
        "this week": (monday, monday + timedelta(days=6)),
        "last week": (monday - timedelta(days=7), monday - timedelta(days=1)),
    }
    if words in days:
        return days[words][0].isoformat(), days[words][1].isoformat()
    periods = {
        "this month": month.isoformat()[:7],
        "last month": (month - timedelta(days=1)).isoformat()[:7],
        "this year": str(today.year),
        "last year": str(today.year - 1),
    }
    return periods[words], periods[words]


def _before(period: str) -> str:
    """The day before a day, month or year."""
    first = date.fromisoformat(f"{period}-01-01"[:10])
    return (first - timedelta(days=1)).isoformat()


def _next(period: str) -> str:
    """The day after a day, month or year."""
    first = date.fromisoformat(f"{period}-01-01"[:10])
    if len(period) == 10:
        return (first + timedelta(days=1)).isoformat()
    months = 12 if len(period) == 4 else 1
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    return date(year, month + 1, 1).isoformat()


def count_in_words(where: Filter, number: int) -> str:
    """What a question is limited to, such as "2 documents of 2026-03"."""
    limits = where.occasion_in_words()
    if number == 1:
        return N_("1 document %(limits)s", limits=limits)
    return N_("%(number)s documents %(limits)s", number=f"{number:,}", limits=limits)


def selects(where: Filter) -> bool:
    """Whether a filter limits documents by path, speaker, date or participants."""
    return bool(where.path or where.speaker or where.is_of_occasions)


def of_documents(where: Filter) -> Filter:
    """The filter of whole documents: its speaker takes part in them."""
    if not where.speaker:
        return where
    return replace(where, speaker=None, participants=(*where.participants, where.speaker))


def _limits_in_words(where: Filter) -> str:
    """The limits of a filter, as "files like *.vtt, spoken by Ada, since 2026-03"."""
    occasion = where.occasion_in_words()
    if where.since and where.since == where.until:
        others = replace(where, since=None, until=None).occasion_in_words()
        occasion = joined([N_("dated %(period)s", period=where.since), others], ", ")
    files = N_("files like %(path)s", path=where.path) if where.path else ""
    speaker = (
        N_("spoken by %(name)s", name=where.speaker.replace("|", " or ")) if where.speaker else ""
    )
    limits = joined((files, speaker, occasion), ", ")
    return N_("among those named, %(limits)s", limits=limits) if where.documents else limits


def nothing_in_words(where: Filter, days: Sequence[str]) -> str:
    """That no document matches, by what, and which dates there are.

    `days` are those of each document without the limits of dates and people; "" for none.
    """
    dated = sorted(filter(None, days))
    told = [N_("No document matches: %(limits)s.", limits=_limits_in_words(where))]
    if dated and dated[0] == dated[-1]:
        told.append(N_("Those with a date are of %(period)s.", period=dated[0]))
    elif dated:
        first, last = dated[0], dated[-1]
        told.append(N_("Those with a date are of %(first)s to %(last)s.", first=first, last=last))
    if without := len(days) - len(dated):
        many = N_("%(number)s have no date.", number=f"{without:,}")
        told.append(N_("1 has no date.") if without == 1 else many)
    return joined(told, " ")
