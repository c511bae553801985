"""The mails that a mail quotes, each as a mail of its own day.

A reply repeats what it answers, marked with ">" or below a head ("From: ... Sent: ..."). These
words are another person's, and older; read as the reply's own, they would be cited under the wrong
name and date. (`quotequail` lost words of one mail in nine and takes minutes for hostile ones.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from indexing.loaders.mails.mail import Mail, Person
from indexing.text.days.dates import dates_in

LONGEST = 1_000  # characters of a line that may be of a head
MOST = 100  # quoted mails; one with more heads is no thread

_MARKS = re.compile(r"[ \t]*(?:>[ \t]?)*")
_FIELD = re.compile(r"\*?(?P<name>[^\W\d_]{1,10})\s?:\*?\s+(?P<value>.*\S)\s*")
_FIELDS = {
    "from": "from von de da van",
    "date": "sent date gesendet datum envoyé enviado data inviato verzonden fecha",
    "to": "to an à para a aan",
    "cc": "cc kopie",
    "subject": "subject betreff objet asunto oggetto onderwerp assunto",
}
_NAMES = {name: field for field, names in _FIELDS.items() for name in names.split()}
_WROTE = re.compile(
    r"(?:on|am|le|el|il|op|em)\s(?P<said>.*?)\s?(?:wrote|schrieb|a écrit|escribió|ha scritto"
    r"|schreef|escreveu)(?P<who>.*):",
    re.IGNORECASE,
)
_PERSON = re.compile(r'[\s,]*"?(?P<name>[^"<]*?)"?\s*(?:<(?P<address>[^<>]*)>)?[\s,]*')


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a mail: its words, and how many marks of quoting it has."""

    words: str
    depth: int


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a quoted mail."""

    start: int
    end: int
    mail: Mail


def with_quoted(mail: Mail) -> Iterator[Mail]:
    """A mail without what it quotes, then the mails that it quotes, the latest first.

    A mail with answers between the quoted lines stays as it is, and so does one that does not say
    whom it quotes and of which day. No word is left out but those of the quoted heads.
    """
    lines = [_line(each) for each in mail.body.split("\n")]
    heads = list(_heads(lines))
    first = heads[0].end if heads else len(lines)
    last = _end_of_quoted(lines, first)
    if not 0 < len(heads) <= MOST or heads[-1].end > last:
        yield mail
        return
    own = [*lines[: heads[0].start], *lines[last:]]
    yield replace(mail, body=_text(own))
    ends = [*(head.start for head in heads[1:]), last]
    for head, end in zip(heads, ends, strict=True):
        yield replace(head.mail, body=_text(lines[head.end : end]))


def _line(text: str) -> _Line:
    marks = _MARKS.match(text)
    depth = marks[0].count(">") if marks else 0
    return _Line(text[marks.end() :] if marks and depth else text, depth)


def _text(lines: Sequence[_Line]) -> str:
    return "\n".join(line.words for line in lines).strip()


def _end_of_quoted(lines: Sequence[_Line], first: int) -> int:
    """One past the last line that is quoted from here on; 0 where answers stand between them."""
    filled = [at for at in range(first, len(lines)) if lines[at].words.strip()]
    if not filled:
        return 0
    depth = lines[filled[0]].depth
    own = next((at for at in filled if lines[at].depth < depth), len(lines))
    return own if all(lines[at].depth < depth for at in filled if at >= own) else 0


def _heads(lines: Sequence[_Line]) -> Iterator[_Head]:
    at = 0
    while at < len(lines):
        head = _fields(lines, at) or _attribution(lines, at)
        if head:
            yield head
        at = head.end if head else at + 1


def _fields(lines: Sequence[_Line], start: int) -> _Head | None:
    """A head of lines such as "From: ...", if one begins here."""
    found: dict[str, str] = {}
    end = start
    for line in lines[start : start + len(_FIELDS)]:
        match = _FIELD.fullmatch(line.words) if len(line.words) <= LONGEST else None
        field = _NAMES.get(match["name"].lower()) if match else None
        if match is None or field is None or field in found or (field != "from" and not found):
            break
        found[field] = match["value"]
        end += 1
    mail = _mail(found.get("from", ""), found.get("date", ""))
    if mail is None:
        return None
    to, copies = _people(found.get("to", "")), _people(found.get("cc", ""))
    return _Head(start, end, replace(mail, to=to, copies=copies, subject=found.get("subject", "")))


def _attribution(lines: Sequence[_Line], start: int) -> _Head | None:
    """What stands above marked lines, if it stands here: "On 17 June 2025, Ada Park wrote:"."""
    for end in (start + 1, start + 2):
        words = " ".join(line.words.strip() for line in lines[start:end])
        match = _WROTE.fullmatch(words.strip()) if len(words) <= LONGEST else None
        below = next((line for line in lines[end : end + 3] if line.words.strip()), None)
        if match is None or below is None or below.depth <= lines[start].depth:
            continue
        _, _, last = next(dates_in(match["said"]), ("", 0, 0))
        mail = _mail(f"{match['said'][last:]} {match['who']}", match["said"])
        if mail is not None:
            return _Head(start, end, mail)
    return None


def _mail(sender: str, date: str) -> Mail | None:
    """A mail without words; None where sender or day are not told."""
    day = next(dates_in(date), ("", 0, 0))[0]
    people = _people(sender, between="\n")
    if not day or not people:
        return None
    return Mail(people, (), (), datetime.fromisoformat(day), "", "")


def _people(text: str, *, between: str = "[;,]") -> tuple[Person, ...]:
    found = (_PERSON.fullmatch(each) for each in re.split(between, text))
    return tuple(
        Person(match["name"], match["address"] or "")
        for match in found
        if match and (match["name"] or match["address"])
    )
