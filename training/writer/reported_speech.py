"""A sentence of evidence -> a sentence of an answer, by rules: reported speech, a clause, a reply.

These are the targets that the writer learns from where no person wrote one that its evidence
supports. No rule adds a word that carries meaning.
"""

from __future__ import annotations

import re
from collections.abc import Container
from random import Random

from indexing.text.disfluency import remove_disfluencies
from indexing.text.terms import content_stems

MOST_WORDS = 32  # of a sentence of an answer
_EDGE = " ,;:-\u2013\u2014"

_LEAD = re.compile(
    r"^(?:(?:so|and|but|or|well|okay|ok|yeah|yes|no|right|now|then|also|oh|ah|because|alright|"
    r"all right|basically|actually|anyway|i mean|you know|i think|i guess|i suppose|i believe|"
    r"like|uh|um|mm|hmm|cause|'cause|plus|though|i would say|i'd say)\b\s*,?\s*)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\s*[,;:]\s+|\s+(?=(?:and|but|so|because|which|where)\s)|\s+[-\u2013\u2014]+\s+"
)
_PERSONS = [
    (r"\bI'm\b", "they are"), (r"\bI am\b", "they are"), (r"\bI was\b", "they were"),
    (r"\bI've\b", "they have"), (r"\bI'll\b", "they will"), (r"\bI'd\b", "they would"),
    (r"\bI\b", "they"), (r"\bmyself\b", "themselves"), (r"\bmy\b", "their"), (r"\bme\b", "them"),
    (r"\bmine\b", "theirs"), (r"\bwe're\b", "they are"), (r"\bwe've\b", "they have"),
    (r"\bwe'll\b", "they will"), (r"\bwe'd\b", "they would"), (r"\bwe\b", "they"),
    (r"\bours\b", "theirs"), (r"\bour\b", "their"), (r"\bus\b", "them"),
    (r"\bourselves\b", "themselves"),
]  # fmt: skip
_THIRD = [(re.compile(pattern, re.IGNORECASE), to) for pattern, to in _PERSONS]
_ADDRESS = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_VERBS = ("said that", "said that", "said that", "explained that", "stated that", "mentioned that")
_ROLE = re.compile(
    r"^(?:Project Manager|Marketing|User Interface|Industrial Designer|Chair|Professor$|Postdoc$)"
)


def clause(text: str, wanted: Container[str], *, most: int = MOST_WORDS) -> str:
    """The run of clauses that has most of the wanted stems; "" where none will do."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    best, best_score = "", 0.0
    for i, start in enumerate(cuts[:-1]):
        for end in cuts[i + 1 :]:
            part = _LEAD.sub("", text[start:end]).strip(_EDGE)
            words = len(part.split())
            if words > most:
                break
            hits = len({stem for stem in content_stems(part) if stem in wanted})
            score = hits - 0.06 * words
            if words >= 5 and hits and score > best_score and _stands_alone(part, first=not i):
                best, best_score = part, score
    return best


def _stands_alone(part: str, *, first: bool) -> bool:
    """Whether a part of a sentence may be one: it begins with a subject, and is not broken off."""
    words = part.split()
    start, last = words[0], words[-1].strip(".!?,;:").lower()
    begins = first or start.lower() in _SUBJECTS or start[0].isupper()
    whole = part.count("(") == part.count(")") and not part.count('"') % 2
    return begins and whole and last not in _OPEN


def reported(speaker: str, text: str, random: Random) -> str:
    """What a speaker said as a sentence about it; "" where the rules do not hold for it."""
    text = _LEAD.sub("", remove_disfluencies(text)).strip(_EDGE)
    addressed = _ADDRESS.search(text) and len(text.split()) < 6
    if not text or text.endswith("?") or addressed:
        return ""
    for pattern, to in _THIRD:
        text = pattern.sub(to, text)
    text = text.rstrip(".!?,;: ")
    first = text.split(" ", 1)[0]
    if first.lower() in _LOWER and not first.isupper():
        text = text[0].lower() + text[1:]
    who = f"The {speaker}" if _ROLE.match(speaker) else speaker
    return f"{who} {random.choice(_VERBS)} {text}."


_LOWER_WORDS = """
    the a an this that these those they it there he she if when in on for with we you their his
    her its most some many all each every no not one two three people what how why where by at as
    from after before about to would could should maybe perhaps our only even just both since while
    until once any another other such more less usually probably sometimes often first second"""
_LOWER = frozenset(_LOWER_WORDS.split())


_SUBJECTS_WORDS = """
    the a an this that these those they it there he she we you i i'm i've i'd it's that's he's
    she's they're we're you're there's their his her its our my your most some many all each every
    no two three people"""
_SUBJECTS = frozenset(_SUBJECTS_WORDS.split())
_OPEN_WORDS = """
    the a an which where who that and or but so because if of in on at for with from by to as into
    than is are was were be have has had do does did not you i we they he she it's i'm we're they're
    my our their your uh um like or's there's what how why when would could should can will"""
_OPEN = frozenset(_OPEN_WORDS.split())


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    text = text.strip(_EDGE)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


# --- replies: question and answer in one sentence ------------------------------------------------

_SUBJECT = re.compile(
    r"^(who|what|which [\w-]+(?: [\w-]+)?|what [\w-]+)\s+"
    r"(?!(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|of|in)\b)"
    r"(\w+(?:ed|s|d|t|ew|ote|ang|on|ook|ade|ave))\b(.*)\?$",
    re.IGNORECASE,
)
_BE = re.compile(
    r"^(what|who|where) (is|was|are|were) ((?:the|a|an|this|his|her|their|its|[A-Z])\b.*)\?$", re.I
)
_PASSIVE = re.compile(
    r"^(when|where|in what year|what year) (is|was|are|were) (.+) "
    r"(\w+(?:ed|en|un|ilt|ught|old|eld|ade))\?$",
    re.I,
)
_UNSURE = re.compile(
    r"\b(?:to \w+|like|\w+ing|called|known|named|\w+ed)$|"
    r"\b(?:of|in|on|at|for|with|from|by|to|about|as|into|than|after|out|up|made|given|and)$|"
    r"\b(?:being|looking|trying|going|having|like with|considered|supposed|used|able)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(in|on|at|since|from|by|during|around|near|about)\s+(?:the\s+)?$", re.I
)


def reply(question: str, answer: str, before: str) -> str:
    """The question's words with the answer in them; "" where no rule is safe.

    Args:
        question: Ends with "?".
        answer: The words that answer.
        before: What stands before them in the evidence.
    """
    answer = answer.strip(' ,;:.!?"')
    question = " ".join(question.split())
    if not 1 <= len(answer.split()) <= 12:
        return ""
    if match := _SUBJECT.match(question):
        return sentence(f"{answer} {match[2]}{match[3]}")
    if match := _PASSIVE.match(question):
        place = _PREPOSITION.search(before[-20:])
        return sentence(f"{match[3]} {match[2]} {match[4]} {place[0]}{answer}") if place else ""
    if match := _BE.match(question):
        if _UNSURE.search(match[3]) or len(match[3].split()) > 8 or match[1].lower() == "where":
            return ""
        return sentence(f"{match[3]} {match[2]} {answer}")
    return ""
