"""The kind of value that a question asks for, more closely than its type: money, a clock time, ...

"What does it cost?" is not answered by just any number, nor "At what time?" by a date. A value that
the question itself says answers nothing. Words and forms of English and German.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexing.text.days.in_words import DAY
from indexing.text.english import MONTHS, ORDINALS, TENS, UNITS
from indexing.text.tables import is_row

_NUMBERS = "|".join([*UNITS[1:], *TENS, "hundred", "thousand", "million", "dozen", "half"])
_HOURS = "|".join(UNITS[1:13])
_MONTHS = "|".join(month for month in MONTHS if month != "May")
_DAYS = "|".join([*ORDINALS, "twentieth", "thirtieth", "(?:twenty|thirty)-[a-z]+"])
_GERMAN_NUMBERS = (
    r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w*(?:zehn|zig|hundert|tausend)"
)
_CURRENCY = (
    r"pounds?|dollars?|euros?|cents?|pence|francs?|crowns?|kron(?:or|er|e)|eur|gbp|usd|chf|sek|nok"
    r"|dkk|franken|rappen|quid|[km]?€|£|\$|p\b"
)

_UNCOUNTED = r"(?! (?:(?!this|\w{3,}days)\w{3,}s|per|hundred|thousand|million|more|other)\b)"
_NUMBERED = (
    "claim|permit|serial|account|policy|invoice|order|reference|accession|registration|licen[cs]e"
    "|contract|booking|case|file|tracking|part|ticket|membership|customer|tax|model"
    "|lock|door|gate|access|alarm"
)


def _any(*forms: str) -> str:
    return "|".join(forms)


_CLOCK = _any(
    r"\b(?:[01]?\d|2[0-3])[:.][0-5]\d\b(?!\.?\d)",
    r"\b\d{1,2} ?[ap]\.?m\b",
    r"\b\d{1,2} ?uhr\b",
    r"o'clock|\b(?:noon|midnight|lunchtime|mittags?|mitternacht)\b",
    rf"\b(?:half|quarter|five|ten|twenty) (?:past|to) (?:{_HOURS})\b",
    rf"\b(?:at|by|until|till|from|to|before|after) (?:about )?(?:{_HOURS})\b{_UNCOUNTED}",
    r"\bhalb \w+\b|\bviertel (?:vor|nach) \w+",
)
_DATE = _any(
    rf"\b(?:{_MONTHS})\b",
    r"\b(?:in|of|until|by|since|before|after|from) May\b",
    r"\bMay (?:\d|the)|\d(?:st|nd|rd|th)? (?:of )?May\b",
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    rf"\bthe (?:{_DAYS})\b",
    r"\b(?:19|20)\d\d\b|\b\d{1,2}\.\s?\d{1,2}\.|\d{1,2}/\d{1,2}",
    r"\b\d{1,2}\. (?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)",
    r"\b(?:januar|februar|märz|mai|juni|juli|oktober|dezember)\b",
    r"\b(?:mon|diens|donners|frei|sams|sonn)tags?\b|\bmittwochs?\b",
    r"\b(?:tomorrow|yesterday|easter|christmas|end of|morgen|gestern|ostern|weihnachten)\b",
    r"\bnext (?:week|month|year|term|spring|summer|autumn|winter)\b",
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of value."""

    name: str
    asked: re.Pattern[str]  # what questions that ask for it have
    given: re.Pattern[str]  # what a value of it looks like


def _slot(name: str, asked: str, given: str) -> Slot:
    return Slot(name, re.compile(asked, re.IGNORECASE), re.compile(given, re.IGNORECASE))


