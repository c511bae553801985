"""The limits of a search: collections, documents, a path pattern, a speaker, dates, people."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from indexing.errors import InvalidRequest
from indexing.message import N_, Message, joined
from indexing.text.days.dates import date_in

_PERIOD = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Scope:
    """What somebody may read: nothing else is there for them.

    There is no default: whoever reads says for whom, so that a forgotten scope is a type error.

    Attributes:
        login: A login name, which may read its own collections, shared ones, and those without an
            owner; None for the owner of this machine, who may read everything.
    """

    login: str | None


OWNER = Scope(None)
"""Of the owner of this machine, and of a server on it where nobody logs in."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is limited to; an empty part limits nothing.

    Attributes:
        documents: Ids or titles of documents.
        path: A pattern such as "*/minutes/*.vtt" for the whole path, or for the end of it.
        speaker: Part of a speaker's name, in any case, or several that "|" parts, for any of them:
            passages in which they speak, and of these what they say.
        collections: Names of collections; what is in none of them is not there.
        since: A day, month or year ("2026-03-14", "2026-03", "2026"): documents of that time and
            later. Those without a date are left out.
        until: The same: documents of that time and earlier.
        participants: Parts of names, the same: documents in which all of them take part,
            whether they speak or are listed.

    Raises:
        InvalidRequest: `since` or `until` is no date, or `since` lies after `until`.
    """

    documents: tuple[str, ...] = ()
    path: str | None = None
    speaker: str | None = None
    collections: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    participants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "since", _period(self.since))
        object.__setattr__(self, "until", _period(self.until))
        object.__setattr__(self, "speaker", (self.speaker or "").strip() or None)
        names = tuple(" ".join(name.split()) for name in self.participants)
        object.__setattr__(self, "participants", tuple(filter(None, names)))
        if self.since and self.until and self.since[: len(self.until)] > self.until:
            raise InvalidRequest(
                N_(
                    "nothing is since %(since)s and until %(until)s; swap them",
                    since=self.since,
                    until=self.until,
                )
            )

    def __bool__(self) -> bool:
        limited = self.collections or self.is_of_occasions
        return bool(self.documents or self.path or self.speaker or limited)

    @property
    def is_of_occasions(self) -> bool:
        """Whether it limits dates or participants."""
        return bool(self.since or self.until or self.participants)

    def admits(
        self, *, id_: str, title: str, path: str, day: str = "", people: Iterable[str] = ()
    ) -> bool:
        """Whether a document of the collections passes, its speakers aside.

        Args:
            id_: Its id.
            title: Its title.
            path: Its path.
            day: Its date as "2026-03-14"; "" for an unknown one.
            people: Everybody who takes part in it or speaks in it.
        """
        if self.documents and id_ not in self.documents and title not in self.documents:
            return False
        if not self._admits_occasion(day, people):
            return False
        pattern = self.path
        return not pattern or fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")

    def _admits_occasion(self, day: str, people: Iterable[str]) -> bool:
        if self.since and (not day or day < self.since):
            return False
        if self.until and (not day or day[: len(self.until)] > self.until):
            return False
        if not self.participants:
            return True
        names = [name.casefold() for name in people]
        parts = [list(filter(None, one.casefold().split("|"))) for one in self.participants]
        return all(any(part in name for part in one for name in names) for one in parts)

    def occasion_in_words(self) -> Message:
        """The limits of dates and participants, as "since 2026-03, with Ada Park"."""
        since, until, names = self.since, self.until, " and ".join(self.participants)
        if since and since == until:
            limits = [N_("of %(period)s", period=since)]
        else:
            limits = [N_("since %(since)s", since=since)] if since else []
            limits += [N_("until %(until)s", until=until)] if until else []
        if names:
            limits.append(N_("with %(names)s", names=names.replace("|", " or ")))
        return joined(limits, ", ")


def _period(value: str | None) -> str | None:
    """A day, month or year as ISO 8601 has it; None for none."""
    text = (value or "").strip()
    if not text:
        return None
    if _PERIOD.fullmatch(text):
        day = date_in(f"{text}-01-01"[:10]) if len(text) < 10 else date_in(text)
    else:
        day = text = date_in(text)[:10]
    if not day:
        raise InvalidRequest(
            N_("%(value)s is no date; write it as 2026-03-14, 2026-03 or 2026", value=repr(value))
        )
    return text
