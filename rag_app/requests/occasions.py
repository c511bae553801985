"""When and among whom what a question asks about was said: "in March", "the meeting with Bob".

A time in a question is often that of a thing ("Why did sales fall in March?"). It is taken for that
of a meeting only where the question says so ("the meeting of 12 May"), or asks what people said,
decided or did in a meeting ("What did we decide in March?"). What is taken is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from indexing.filter import Filter
from indexing.text.dates import date_in
from indexing.text.english import MONTHS

_MEETING = (
    r"(?:meetings?|calls?|sessions?|stand-?ups?|syncs?|interviews?|conversations?|discussions?"
    r"|workshops?|retrospectives?|retros?|transcripts?|recordings?|chats?)"
)
_ONE_WORD = r"(?:[^\W\d_][\w-]{1,20} )?"  # "budget meeting"
_THE = r"(?:the|our|my|your|that|this) "
_WHICH = rf"(?:(?:{_THE}|all ){_ONE_WORD})?{_MEETING}"  # "the budget meeting", "calls"
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
_MONTH += r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?"
_DAY = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}"
    rf"|(?:the )?{_DAY_OF_MONTH} (?:of )?{_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH} {_DAY_OF_MONTH}(?:,? \d{{4}})?)"
)
_TIME = rf"(?:{_DAY}|{_MONTH}(?:,? \d{{4}})?|\d{{4}}-\d{{2}}|(?:19|20)\d{{2}})"
_RELATIVE = r"(?:yesterday|today|(?:this|last) (?:week|month|year))"
_LATEST = r"(?:last|latest|most recent|previous)"

_SPEECH = re.compile(
    r"\b(?:sa(?:y|ys|id|ying)|talk(?:ed|ing)?|discuss(?:ed|ion|ions)?|decide[ds]?|decisions?"
    r"|agree[ds]?|mention(?:ed|s)?|ask(?:ed)?|propose[ds]?|suggest(?:ed|s)?|raise[ds]?|met"
    r"|attend(?:ed|ees?)?|spoke|speakers?|promise[ds]?|reported"
    r"|action (?:items?|points?)|actions|to-?dos?|next steps|meetings?|calls?|stand-?ups?|sessions?"
    r"|transcripts?|interviews?|recordings?)\b",
    re.IGNORECASE,
)
_IN = r"(?:in|during|at|of|from|on|for)"


def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form.replace(" ", r"\s+"), re.IGNORECASE)


_FORMS: Mapping[str, re.Pattern[str]] = {
    # "in the last meeting", "at our most recent budget call"
    "latest": _compiled(rf"\b(?:{_IN} )?(?:{_THE}){_LATEST} (?P<kind>{_ONE_WORD})(?:{_MEETING})\b"),
    # "in the meeting of 12 May", "in meetings from March"
    "meeting": _compiled(
        rf"\b(?:{_IN} )?{_WHICH} (?:of|on|from|in|held on) "
        rf"(?P<time>{_TIME}|{_RELATIVE})(?![\w-])"
    ),
    # "at the 12 May meeting"
    "dated": _compiled(
        rf"\b(?:{_IN} )?(?:the|our|my|your) (?P<time>{_TIME}) {_ONE_WORD}{_MEETING}(?![\w-])"
    ),
    "week": _compiled(rf"\b(?:{_IN} )?(?P<time>{_RELATIVE})'s {_ONE_WORD}{_MEETING}\b"),
    "between": _compiled(
        rf"\b(?:between (?P<since>{_TIME}) and|from (?P<first>{_TIME}) (?:to|until|till)) "
        rf"(?P<until>{_TIME})(?![\w-])"
    ),
    "since": _compiled(rf"\b(?:since|after) (?P<since>{_TIME})(?: on| onwards)?(?![\w-])"),
    "until": _compiled(rf"\b(?:until|till|before|up to) (?P<until>{_TIME})(?![\w-])"),
    "in": _compiled(rf"\b(?:in|during|on|from) (?P<time>{_TIME})(?![\w-])"),
    "relative": _compiled(rf"\b(?P<time>{_RELATIVE})(?![\w'’-])"),  # noqa: RUF001
    # "in the meeting with Bob", "in calls with Ada Park and Bob"
    "with": _compiled(rf"\b(?:{_IN} )?{_WHICH} with (?P<names>[^?!.,;]{{1,120}})"),
}
_PREPOSITIONS = frozenset({"in", "during", "at", "of", "from", "on", "for"})
_NAMES_MEETING = re.compile(rf"\b{_MEETING}\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d{2}|(?:this|last) year", re.IGNORECASE)
_SURE = frozenset({"latest", "meeting", "dated", "week", "with"})  # forms that name a meeting


@dataclass(frozen=True, slots=True)
class Meetings:
    """The documents that a question may be limited to, by day and people.

    Attributes:
        days: The day of each document that has one, by id.
        people: Everybody who takes part in each, by id.
        spoken: Ids of transcripts.
    """

    days: Mapping[str, str]
    people: Mapping[str, frozenset[str]]
    spoken: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OccasionMention:
    """A place in a question that limits it to a time or to people.

    Attributes:
        start: First character in the question.
        end: One past the last.
        where: The limits: `since`, `until` and `participants` of a filter.
    """

    start: int
    end: int
    where: Filter

    def preposition(self, question: str) -> str:
        """The word that it begins with, if that is one such as "in"."""
        first = question[self.start : self.end].split(maxsplit=1)[0]
        return first if first.lower() in _PREPOSITIONS else ""


def occasion_mentions(
    question: str, meetings: Meetings, *, today: date | None = None
) -> list[OccasionMention]:
    """Where a question limits itself to a time or to people, in order, without overlaps.

    None where no document has a date, or nobody of the name takes part in any.

    Args:
        question: As asked.
        meetings: The documents of the corpus.
        today: The day on which it is asked, for "yesterday".
    """
    spoken = _SPEECH.search(question) is not None
    found: list[OccasionMention] = []
    for form, pattern in _FORMS.items():
        for match in pattern.finditer(question):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            if form not in _SURE and not (spoken and _may_be_of_meeting(match, question)):
                continue
            at = _mention(form, match, meetings, today or date.today())
            if at is not None and (form in _SURE or not _is_before_all(at.where, meetings)):
                found.append(at)
    return sorted(found, key=lambda one: one.start)


def _may_be_of_meeting(match: re.Match[str], question: str) -> bool:
    """Whether a time alone can be that of a meeting: a year only where one is spoken of."""
    times = [value for value in match.groupdict().values() if value]
    return not any(map(_YEAR.fullmatch, times)) or _NAMES_MEETING.search(question) is not None


def _is_before_all(where: Filter, meetings: Meetings) -> bool:
    """Whether a time lies before every document that has a date, so that it is of the matter."""
    until = where.until or ""
    return bool(until) and min(meetings.days.values())[: len(until)] > until


def limited(where: Filter, mentions: Sequence[OccasionMention]) -> Filter:
    """A filter with what a question adds; what a person has set stays."""
    for one in mentions:
        added = one.where
        if (added.since or added.until) and not (where.since or where.until):
            where = replace(where, since=added.since, until=added.until)
        if added.participants and not where.participants:
            where = replace(where, participants=added.participants)
    return where


def _mention(
    form: str, match: re.Match[str], meetings: Meetings, today: date
) -> OccasionMention | None:
    """What a form limits to; None where it is none of these documents' business."""
    if form == "with":
        return _with(match, meetings)
    if not meetings.days:
        return None
    groups = {name: value for name, value in match.groupdict().items() if value}
    if form == "latest":
        latest = _latest(groups.get("kind", ""), meetings)
        return _limited(match, latest, latest) if latest else None
    since, until = groups.get("since") or groups.get("first"), groups.get("until")
    if since or until:
        first = _period(since, meetings, today) if since else None
        last = _period(until, meetings, today) if until else None
        return _range(form, match, first, last)
    period = _period(groups.get("time", ""), meetings, today)
    return _limited(match, *period) if period else None