SLOTS = (
    _slot(
        "phone",
        _any(
            r"\b(?:(?:tele)?phone|mobile|cell|fax) (?:number|no|nr)\b",
            r"\b(?:telefon|handy|ruf|pikett|fax)(?:nummer|nr)\b",
        ),
        r"\+?\d[\d ()/-]{4,}\d",
    ),
    _slot(
        "identifier",
        _any(
            rf"\b(?:{_NUMBERED}) (?:number|no|nr|id|code|ref(?:erence)?)\b",
            rf"\b(?:number|code) of (?:the|our|my|your|his|her|its|their) (?:{_NUMBERED})\b",
            r"\b(?:serien|konto|rechnungs|auftrags|kunden|vertrags|akten|inventar|mitglieds|steuer"
            r"|versicherungs|bestell|melde|artikel)(?:nummer|nr)\b|\b(?:kenn|akten)zeichen\b",
        ),
        _any(
            r"(?<![\w.,:£$€-])(?!(?:19|20)\d\d\b|\d{4}-\d\d-\d\d|\d{3}-\d{3}-\d)"
            r"\d(?:[-/]?\d){3,}[\w/-]*",
            r"(?-i:\b[A-Z][A-Z\d]*[-/ ]?\d[-/]?\d[\w/-]*)",
        ),
    ),
    _slot(
        "share",
        _any(
            r"\b(?:what|which|how many) (?:per ?cent|share|proportion)",
            r"\bpercentage\b|\bwie ?viel prozent|\bwelcher (?:anteil|prozentsatz)",
        ),
        _any(
            r"\d ?%|\bper ?cent\b|\bprozent\b",
            r"\b(?:a|one|two) (?:half|third|quarter|fifth)s?\b",
        ),
    ),
    _slot(
        "clock",
        _any(
            r"\b(?:what|which) time\b|\bat what hour\b|\bwhat hour\b",
            r"\bum wie ?viel uhr|\bwie spät|\bvon wann bis wann",
        ),
        _CLOCK,
    ),
    _slot(
        "money",
        _any(
            r"\bhow much\b.*\b(?:costs?|pays?|paid|paying|charge\w*|spen[dt]\w*|worth|money)\b",
            r"\bhow much (?:is|are|was|were|for) (?:a|an|the|one|each|your|our)\b",
            r"\bhow much\b.*\b(?:price\w*|earn\w*|budget\w*|ow(?:e\w*|ing)|rent|raise\w*)\b",
            r"\bhow much\b.*\b(?:receiv\w*|fees?|fund\w*|deposit|grant\w*)\b",
            r"\b(?:costs?|prices?|fees?|fare|salary|rent|deposit)\b(?! (?:cut|us|them|you))",
            r"\bwhat (?:is|was|are|were) the (?:\w+ ){0,3}(?:budget|rate|amount|sum|allowance)\b",
            r"\b(?:bonus|wages|total price)\b",
            r"\bhow (?:much|high)\b.*\b(?:bill|fine|penalty|premium)\b",
            r"\b(?:bill|fine|penalty|premium)\b.*\bhow much\b",
            r"\bwhat\b.*\b(?:in|of) (?:pounds|dollars|euros?|francs|kronor)\b",
            r"\bhow many (?:pounds|dollars|euros?|francs|kronor)\b",
            r"\b(?:was|wieviel|wie viel) (?:kostet|verlangt|verrechnet|zahlt|zahlen|bezahl\w+)\b",
            r"\b(?:konventionalstrafe|busse|bonus|prämie|rechnungsbetrag|lohn)\b",
            r"\b(?:kostet|kosten|preis|teuer|gebühr\w*|miete|betrag|summe|honorar)\b",
        ),
        _any(
            rf"[£$€]\s?\d|\d\s?(?:{_CURRENCY})|\b(?:{_NUMBERS}) (?:{_CURRENCY})",
            r"\b(?:thousand|hundred|million|grand|free|kostenlos)\b",
            r"\b(?:eur|chf|gbp|usd|sek|nok|dkk|fr\.)\s?\d",
            r"\d[ ,.]\d{3}\b|\d[,.]\d\d\b|\d-\b",
        ),
    ),
    _slot(
        "date",
        _any(
            r"\b(?:what|which) (?:date|day|month|year|week)\b|\bdate (?:of|for)\b|\bdeadline\b",
            r"\b(?:until|since|by|from|and|but|so|then) when\b",
            r"^(?:(?!\b(?:what|who|why|how|which)\b).)*\bwhen\b",
            r"\bwann\b|\bwelche[mnrs]? (?:tag|datum|monat|jahr|woche)\b",
        ),
        _any(_DATE, _CLOCK),
    ),
    _slot(
        "duration",
        _any(
            r"\bhow (?:long|soon|late|early)\b|\bwie lange\b",
            r"\bhow many (?:hours|minutes|days|weeks|months|years)\b",
            r"\bwie ?viele? (?:stunden|minuten|tage|wochen|monate|jahre)\b",
        ),
        _any(
            r"\b(?:second|minute|hour|day|night|week|fortnight|month|term|season|year|century)s?\b",
            r"\b(?:sekunde|minute|stunde|tag|nacht|woche|monat|jahr)(?:n|en|e)?\b",
            r"\b\d+ ?(?:h|min|hrs?)\b|\bimmediately\b|\bat once\b",
        ),
    ),
    _slot(
        "number",
        _any(
            r"\bhow (?:many|often|much|far|big|large|high|deep|old|tall|wide|heavy|thick)\b",
            r"\bwie ?(?:viele?|oft|hoch|gross|groß|weit|tief|alt|schwer|dick)\b",
        ),
        _any(
            rf"\d|\b(?:{_NUMBERS}|{_GERMAN_NUMBERS})\b",
            r"\b(?:none|nobody|no one|once|twice|both|couple|keine?r?|einmal|zweimal)\b",
        ),
    ),
)
"""In this order: "what percentage" before "how many", "what time" before "when"."""


