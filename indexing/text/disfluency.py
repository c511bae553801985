"""Transcribed speech without its disfluencies, for people and language models to read.

Annotations of sounds and gaps, hesitation ("uh"), words that are said twice or broken off, and the
blanks before punctuation of tokenized transcripts. No word that carries meaning is changed, added
or moved. Quotes are never cleaned: they stay as the document has them, and are only shown without
noise.
"""

from __future__ import annotations

import re

from indexing.text.terms import strip_annotations

_MARK = (
    r"\{(?:disfmarker|vocalsound|nonvocalsound|gap|pause|comment|transformerror|inaudible|noise)\}"
)
_NOISE = re.compile(rf"^(?:{_MARK}\s*)+|[^\S\n]*{_MARK}")
_HESITATION = re.compile(
    r"(,?)\s*(?<![\w-])(?:[Uu]h+(?:-huh)?|[Uu]m+|[Uu]hm|erm?|[Hh]mm*|(?<!\d )[Mm]m+(?:-hmm)?)"
    r"(?![\w-])\s*(,?)"
)
_MEANT = re.compile(r",\s*(?:you know|i mean|like|sort of|kind of)\s*,", re.IGNORECASE)
_APART = re.compile(r"\s+(?=[.,;:!?)%]|['’](?:s|m|re|ve|ll|d|t)\b|n['’]t\b)")  # noqa: RUF001
_HYPHEN = re.compile(r"(?<=\w) - (?=\w)")
_TWICE = re.compile(
    r"\b((\w+(?:['’]\w+)?)(?:\s+\w+(?:['’]\w+)?){0,3})(?:\s*,?\s+\1\b)+",  # noqa: RUF001
    re.IGNORECASE,
)
_BROKEN = re.compile(r"(?<![\w'’])([b-hj-z]|[a-z]{2})\s+(?=\1\w)", re.IGNORECASE)  # noqa: RUF001
_COMMAS = re.compile(r"(?:\s*,)+(?=\s*[,.;:!?])|^[\s,.;:!?-]+")
_STOPS = re.compile(r"(?<!\.)\.\s*\.(?!\.)")
_BLANKS = re.compile(r"\s+")


def without_noise(text: str) -> str:
    """A text as it is shown: without what stands for sounds, gaps and slips of the tongue.

    No other character changes. Where nothing else would be left, it stays.
    """
    shown = _NOISE.sub("", text)
    return shown if shown.strip() or not text.strip() else text


def remove_disfluencies(text: str) -> str:
    """The text in one line, as it would be written."""
    text = strip_annotations(text)
    text = _HYPHEN.sub("-", _APART.sub("", _BLANKS.sub(" ", text)))
    text = _MEANT.sub(",", _HESITATION.sub(_without, text))
    text = _BLANKS.sub(" ", _BROKEN.sub("", _BLANKS.sub(" ", text)))
    text = _APART.sub("", _TWICE.sub(r"\1", text))
    return _COMMAS.sub("", _STOPS.sub(".", text)).strip()


def _without(hesitation: re.Match[str]) -> str:
    """What stays of it: a comma where it had one on both sides."""
    return ", " if all(hesitation.groups()) else " "
