"""A question and its history in, a standalone question out.

"And who disagreed?" names nothing that can be looked for. Such a question is completed with the
words of the question that it follows. Words and forms are English or German; in another language
every question stands by itself unless it has hardly any words.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachetools import LRUCache

from indexing.text.days.stated_date import MONTH_NUMBERS
from indexing.text.english import QUESTION_WORDS
from indexing.text.language import ENGLISH, LANGUAGES, language_of_question
from indexing.text.sentences import sentences
from indexing.text.terms import topic_words

if TYPE_CHECKING:
    from generator.evidence import Span

_FURTHEST = 4  # turns that a question can be completed from, through follow-ups of follow-ups
_FEW = 1  # words that say what is asked about; with more of them a question stands by itself

# Beginnings that go on with what was said.
_GOES_ON = re.compile(
    r"(and|but|or|so|then|also|plus|what about|how about|what else|who else|where else|why else"
    r"|why not|how so|how come|since when|what if|go on|tell me more|more)\b",
    re.IGNORECASE,
)
# Words that point at something said before, whatever else the question names.
_POINTS = re.compile(
    r"\b(else|instead|(this|that|the (same|other|former|latter|first|second|third|last)) one"
    r"|the (same|others?|former|latter)(?=\W*$))\b|\bsuch an? \w+\W*$"
    r"|\b(that|this|these|those|there)\W*$"
    r"|\b(at|by|before|after|since|until|from|in|on) that"
    r" (point|time|moment|day|date|meeting|place)\b"
    r"|\b(before|after|besides|instead of) (him|her|them|it|that|this)\W*$",
    re.IGNORECASE,
)
# Words that stand for a person or a thing; "it" not where it is empty ("is it true that").
_STANDS_FOR = re.compile(
    r"\b(he|him|his|she|her|hers|they|them|their|theirs|its|these|those|the (same|other))\b"
    r"|(?<!\bis )(?<!\bwas )\bit\b|\bit(?!( \w+)? (that|to)\b)"
    r"|\b(is|was|did|does|do|has|had|would|could|can|should) (that|this)\b",
    re.IGNORECASE,
)
# What they can stand for within the question itself.
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'-]+")
_NAMED = re.compile(r"\b(the|an?|our|your|my|each|every|any|some|which|what)\s+([\w'-]+)|\w{3,}s\b")


_GERMAN_GOES_ON = re.compile(
    r"(und|aber|oder|also|was ist mit|wie ist es mit|wie sieht es (mit|bei)|wer noch|was noch"
    r"|wo noch|warum nicht|wieso nicht|wieso das|seit wann|bis wann|sonst|weiter|mehr)\b",
    re.IGNORECASE,
)
_GERMAN_POINTS = re.compile(
    r"\b(stattdessen|(der|die|das|den|dem) (andere|erste|zweite|dritte|letzte)n?(?=\W*$)"
    r"|(davon|dafür|dagegen|damit|dazu|darüber|daran|das|dort)(?=\W*$)"
    r"|(?<=[a-zäöüß] )(da|dort|dahin|daraus|darin|damals)\b"
    r"|(ist|war|wurde|wird|hat|soll) (das|dies)\b(?! [A-ZÄÖÜ]))"
)
# Not "sie", which is people's "Sie" at the beginning, nor "es" where it is empty ("gibt es").
_GERMAN_STANDS_FOR = re.compile(
    r"\b(er|ihn|ihm|ihr|sie|ihre[mnrs]?|seine?[mnrs]?|diese[mnrs]?|derselbe|dieselbe|dasselbe"
    r"|davon|dafür|damit|dazu|darüber|daran)\b"
)
_GERMAN_NOUN = re.compile(r"(?<=[a-zäöüß,;] )[A-ZÄÖÜ][\wäöüß-]+")

# "And from Lakeside?": a question of no verb, whose words take the place of others.
_ELLIPSIS = re.compile(
    r"(?:and|but|or|what about|how about|und|aber|oder|was ist mit|wie ist es mit)\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"\b(?:who|whom|whose|what|when|where|which|why|how|if|is|are|was|were|do|does|did|has|have|had"
    r"|can|could|will|would|should|must|may|wer|wen|wem|was|wann|wo|welche\w*|warum|wie|ob|wenn|ist"
    r"|sind|war|waren|hat|haben|hatte|kann|muss|wird|werden|soll|darf)\b",
    re.IGNORECASE,
)
_PREPOSITION = (
    r"(?:from|on|in|at|for|of|by|with|under|to"
    r"|von|vom|für|bei|beim|im|am|an|auf|mit|aus|zu|zum|zur)"
)
_LEADING = re.compile(rf"(?P<word>{_PREPOSITION}|an?|eine?)\s", re.IGNORECASE)
_NAMES = re.compile(r"(?<=\w )[A-Z][\w'-]+(?: (?:& )?[A-Z][\w'-]+)*")

# "Who leads the trial?" "How much is she paid?": the person is in the answer.
_WHO = re.compile(r"\b(?:who|whom|whose|wer|wem|wen|wessen)\b", re.IGNORECASE)
_PERSON = re.compile(
    r"\b(?:he|him|his|she|hers?|they|them|their|er|ihn|ihm|sie|ihr\w*|sein\w*)\b", re.IGNORECASE
)
_SPEAKER = re.compile(r"^[^:\n]{1,40}: ")
_CAPITALISED = r"[A-ZÀ-Þ][\w'\u2019-]+"
_PERSONS = re.compile(rf"{_CAPITALISED}(?: {_CAPITALISED})+|(?<=\w )(?<!\. ){_CAPITALISED}")
_MOST_NAMES = 3  # words of an answer that may name a person


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation, and the answer it got."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class PromptState:
    """The prompt and answer of the last turn of a conversation."""

    ids: tuple[int, ...]  # token ids of its prompt and its answer
    spans: tuple[Span, ...]  # the evidence in the prompt


class ConversationCache:
    """What models have read in conversations, so that these resume without reading it again.

    The least recently used are forgotten first. A conversation that is forgotten is not lost: its
    next question shows its evidence again.
    """

    def __init__(self, most: int = 32) -> None:
        self._states: LRUCache[tuple[Turn, ...], PromptState] = LRUCache(most)
        self._lock = threading.Lock()

    def get(self, history: Sequence[Turn]) -> PromptState | None:
        """What was shown and said up to the end of these turns."""
        with self._lock:
            return self._states.get(tuple(history))

    def put(self, history: Sequence[Turn], state: PromptState) -> None:
        """Remember a conversation that has come to the end of these turns."""
        with self._lock:
            self._states[tuple(history)] = state


def is_follow_up(question: str) -> bool:
    """Whether a question can only be understood from what was said before it.

    It does when it begins by going on ("And ..."), when it says nothing of what it is about
    ("Who disagreed?"), or when it has a word that stands for something ("it", "they") with nothing
    before that word in the question that it could stand for.
    """
    text = " ".join(question.split())
    if _language(text) == "de":
        return _is_german_follow_up(text)
    if _GOES_ON.match(text):
        return True
    if len(topic_words(text)) <= _FEW and not _NAME.search(text):
        return True
    if _POINTS.search(text):
        return True
    pronoun = _STANDS_FOR.search(text)
    return pronoun is not None and not _named_before(text[: pronoun.start()])


def _language(question: str) -> str:
    """Whether a question is German; English in doubt."""
    return language_of_question(question, (ENGLISH, "de"))


def _is_german_follow_up(text: str) -> bool:
    """The same of a German question, in which every noun has a capital."""
    if _GERMAN_GOES_ON.match(text):
        return True
    if len(topic_words(text, "de")) <= _FEW and not _GERMAN_NOUN.search(text):
        return True
    if _GERMAN_POINTS.search(text):
        return True
    pronoun = _GERMAN_STANDS_FOR.search(text)
    return pronoun is not None and not _GERMAN_NOUN.search(text[: pronoun.start()])


def _named_before(text: str) -> bool:
    """Whether the part of a question before a pronoun has something that it can stand for."""
    named = (match.group() for match in _NAMED.finditer(text))
    return bool(_NAME.search(text)) or any(topic_words(each) for each in named)


def standalone_question(question: str, history: Sequence[Turn]) -> str:
    """The question as it is to be looked up: itself, or completed with what it follows on."""
    question = question.strip()
    if not history or not is_follow_up(question):
        return question
    known = set(topic_words(question, _language(question)))
    words: list[str] = []
    for turn in reversed(history[-_FURTHEST:]):
        before = turn.question if words else _without_replaced(turn.question, question)
        spelled = _spelled(before) + ([] if words else _person_in_answer(turn, question))
        new = [word for word in dict.fromkeys(spelled) if word.lower() not in known]
        words = [*new, *words]
        known.update(word.lower() for word in new)
        if not is_follow_up(turn.question):
            break
    return f"{question} ({' '.join(words)})" if words else question


def _person_in_answer(turn: Turn, question: str) -> list[str]:
    """Whom the answer to "who ...?" names first, where the next question says "she"."""
    if not _WHO.search(turn.question) or not _PERSON.search(question):
        return []
    first = _SPEAKER.sub("", turn.answer.partition(" [")[0].partition("\n")[0])
    language = _language(turn.question)
    common = LANGUAGES[language].stop_words | {*MONTH_NUMBERS}
    common |= {word.lower() for word in _spelled(turn.question)}
    least = 2 if LANGUAGES[language].capitalised_nouns else 1
    for name in _PERSONS.findall(first):
        words = [word for word in name.split() if word.lower() not in common]
        if len(words) >= least:
            return words[:_MOST_NAMES]
    return []


def _without_replaced(before: str, question: str) -> str:
    """A question without what the next one, if it has no verb, says something else for.

    That is what follows the preposition or article with which the next one begins ("And from
    Lakeside?"), or the only name, where the next one is a name.
    """
    match = _ELLIPSIS.fullmatch(question)
    if match is None or _SENTENCE.search(match["rest"]):
        return before
    if leading := _LEADING.match(match["rest"]):
        word = "an?" if leading["word"].lower() in {"a", "an"} else leading["word"]
        phrase = rf"\b{word}\b.+?(?=\s(?:{_PREPOSITION}|now|jetzt)\b|[\s?.!]*$)"
        return re.sub(phrase, "", before, count=1, flags=re.IGNORECASE)
    names = _NAMES.findall(before)
    is_name = _language(before) == ENGLISH and match["rest"][0].isupper()
    return before.replace(names[0], "") if is_name and len(names) == 1 else before


def _spelled(question: str) -> list[str]:
    """The words that say what a question is about, in order, with their capitals."""
    about = set(topic_words(question, _language(question)))
    spelled = re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", question)  # noqa: RUF001
    return list(dict.fromkeys(word for word in spelled if word.lower().replace("’", "'") in about))  # noqa: RUF001


LONG = 60  # words from which a message is more than a question
_ADDED = 12  # words of the rest that are added
_NAME_OR_NUMBER = re.compile(r"(?<=[\w,;] )[A-ZÄÖÜ][\w'-]*[\w]|\b\d[\d.,:]*\d\b|\b\d\b")
_ASKS = re.compile(rf"\W*(?:{'|'.join(map(re.escape, sorted(QUESTION_WORDS)))})\b", re.IGNORECASE)


def question_within(message: str) -> tuple[str, tuple[str, ...]]:
    """The question that a message asks, and words of the rest; a short one is a question itself."""
    message = message.strip()
    if len(message.split()) < LONG:
        return message, ()
    parts = [message[start:end].strip() for start, end in sentences(message, 0, len(message))]
    asked = [at for at, part in enumerate(parts) if part.endswith("?")]
    asked = asked or [at for at, part in enumerate(parts) if _ASKS.match(part)]
    if not asked:
        return message, ()
    question, rest = parts[asked[-1]], [*parts[: asked[-1]], *parts[asked[-1] + 1 :]]
    if len(question.split()) >= LONG:
        return message, ()
    before = parts[asked[-1] - 1] if asked[-1] else ""
    names = [] if _is_german(message) else _NAME_OR_NUMBER.findall(" ".join(rest))
    said = {word.lower() for word in re.findall(r"[\w'-]+", question)}
    words = [word for word in (*topic_words(before), *names) if word.lower() not in said]
    return question, tuple({word.lower(): word for word in words}.values())[:_ADDED]


def _is_german(text: str) -> bool:
    """Whether a text has more of German's function words, whose nouns have capitals, too."""
    found = set(text.lower().split())
    return len(found & LANGUAGES["de"].stop_words) > len(found & LANGUAGES[ENGLISH].stop_words)
