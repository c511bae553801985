"""A long message in, the question in it out.

People tell what it is about before they ask. Of a message of many words, what is looked up is the
last sentence that asks, with the names and numbers of the rest and what the sentence before it is
about.
"""

from __future__ import annotations

import re

from indexing.text.english import QUESTION_WORDS
from indexing.text.language import ENGLISH, LANGUAGES
from indexing.text.sentences import sentences
from indexing.text.terms import topic_words

LONG = 60  # words from which a message is more than a question
_ADDED = 12  # words of the rest that are added
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÄÖÜ][\w'-]*[\w]|\b\d[\d.,:]*\d\b|\b\d\b")
_ASKS = re.compile(rf"\W*(?:{'|'.join(map(re.escape, sorted(QUESTION_WORDS)))})\b", re.IGNORECASE)


def question_within(message: str) -> tuple[str, tuple[str, ...]]:
    """The question that a message asks, and words of the rest; a short one is a question itself.

    Args:
        message: As asked.
    """
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
    names = [] if _is_german(message) else _NAME.findall(" ".join(rest))
    said = {word.lower() for word in re.findall(r"[\w'-]+", question)}
    words = [word for word in (*topic_words(before), *names) if word.lower() not in said]
    return question, tuple({word.lower(): word for word in words}.values())[:_ADDED]


def _is_german(text: str) -> bool:
    """Whether a text has more of German's function words, whose nouns have capitals, too."""
    found = set(text.lower().split())
    return len(found & LANGUAGES["de"].stop_words) > len(found & LANGUAGES[ENGLISH].stop_words)