_DIGITS = re.compile(r"(?<![.,\d])\d{3}")
_AMOUNT = re.compile(r"(?<![\w.,-])\d[\d.,]*(?![\w-])")
_YES_OR_NO = re.compile(
    r"\W*(?:was(?= (?:the|an?|it|there|he|she|they|this|that|any|our|your|all|(?-i:[A-Z])\w*)\b)"
    r"|is|are|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would"
    r"|ist|sind|war|waren|hat|haben|hatte|kann|können|darf|dürfen|muss|müssen|soll|wird|wurde)\b",
    re.IGNORECASE,
)


def asked_slot(question: str) -> Slot | None:
    """The kind of value that a question asks for; None where its words do not tell.

    Nor where it is answered by yes or no ("Was the deposit repaid?").
    """
    line = " ".join(question.split())
    if _YES_OR_NO.match(line):
        return None
    return next((one for one in SLOTS if one.asked.search(line)), None)


def fills(slot: Slot, question: str, text: str) -> bool:
    """Whether a text has a value of a kind which the question does not say itself."""
    said = _values(slot, question)
    if slot.name in {"phone", "identifier"} and is_row(text):  # "Telephone: 4471"
        return _DIGITS.search(DAY.sub("", text)) is not None
    if slot.name == "money" and is_row(text):  # cells have no currency where their column has it
        return not {*_AMOUNT.findall(DAY.sub("", text))} <= {*_AMOUNT.findall(question)}
    return not _values(slot, text) <= said


def _values(slot: Slot, text: str) -> set[str]:
    """The values in a text, in lower case, with the digits around them."""
    spans = (_with_digits(text, *match.span()) for match in slot.given.finditer(text))
    return {" ".join(text[start:end].lower().split()).strip(".,") for start, end in spans}


def _with_digits(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with the rest of the number that it begins or ends in."""
    while start > 0 and (text[start - 1].isdigit() or text[start - 1] in ".,£$€"):
        start -= 1
    while end < len(text) and (text[end].isdigit() or text[end : end + 2].lstrip(".,").isdigit()):
        end += 1
    return start, end
