"""True sentences made by rule: from a question and its answer, from a sentence, from speech."""

from __future__ import annotations

import random
import re

_PAST = (
    "won|wrote|made|led|built|became|began|came|did not|died|fell|found|gave|went|had|held|"
    "invented|joined|left|lost|met|played|ran|said|saw|sold|sang|spoke|took|taught|thought|told"
)
_WHO = re.compile(
    rf"^(?:Who|What|Which \w+) (?P<rest>(?:\w+ed|{_PAST}|is|was|are|were|can|will|has|have) .+)\?$"
)
_WHAT = re.compile(
    r"^(?:What|Who) (?P<verb>is|was|are|were) (?P<subject>(?:the |a |an |[A-Z]).+)\?$"
)
_MANY = re.compile(r"^How many (?P<rest>.+)\?$")
_BORN = re.compile(
    r"^(?P<word>When|Where) (?P<verb>was|were) (?P<subject>(?:the |[A-Z]).+?) "
    r"(?P<done>born|built|made|held|founded|\w{3,}ed)(?P<rest>(?: (?:in|on|at|by|to|for) .+)?)\?$"
)
_DO = re.compile(r"\b(did|does|do|can|could|will|would|has|have|should|is|are|was|were)\b")
_QUESTION = re.compile(r"\b(what|which|who|whom|whose|how|when|where|why)\b", re.IGNORECASE)


def statement(question: str, answer: str) -> str | None:
    """A question and its answer as a statement; None where no rule is safe."""
    question, answer = " ".join(question.split()), answer.strip(" .,;:")
    text = _statement(question, answer)
    if text is None or len(answer) > 90 or _QUESTION.search(text.replace(answer, "")):
        return None
    return f"{text[0].upper()}{text[1:]}."


def _statement(question: str, answer: str) -> str | None:  # noqa: PLR0911 - one return a rule
    number = answer.split(maxsplit=1)[0] if answer else ""
    if match := _WHAT.match(question):
        subject = match["subject"]
        if re.search(
            r"\b(in|of|for|to|with|by|on|called|named|known as|like|about|from)$", subject
        ):
            return None
        if subject[0].isupper() and " " in subject and re.search(r" [a-z]+(ed|ing)$", subject):
            return None
        return f"{subject} {match['verb']} {answer}"
    if question.startswith("Who ") and (match := _WHO.match(question)):
        return f"{answer} {match['rest']}"
    if match := _MANY.match(question):
        noun, _, rest = match["rest"].partition(" ")
        plain = not re.search(r"\b(did|does|do|are there|were there)\b", match["rest"])
        inverted = _DO.match(rest) and re.search(r"^\w+ (the|he|she|it|they|[A-Z])", rest)
        if plain and not inverted and number[:1].isdigit() and len(answer.split()) < 3:
            return f"{number} {noun} {rest}"
        return None
    if match := _BORN.match(question):
        place = match["word"] == "Where"
        if place and not answer[:1].isupper():
            return None
        word = "in" if place or re.fullmatch(r"(?:[A-Z]\w+ )?\d{4}", answer) else "on"
        if not place and not re.search(r"\d", answer):
            return None
        if re.match(r"(?:in|on|at|during|by|from)\b", answer):
            word = ""
        said = f"{match['subject']} {match['verb']} {match['done']}{match['rest']}"
        return " ".join(f"{said} {word} {answer}".split())
    return None


