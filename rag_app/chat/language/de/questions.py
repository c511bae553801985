"""Templates of German questions: from a statement to the question that it answers."""

from __future__ import annotations

import re

from rag_app.chat.welcome.templates import Templates, asking, lower

_THING = r"(?P<thing>(?:[Dd]er|[Dd]ie|[Dd]as|[Ee]ine?|[Jj]ede[rs]?) [\wäöüß' -]{3,45}?)"
_NUMBER = r"(?:\d[\d.,]*|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend)"
_MONTH = (
    r"(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Frühjahr"
    r"|Frühling|Sommer|Herbst|Winter)"
)
_DAY = r"(?:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag)"
_DATE = (
    rf"(?:(?:im Jahr(?:e)? )?(?:1[5-9]|20)\d\d|(?:im|seit|ab|Ende|Anfang|Mitte) {_MONTH}"
    rf"|(?:am|vom|ab|zum|bis)(?: dem)? (?:{_DAY}|\d{{1,2}}\. ?(?:{_MONTH}|\d))"
    rf"|um \d|im Jahr)"
)
_DONE = (
    r"(?:gegründet|gebaut|erbaut|eröffnet|geschlossen|veröffentlicht|eingeführt|beschlossen"
    r"|genehmigt|begonnen|unterzeichnet|abgeschlossen|geschrieben|herausgegeben|fertiggestellt"
    r"|verabschiedet|gestartet|gewählt|saniert|renoviert|verfasst|entworfen)"
)
_LEANS = re.compile(
    r"\b(?:er|sie|es|ihn|ihm|ihr|ihre[mnrs]?|sein|seine[mnrs]?|wir|uns|unser|unsere[mnrs]?|ich|mich"
    r"|mir|mein|meine[mnrs]?|du|dich|dir|dein|deine[mnrs]?|euch|dies|diese[mnrs]?|jene[mnrs]?|hier"
    r"|dort|da|dann|so|solche[mnrs]?|andere[mnrs]?|heute|morgen|gestern|davon|dafür|damit|dazu"
    r"|darüber|derselbe|dieselbe|dasselbe)\b",
    re.I,
)


def _was(match: re.Match[str]) -> str:
    thing, be, verb = lower(match["thing"]), match["be"], match["verb"]
    opening = "Von wem" if match["who"] else "Wann"
    return f"{opening} {be} {thing} {verb}?"


def _high(match: re.Match[str]) -> str:
    be = {"beträgt": "ist", "betragen": "sind", "betrug": "war", "betrugen": "waren"}
    return f"Wie hoch {be[match['verb']]} {lower(match['thing'])}?"


_FACTS = (
    (
        re.compile(
            rf"^{_THING} (?P<be>wurden?) (?:(?P<who>von (?!(?:der|dem|den)\b)[A-ZÄÖÜ])|{_DATE})"
            rf"[^,;:]{{0,60}}?(?P<verb>{_DONE})\b"
        ),
        _was,
    ),
    (
        re.compile(
            rf"^{_THING} (?P<verb>beträgt|betragen|betrug|betrugen) "
            rf"[^,;]{{0,20}}?{_NUMBER}"
        ),
        _high,
    ),
    asking(
        "Wie lange {verb} {thing}?",
        rf"^{_THING} (?P<verb>dauer(?:t|te|n|ten)) [^,;]{{0,20}}?(?:{_NUMBER}|eine?n?) ",
    ),
    asking(
        "Wie viel {verb} {thing}?",
        rf"^{_THING} (?P<verb>kost(?:et|ete|en|eten)) [^,;]{{0,20}}?{_NUMBER}",
    ),
    asking(
        "Wer wurde {what} {verb}?",
        r"^(?P<who>(?:Frau|Herr|Dr\.|[A-ZÄÖÜ]\w+) [A-ZÄÖÜ][\w-]+) wurde (?P<what>zu[rm] "
        r"[\wäöüß -]{5,50}?) (?P<verb>gewählt|ernannt|bestellt|berufen)\b",
    ),
    asking(
        "Warum {be} {thing} {verb}?",
        rf"^{_THING} (?P<be>wurden?) (?P<verb>ge\w+|\w+ge\w+t|ver\w+t|be\w+t), (?:weil|da) ",
    ),
    asking(
        "Wann {verb} {thing} {state}?",
        rf"^{_THING} (?P<verb>bleib(?:t|en)|ist|sind) [^,;]{{0,40}}?{_DATE}[^,;]{{0,20}}? "
        r"(?P<state>geschlossen|geöffnet|gesperrt)\b",
    ),
    asking(
        "Wann {verb} {thing}?",
        rf"^{_THING} (?P<verb>beginnt|startet|öffnet|endet|schließt)(?: wieder)? {_DATE}",
    ),
    asking(
        "Was ist mit „{term}“ gemeint?",
        r"[„»\"](?P<term>[A-ZÄÖÜ][\w -]{2,40})[“«\"] (?:bedeutet|bezeichnet|meint) ",
    ),
    asking(
        "Wann {be} {thing} {verb}?",
        r"\bbeschlossen, dass (?P<thing>(?:der|die|das) [\wäöüß -]{3,45}?) "
        rf"{_DATE}[^,;]{{0,20}}? (?P<verb>\w+t) (?P<be>wird|werden)\b",
    ),
    asking(
        "Was wurde über {thing} beschlossen?",
        r"\bbeschlossen, (?P<thing>(?:die|das|den|eine|ein|einen) [\wäöüß -]{3,45}?) "
        r"(?:zu \w+|\w+zu\w+en)\b",
    ),
)


def _about(word: str, text: str, spoken: bool) -> str:
    """What is said about a thing that is named in a text; its noun has a capital there."""
    named = re.findall(rf"\b([dD]ie|[dD]as) ({re.escape(word.capitalize())})\b", text)
    if len(named) < 3:
        return ""
    article, noun = named[0]
    return f"Was {'wurde' if spoken else 'wird'} über {article.lower()} {noun} gesagt?"


TEMPLATES = Templates(
    _FACTS,
    (),
    _LEANS,
    _about,
    "Was wurde in {title} beschlossen?",
    "Wer sprach in {title}?",
    "Fasse {title} zusammen",
)
