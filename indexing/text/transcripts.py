"""Who speaks where in plain text: "Alice: words", with or without time stamps.

A colon alone proves nothing, since recipes, contracts, settings and minutes have them too. A text
is only taken for a transcript when its labels look like names, come back, stand before sentences
and begin a good part of its lines. When in doubt it is not one: words without a speaker can still
be cited, words put into the wrong mouth must not be.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from indexing.documents import Utterance

REACH = 160  # characters of a line in which a label and its time stamp must fit
LABEL_WORDS = 6

_CLOCK = r"(?P<clock>(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?)"
_UNTIL = r"(?:\s*(?:-+>?|\u2013|\u2192)\s*(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?)?"
_SPEAKER = r"(?P<speaker>[^\W_][^\n:\uff1a\[\]<>{}|=*\"]{0,59}?)"
_BOLD = r"(?:\*\*|__)?"
_COLON = rf"\s*{_BOLD}(?::|\uff1a){_BOLD}(?=\s|$|(?<=\uff1a))[^\S\n]*"
# "[00:12:31] Alice: words", "00:12 - Alice: words"
_TIME_FIRST = re.compile(
    rf"[^\S\n]*{_BOLD}(?P<open>[\[(])?{_CLOCK}{_UNTIL}[\])]?{_BOLD}\s*[-\u2013\u2014|]?\s*"
    rf"{_BOLD}{_SPEAKER}{_COLON}"
)
# "Alice (00:12): words", "Alice [00:12]: words"
_TIME_LAST = re.compile(
    rf"[^\S\n]*{_BOLD}{_SPEAKER}{_BOLD}\s*(?P<open>[\[(]){_CLOCK}{_UNTIL}[\])]{_COLON}"
)
# "Alice  0:12", the words on the lines below, or in the next paragraph
_TIME_ALONE = re.compile(
    rf"[^\S\n]*{_BOLD}{_SPEAKER}{_BOLD}(?P<open>[^\S\n]{{2,}}|\t|[^\S\n]*[\[(])?[^\S\n]?"
    rf"{_CLOCK}[\])]?{_BOLD}[^\S\n]*\n"
)
# "09:31:12 From Ada Park to Everyone:", as Zoom saves a chat, the words behind it or below
_ZOOM_CHAT = re.compile(
    r"(?P<open>)(?P<clock>\d{1,2}:\d{2}:\d{2})[ \t]+From[ \t]+(?P<speaker>[^\s:][^\n:]{0,60}?)"
    r"(?:[ \t]+to[ \t]+[^\n:]{1,80}?)?[ \t]*:[ \t]*(?:\n\t)?"
)
# "0:0:5.100 --> 0:0:8.250", then the name, then the words, as Teams wrote them at first
_TEAMS = re.compile(
    r"(?P<open>)(?P<clock>\d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3})[ \t]*-->[ \t]*[\d:.]{5,14}[ \t]*\n"
    r"(?P<speaker>[^\W\d_][^\n:]{0,59})\n"
)
# "00:05:00" on a line of its own: Google Meet's every five minutes, Otter's without a name
_LONE_TIME = re.compile(r"^[^\S\n]*(?P<clock>(?:\d{1,2}:)?\d{1,2}:\d{2})[^\S\n]*$", re.MULTILINE)
_UNTIMED = re.compile(rf"[^\S\n]*{_BOLD}{_SPEAKER}{_COLON}")
_NUMBER = re.compile(r"[#(]?(?:[\d.]+|[IVXLC]{2,})[.)]?[a-z]?")
_LINE = re.compile(r"^[^\S\n]*\S[^\n]*", re.MULTILINE)
_WITH_COLON = re.compile(rf"^[^\n:\uff1a]{{1,{REACH}}}[:\uff1a][^\n]*", re.MULTILINE)
# A heading, a rule, a time alone, and what programs say below and between the words.
_NAMED_CELL = re.compile(r" \| [^|:\n]{1,60}: ")
_INTERRUPTION = re.compile(
    r"^[^\S\n]{0,40}(?:#{1,6}\s.*|-{3,}|\*{3,}|={3,}|(?:\d{1,2}:)?\d{1,2}:\d{2}"
    r"|(?:Meeting|Transcription) ended after \d.{0,40}|Transcribed by https?://otter\.ai.{0,40}"
    r"|This editable transcript was computer generated.{0,200}"
    r"|[^\s:][^\n:]{0,60} (?:started|stopped) transcription)\s*$",
    re.MULTILINE,
)
_ENDS_SENTENCE = re.compile(
    r"[.?!\u2026\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*\s*$|[-\u2013\u2014]\s*$"
)

_PARTICLES_TEXT = "al bin da de del den der di dos du el ibn la le of ter the van von y and &"
_PARTICLES = frozenset(_PARTICLES_TEXT.split())
_DIARISED = ("speaker", "participant", "interviewer", "interviewee", "moderator", "unknown")
# Words of labels that are no names, such as "Section 1", "Next steps" and "Warning".
_NO_NAMES_TEXT = """
    abstract action actions address agenda aim amount answers appendix article assignee attendees
    attention author background bcc body budget caption category cause caution cc chapter clause
    comment comments conclusion contact contents context copyright cost country created
    critical date deadline debug decision decisions default definition definitions description
    discussion duration effect email end equipment error errors example examples exhibit expected
    fail failed fatal fax figure file files format from goal hint home http https id idea
    impact important info ingredients input instructions introduction item items keyword keywords
    key label language length level license line link list location mail meeting message method
    minutes mobile motion name names next no note notes notice number objective ok option options
    order output outcome owner page paragraph part participants pass password path phone place
    point port preparation present price priority problem process project purpose quantity
    question questions reason recipe recital ref reference references remark remarks remember
    reminder requirement result results risk risks rule schedule scene schema scope section see
    serves skip solution source start state status step steps subject subtotal summary table tag
    tags target task tasks tel telephone term terms test theme tip title to todo tool topic topics
    total type unit update updated url usage use username value venue version vote warn
    day prep cook time warning website weight when where which why width with yield zip
    """
_NO_NAMES = frozenset(_NO_NAMES_TEXT.split())


@dataclass(frozen=True, slots=True)
class Opening:
    """Where somebody may begin to speak."""

    start: int  # first character of the label or time stamp
    text_start: int  # first character of the words
    speaker: str | None  # the label; None where only the time is known
    time: float | None = None  # seconds, or None without a time stamp
    # the stamp is written as only transcripts do: in brackets, with seconds of an hour, or set
    # apart from the name
    sure: bool = False


def find_utterances(text: str) -> tuple[Utterance, ...]:
    """The utterances of a transcript, in order; empty when the text is not taken for one.

    An utterance lasts until the next one, or until a heading or a rule. What comes before the first
    belongs to nobody.
    """
    openings = _believed(text, list(_openings(text)))
    marks = _lone_times(text)
    openings = _timed_by(marks, openings) if openings else _of_nobody(text, marks)
    ends = [opening.start for opening in openings[1:]] + [len(text)] if openings else []
    return tuple(_utterance(text, *pair) for pair in zip(openings, ends, strict=True))


def _lone_times(text: str) -> list[tuple[int, float, int]]:
    """(start, seconds, end) of each line that is a time alone; none unless they ascend."""
    times = [(m.start(), seconds(m["clock"]), m.end()) for m in _LONE_TIME.finditer(text)]
    ascending = all(before[1] < after[1] for before, after in pairwise(times))
    return times if ascending else []


def _timed_by(marks: list[tuple[int, float, int]], openings: list[Opening]) -> list[Opening]:
    """The openings with the times of the lines above them, where they have none of their own."""
    if not marks or any(opening.time is not None for opening in openings):
        return openings
    starts = [start for start, _, _ in marks]
    at = (bisect_right(starts, opening.start) - 1 for opening in openings)
    return [
        replace(opening, time=marks[number][1]) if number >= 0 else opening
        for opening, number in zip(openings, at, strict=True)
    ]


def _of_nobody(text: str, marks: list[tuple[int, float, int]]) -> list[Opening]:
    """What is said from one time to the next by nobody knows whom; each has words below it."""
    words = [_first_word(text, end) for _, _, end in marks]
    if len(marks) < 2 or any(not text[at : at + 1].strip() for at in words):
        return []
    lines = sum(1 for _ in _LINE.finditer(text))
    if lines > 12 * len(marks) or 2 * sum(_is_speech(text, at) for at in words) < len(words):
        return []
    return [Opening(at, at, None, time) for (_, time, _), at in zip(marks, words, strict=True)]


def label(line: str) -> tuple[str, int] | None:
    """The name a line begins with, if it looks like one, and the offset past its colon."""
    match = _UNTIMED.match(line, 0, min(len(line), REACH))
    if match is None or not is_name(match["speaker"]):
        return None
    return match["speaker"].strip(), match.end()


def is_name(words: str) -> bool:
    """Whether a label could be a name: few words, capitals, not "Section 1" or "Warning"."""
    parts = re.sub(r"\([^()]*\)", " ", words).split()
    if not parts or len(parts) > LABEL_WORDS:
        return False
    if parts[0].casefold().startswith(_DIARISED):
        return True
    if all(part.casefold().strip(".") in _NO_NAMES or _NUMBER.fullmatch(part) for part in parts):
        return False
    return all(
        part in _PARTICLES or (not part[0].islower() and (part[-1] not in ".,;!?" or len(part) < 6))
        for part in parts
    )


def seconds(clock: str) -> float:
    """A clock as seconds: "1:02:03.5" is 3723.5, "12:31" is 751.0."""
    total = 0.0
    for field in clock.replace(",", ".").split(":"):
        total = total * 60 + float(field)
    return total


def _openings(text: str) -> Iterator[Opening]:
    """Every line that could open an utterance, with or without a time stamp."""
    for line in _WITH_COLON.finditer(text):
        opening = _timed(text, line) or _untimed(text, line)
        if opening is not None:
            yield opening


def _timed(text: str, line: re.Match[str]) -> Opening | None:
    reach = min(line.end(), line.start() + REACH)
    match = _ZOOM_CHAT.match(text, line.start(), min(line.end() + 2, line.start() + REACH))
    match = match or _TEAMS.match(text, line.start(), line.start() + REACH)
    match = match or _TIME_FIRST.match(text, line.start(), reach)
    match = match or _TIME_LAST.match(text, line.start(), reach)
    if match is None and line.end() - line.start() < REACH:
        match = _TIME_ALONE.match(text, line.start(), line.end() + 1)
        at = _below(text, match.end()) if match else 0
        if match is not None and not text[at : at + 1].strip():
            return None  # no words below it
    if match is None or not is_name(match["speaker"]):
        return None
    sure = match["open"] is not None or match["clock"].count(":") == 2
    at = _below(text, match.end()) if match.re is _TIME_ALONE else match.end()
    text_start = _first_word(text, at)
    return Opening(
        line.start(), text_start, match["speaker"].strip(), seconds(match["clock"]), sure
    )


def _below(text: str, at: int) -> int:
    """The beginning of the line from `at`, or of the one below where that is empty."""
    return at + 1 if text[at : at + 1] == "\n" else at


def _untimed(text: str, line: re.Match[str]) -> Opening | None:
    name = label(text[line.start() : min(line.end(), line.start() + REACH)])
    if name is None or _NAMED_CELL.search(text, line.start(), line.end()):
        return None  # "Item: Oar | Price: 12" is a row of a table
    return Opening(line.start(), _first_word(text, line.start() + name[1]), name[0])


def _first_word(text: str, at: int) -> int:
    """The first character from `at` that is not white space, over one newline at most."""
    while at < len(text) and text[at] != "\n" and text[at].isspace():
        at += 1
    if text[at : at + 1] == "\n" and text[at + 1 : at + 2].strip():
        return at + 1
    return at


def _believed(text: str, openings: Sequence[Opening]) -> list[Opening]:
    """The openings that make the text a transcript, or none."""
    lines = sum(1 for _ in _LINE.finditer(text)) if openings else 0
    timed = [opening for opening in openings if opening.time is not None]
    names = Counter(opening.speaker for opening in timed)
    if len(timed) >= 2 and lines <= 12 * len(timed):
        if len(names) < len(timed) or all(opening.sure for opening in timed):
            return [each for each in openings if each.time is not None or each.speaker in names]
        return []
    plain = _without_preface(openings)
    return plain if _converse(text, plain, lines) else []


def _without_preface(openings: Sequence[Opening]) -> list[Opening]:
    """From the first speaker who comes back: "Project: Remote" at the top is nobody."""
    counts = Counter(opening.speaker for opening in openings)
    for at, opening in enumerate(openings):
        if counts[opening.speaker] > 1:
            return list(openings[at:])
    return []


def _converse(text: str, openings: Sequence[Opening], lines: int) -> bool:
    """Whether untimed labels are speakers: two at least, who come back, in sentences, often."""
    speakers = {opening.speaker for opening in openings}
    if len(speakers) < 2 or len(openings) < 3 or 2 * len(openings) < 3 * len(speakers):
        return False
    spoken = sum(_is_speech(text, opening.text_start) for opening in openings)
    if 2 * spoken < len(openings):
        return False
    blocks = len(re.findall(r"\n\s*\n", text.strip())) + 1
    return 3 * len(openings) >= lines or 2 * len(openings) >= blocks > 3


def _is_speech(text: str, text_start: int) -> bool:
    """Whether the words on the line are a sentence, or many."""
    stop = text.find("\n", text_start)
    words = text[text_start : stop if stop >= 0 else len(text)]
    return bool(_ENDS_SENTENCE.search(words)) or len(words.split()) >= 8


def _utterance(text: str, opening: Opening, limit: int) -> Utterance:
    """The utterance from an opening to the next, without white space at its end."""
    interruption = _INTERRUPTION.search(text, opening.text_start, limit)
    limit = interruption.start() if interruption else limit
    end = opening.start + len(text[opening.start : limit].rstrip())
    start = opening.start + len(text[opening.start : end]) - len(text[opening.start : end].lstrip())
    text_start = min(opening.text_start, end)
    return Utterance(start, end, text_start, speaker=opening.speaker, time=opening.time)