_SYNONYMS = {
    "said": "stated", "big": "large", "large": "big", "began": "started", "started": "began",
    "help": "assist", "helped": "assisted", "show": "demonstrate", "showed": "demonstrated",
    "use": "employ", "used": "employed", "buy": "purchase", "bought": "purchased",
    "get": "obtain", "got": "received", "need": "require", "needs": "requires",
    "wanted": "wished", "want": "wish", "also": "additionally", "many": "numerous",
    "important": "significant", "hard": "difficult", "difficult": "hard", "easy": "simple",
    "problem": "issue", "problems": "issues", "issue": "problem", "think": "believe",
    "thinks": "believes", "thought": "believed", "maybe": "perhaps", "near": "close to",
    "ended": "finished", "finished": "completed", "built": "constructed", "made": "produced",
    "children": "kids", "kids": "children", "money": "funds",
    "great": "excellent", "nice": "pleasant", "good": "fine", "bad": "poor", "quick": "fast",
    "try": "attempt", "tried": "attempted", "tell": "inform", "told": "informed",
    "talk": "speak", "film": "movie", "movie": "film", "war": "conflict",
    "area": "region", "region": "area",
    "because": "since", "although": "though", "keep": "retain", "kept": "retained",
    "change": "alter", "changed": "altered", "chose": "selected", "choose": "select",
    "very": "extremely", "really": "truly", "often": "frequently", "several": "some",
}  # fmt: skip
_SPOKEN = {
    "i'm": "they are", "i've": "they have", "i'd": "they would", "i'll": "they will",
    "i": "they", "my": "their", "me": "them", "mine": "theirs", "we": "they", "us": "them",
    "our": "their", "we're": "they are", "we've": "they have", "we'll": "they will",
    "myself": "themselves", "am": "are",
}  # fmt: skip
_FILLERS = re.compile(
    r"\b(uh|um|mm|hmm|mm-hmm|yeah|okay|oh|well|so|like|you know|i mean|just|actually|basically|"
    r"kind of|sort of|right|really|anyway)\b[ ,]*",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^(?:(?:and|but|because|or|now|then|yes|no|there)\b[ ,-]*)+", re.IGNORECASE)
_DROPPED = re.compile(r" (?:very|really|just|also|even|quite|actually|then|\w+ly)\b(?! to)")
_TAIL = re.compile(
    r",? (?:which|who|because|although|while|where|but|whereas) .*$|; .*$| \([^)]*\)"
)
_LEAD = re.compile(r"^(?P<lead>(?:In|On|During|After|Since|By|At) [^,]{3,40}), (?P<rest>.+?)[.]?$")


def paraphrase(sentence: str, rng: random.Random) -> str:
    """A sentence with words dropped or exchanged, clauses moved or left out; it stays true."""
    text = sentence.strip()
    if rng.random() < 0.5:
        text = _TAIL.sub("", text)
    match = _LEAD.match(text)
    if match and rng.random() < 0.8:
        lead, rest = match["lead"], match["rest"]
        text = f"{rest[0].upper()}{rest[1:]} {lead[0].lower()}{lead[1:]}."
    if rng.random() < 0.7:
        text = _DROPPED.sub("", text)
    words = [_exchanged(word, _SYNONYMS, rng, 0.7) for word in text.split()]
    return " ".join(words)


def report(speaker: str, sentence: str, rng: random.Random) -> str:
    """What somebody says as reported speech."""
    text = _LEADING.sub("", _FILLERS.sub("", sentence).strip(" ,.-")).strip(" ,.-")
    words = [_exchanged(word, _SPOKEN, rng, 1.0) for word in text.split()]
    words = [_exchanged(word, _SYNONYMS, rng, 0.5) for word in words]
    verb = rng.choice(("said that", "thought that", "mentioned that", "pointed out that",
                       "explained that", "believed that", "stated that"))  # fmt: skip
    said = " ".join(words)
    role = speaker.istitle() and " " in speaker and speaker[-2:-1] != " "
    the = "The " if role and rng.random() < 0.5 else ""
    return f"{the}{speaker} {verb} {said[:1].lower()}{said[1:]}."


def _exchanged(word: str, table: dict[str, str], rng: random.Random, share: float) -> str:
    bare = word.strip(".,;:!?").replace("’", "'")  # noqa: RUF001
    new = table.get(bare.lower())
    if new is None or rng.random() > share:
        return word
    new = new.capitalize() if bare[:1].isupper() and bare.lower() != "i" else new
    return word.replace(word.strip(".,;:!?"), new)