def _range(
    form: str,
    match: re.Match[str],
    first: tuple[str, str] | None,
    last: tuple[str, str] | None,
) -> OccasionMention | None:
    word = match.group().split()[0].lower()
    since, until = first and first[0], last and last[1]
    if first and word == "after":
        since = _next(first[1])
    if last and word == "before" and form == "until":
        until = _before(last[0])
    if (first is None and last is None) or (since and until and since[: len(until)] > until):
        return None
    return _limited(match, since, until)


def _limited(match: re.Match[str], since: str | None, until: str | None) -> OccasionMention:
    return OccasionMention(match.start(), match.end(), Filter(since=since, until=until))


def _with(match: re.Match[str], meetings: Meetings) -> OccasionMention | None:
    """People whom the words after "with" name, as far as they are names."""
    everybody = {name for people in meetings.people.values() for name in people}
    names: list[str] = []
    end = match.start("names")
    for part in re.finditer(
        r"(?:\s*(?:,|and|&)\s+)?([^,&]+?)(?=\s*(?:,|&|\band\b|$))", match["names"]
    ):
        name = _name(part[1], everybody)
        if name is None:
            break
        names.append(name)
        end = match.start("names") + part.start(1) + len(name)
    if not names:
        return None
    return OccasionMention(match.start(), end, Filter(participants=tuple(names)))


def _name(words: str, everybody: set[str]) -> str | None:
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
    spoken = [day for id_, day in meetings.days.items() if id_ in meetings.spoken]
    return max(spoken or meetings.days.values())


def _period(text: str, meetings: Meetings, today: date) -> tuple[str, str] | None:
    """First and last day, month or year of a time in words; without a year, of the latest one."""
    words = " ".join(text.lower().replace(",", " ").split()).removeprefix("the ")
    relative = _relative(words, today)
    if relative is not None:
        return relative
    if re.fullmatch(r"\d{4}(?:-\d{2})?", words):
        return _checked(words)
    if exact := date_in(words)[:10]:
        return exact, exact
    month = next((at for at, name in enumerate(MONTHS, 1) if name[:3].lower() in words), None)
    if month is None:
        return None
    year = re.search(r"\b(\d{4})\b", words)
    day = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)?\b", words)
    end = f"-{month:02d}" + (f"-{int(day[1]):02d}" if day else "")
    if year:
        return _checked(year[1] + end)
    years = sorted({each[:4] for each in meetings.days.values() if each[4:].startswith(end)})
    return _checked((years or [max(meetings.days.values())[:4]])[-1] + end)


def _checked(value: str) -> tuple[str, str] | None:
    return (value, value) if date_in(f"{value}-01-01"[:10]) else None


def _relative(words: str, today: date) -> tuple[str, str] | None:
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
    return (periods[words], periods[words]) if words in periods else None


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
    return f"{number:,} document{'' if number == 1 else 's'} {where.occasion_in_words()}"


def nothing_in_words(where: Filter, days: Sequence[str]) -> str:
    """That no document matches, by what, and which dates there are.

    Args:
        where: What the documents were limited to.
        days: Of each document without these limits; "" where it has none.
    """
    dated = sorted(filter(None, days))
    said = f"No document matches: {where.occasion_in_words()}."
    if dated:
        period = dated[0] if dated[0] == dated[-1] else f"{dated[0]} to {dated[-1]}"
        said += f" Those with a date are of {period}."
    if without := len(days) - len(dated):
        said += " 1 has no date." if without == 1 else f" {without:,} have no date."
    return said
