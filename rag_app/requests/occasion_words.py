"""The words by which a question names a time or people, for each language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from indexing.text.english import MONTHS
from indexing.text.language import ENGLISH
from rag_app.requests.wording import GERMAN


@dataclass(frozen=True, slots=True)
class OccasionWords:
    """How one language names the time of a meeting, and its people."""

    language: str
    # patterns by name. Their groups are `time`, or `since` (`first`) and `until`, or `names`, or
    # `kind` of a latest meeting
    forms: Mapping[str, re.Pattern[str]]
    speech: re.Pattern[str]  # words of what people do in meetings, or of meetings themselves
    # words of matter between such a word and a time that is still that of the meeting: "Was sagte
    # Ada im März?"
    subjects: int
    verbs_last: bool  # whether what was done may stand behind its time: "im März beschlossen"
    # what begins the matter of a question, so that a time after it is of the matter
    matter: re.Pattern[str]
    meeting: re.Pattern[str]  # words of meetings alone
    year: re.Pattern[str]  # a year alone
    # what a mention may begin with, and what stands there before a name instead
    prepositions: Mapping[str, str]
    # patterns of times relative to today, by what they are in English
    relative: Mapping[str, re.Pattern[str]]
    months: Mapping[str, int]  # the number of each month, by the beginning of its name
    after: frozenset[str]  # words that leave out the time that they name
    before: frozenset[str]  # the same, of times until
    # before a meeting: the question is about what lies outside it ("since the June meeting"), and
    # limited to nothing
    outside: re.Pattern[str]
    both: str  # "and"


def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form.replace(" ", r"\s+"), re.IGNORECASE)


def _all_compiled(forms: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: _compiled(form) for name, form in forms.items()}


# --- English ------------------------------------------------------------------------------------

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
_DAY_IN_DIGITS = r"\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}"
_DAY = (
    rf"(?:{_DAY_IN_DIGITS}|(?:the )?{_DAY_OF_MONTH} (?:of )?{_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH} {_DAY_OF_MONTH}(?:,? \d{{4}})?)"
)
_YEAR = r"(?:19|20)\d{2}"
_TIME = rf"(?:{_DAY}|{_MONTH}(?:,? \d{{4}})?|\d{{4}}-\d{{2}}|{_YEAR})"
_RELATIVE = r"(?:yesterday|today|(?:this|last) (?:week|month|year))"
_LATEST = r"(?:last|latest|most recent|previous)"
_IN = r"(?:in|during|at|of|from|on|for)"

ENGLISH_OCCASIONS = OccasionWords(
    language=ENGLISH,
    forms=_all_compiled(
        {
            # "in the last meeting", "at our most recent budget call"
            "latest": rf"\b(?:{_IN} )?(?:{_THE}){_LATEST} (?P<kind>{_ONE_WORD})(?:{_MEETING})\b",
            # "in the meeting of 12 May", "in meetings from March"
            "meeting": rf"\b(?:{_IN} )?{_WHICH} (?:of|on|from|in|held on) "
            rf"(?P<time>{_TIME}|{_RELATIVE})(?![\w-])",
            # "at the 12 May meeting"
            "dated": rf"\b(?:{_IN} )?(?:the|our|my|your) (?P<time>{_TIME}) {_ONE_WORD}{_MEETING}"
            r"(?![\w-])",
            "week": rf"\b(?:{_IN} )?(?P<time>{_RELATIVE})'s {_ONE_WORD}{_MEETING}\b",
            "between": rf"\b(?:between (?P<since>{_TIME}) and"
            rf"|from (?P<first>{_TIME}) (?:to|until|till)) (?P<until>{_TIME})(?![\w-])",
            "since": rf"\b(?:since|after) (?P<since>{_TIME})(?: on| onwards)?(?![\w-])",
            "until": rf"\b(?:until|till|before|up to) (?P<until>{_TIME})(?![\w-])",
            "in": rf"\b(?:in|during|on|from) (?P<time>{_TIME})(?![\w-])",
            "relative": rf"\b(?P<time>{_RELATIVE})(?![\w'’-])",  # noqa: RUF001
            # "in the meeting with Bob", "in calls with Ada Park and Bob"
            "with": rf"\b(?:{_IN} )?{_WHICH} with (?P<names>[^?!.,;]{{1,120}})",
        }
    ),
    speech=re.compile(
        r"\b(?:sa(?:y|ys|id|ying)|talk(?:ed|ing)?|discuss(?:ed|ion|ions)?|decide[ds]?|decisions?"
        r"|agree[ds]?|mention(?:ed|s)?|ask(?:ed)?|propose[ds]?|suggest(?:ed|s)?|raise[ds]?|met"
        r"|attend(?:ed|ees?)?|spoke|speakers?|promise[ds]?|reported"
        r"|action (?:items?|points?)|actions|to-?dos?|next steps|meetings?|calls?|stand-?ups?"
        r"|sessions?|transcripts?|interviews?|recordings?)\b",
        re.IGNORECASE,
    ),
    subjects=0,
    verbs_last=False,
    matter=_compiled(r"\b(?:about|regarding|concerning|whether)\b"),
    meeting=_compiled(rf"\b{_MEETING}\b"),
    year=_compiled(rf"{_YEAR}|(?:this|last) year"),
    prepositions={word: word for word in ("in", "during", "at", "of", "from", "on", "for")},
    relative={
        name: _compiled(name)
        for name in (
            "today",
            "yesterday",
            "this week",
            "last week",
            "this month",
            "last month",
            "this year",
            "last year",
        )
    },
    months={name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)},
    after=frozenset({"after"}),
    before=frozenset({"before"}),
    outside=_compiled(r"\b(?:since|after|before|until|till|than) $"),
    both="and",
)

# --- German -------------------------------------------------------------------------------------

_SITZUNG = (
    r"(?:besprechung(?:en)?|sitzung(?:en)?|meetings?|treffens?|protokolle?n?|protokolls"
    r"|transkripte?n?|aufnahmen?|gespräche?n?|gesprächs|interviews?|workshops?|konferenz(?:en)?"
    r"|telefonate?n?|calls?)"
)
_DER = r"(?:der|die|das|dem|den|des|unsere[rmns]?|meine[rmns]?|eure[rmns]?|diese[rmns]?) "
_EIN_WORT = r"(?:[^\W\d_][\w-]{1,20} )?"
_ART = r"(?:[^\W\d_][\w-]{0,20}?)?"  # "Budgetsitzung", "Team-Besprechung"
_WELCHE = rf"(?:(?:{_DER}|alle[rn]? ){_EIN_WORT})?{_ART}{_SITZUNG}"
_MONAT = r"(?:jan(?:uar)?|jänner|feb(?:ruar)?|mär(?:z)?|apr(?:il)?|mai|juni?|juli?|aug(?:ust)?"
_MONAT += r"|sept?(?:ember)?|okt(?:ober)?|nov(?:ember)?|dez(?:ember)?)"
_TAG = rf"(?:{_DAY_IN_DIGITS}|\d{{1,2}}\. ?{_MONAT}(?: \d{{4}})?)"
_ZEIT = rf"(?:{_TAG}|{_MONAT}(?: \d{{4}})?|\d{{4}}-\d{{2}}|{_YEAR})"
_LETZTE = r"(?:letzte[nrms]?|vorige[nrms]?|vergangene[nrms]?)"
_DIESE = r"diese[nrms]?"
_RELATIV = rf"(?:gestern|heute|(?:{_DIESE}|{_LETZTE}) (?:woche|monats?|jahre?s?))"
_NEUESTE = r"(?:letzte[nrms]?|vorige[nrms]?|jüngste[nrms]?|neu(?:e)?ste[nrms]?)"
_BEI = r"(?:in|im|bei|beim|von|vom|aus|an|am|auf|während|zu|zum|zur|für)"
_BEIM = r"(?:im|beim|vom|am|zum|zur)"  # with the article in them

GERMAN_OCCASIONS = OccasionWords(
    language=GERMAN,
    forms=_all_compiled(
        {
            # "in der letzten Sitzung", "beim jüngsten Treffen"
            "latest": rf"\b(?:{_BEIM} |(?:{_BEI} )?{_DER}){_NEUESTE} "
            rf"(?P<kind>{_EIN_WORT}{_ART}){_SITZUNG}\b",
            # "in der Sitzung vom 12. Mai", "in Besprechungen aus dem März"
            "meeting": rf"\b(?:{_BEI} )?{_WELCHE} (?:vom|von|am|aus|im|in|des)(?: dem| der| den)? "
            rf"(?P<time>{_ZEIT}|{_RELATIV})(?![\w-])",
            # "in der Märzsitzung"
            "dated": rf"\b(?:{_BEI} )?{_DER}(?P<time>{_MONAT})-?{_SITZUNG}\b",
            # "in der gestrigen Sitzung"
            "week": rf"\b(?:{_BEIM} |(?:{_BEI} )?{_DER})(?P<time>gestrigen?|heutigen?) "
            rf"{_ART}{_SITZUNG}\b",
            "between": rf"\b(?:zwischen(?: dem)? (?P<since>{_ZEIT}) und(?: dem)?"
            rf"|vo[nm] (?P<first>{_ZEIT}) bis(?: zum)?) (?P<until>{_ZEIT})(?![\w-])",
            "since": rf"\b(?:seit|nach|ab)(?: dem)? (?P<since>{_ZEIT})(?![\w-])",
            "until": rf"\b(?:bis|vor)(?: zum| dem)? (?P<until>{_ZEIT})(?![\w-])",
            "in": rf"\b(?:im|in|am|vom|aus)(?: dem)?(?: monat| jahre?)? (?P<time>{_ZEIT})(?![\w-])",
            "relative": rf"\b(?:im |in (?:der )?)?(?P<time>{_RELATIV})(?![\w-])",
            "with": rf"\b(?:{_BEI} )?{_WELCHE} mit (?P<names>[^?!.,;]{{1,120}})",
        }
    ),
    speech=re.compile(
        r"\b(?:(?:ge)?sag(?:t|te|ten|en)|(?:ge|be|ver)sprochen|(?:be)?spr(?:ach|achen|echen|icht)"
        r"|redet?en?|geredet|diskutier\w+|diskussion(?:en)?|beschlossen|beschloss(?:en)?"
        r"|beschl[uü]ss\w*|entsch(?:ied|ieden|eiden|eidung|eidungen)|vereinbar\w+|festgelegt"
        r"|erwähn\w*|(?:ge)?frag(?:t|te|ten)|vorgeschlagen|vorschl[aä]g\w*|bericht(?:et|ete|eten)"
        r"|teilgenommen|teilnehmer(?:innen)?|dabei|anwesend|sprecher(?:innen)?|aufgaben"
        rf"|nächsten? schritte|maßnahmen|[\w-]{{0,20}}{_SITZUNG})\b",
        re.IGNORECASE,
    ),
    subjects=1,
    verbs_last=True,
    matter=_compiled(r"\b(?:über|zu|zum|zur|wegen|bezüglich|dass|ob)\b"),
    meeting=_compiled(rf"\b[\w-]{{0,20}}{_SITZUNG}\b"),
    year=_compiled(rf"{_YEAR}|(?:{_DIESE}|{_LETZTE}) jahre?s?"),
    prepositions=dict.fromkeys((*_BEI[3:-1].split("|"),), "in"),
    relative=_all_compiled(
        {
            "today": r"heute|heutigen?",
            "yesterday": r"gestern|gestrigen?",
            "this week": rf"{_DIESE} woche",
            "last week": rf"{_LETZTE} woche",
            "this month": rf"{_DIESE} monats?",
            "last month": rf"{_LETZTE} monats?",
            "this year": rf"{_DIESE} jahre?s?",
            "last year": rf"{_LETZTE} jahre?s?",
        }
    ),
    months=dict(
        zip(
            ("jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"),
            range(1, 13),
            strict=True,
        )
    )
    | {"jän": 1},
    after=frozenset({"nach"}),
    before=frozenset({"vor"}),
    outside=_compiled(r"\b(?:seit|nach|vor|bis|als) $"),
    both="und",
)

OCCASION_WORDS = (ENGLISH_OCCASIONS, GERMAN_OCCASIONS)
