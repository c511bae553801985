"""Names with their other spellings: what a transcriber wrote for them. The text stays as it is.

What spellings of one name have in common is how they sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

ANY = "|"
"""Parts names of which any is meant, where a filter is limited to a speaker or participant."""

_HEARD = (
    ("tion", "shon"), ("kn", "n"), ("wr", "r"), ("ph", "f"), ("gh", "g"), ("ck", "k"),
    ("sch", "s"), ("sh", "s"), ("ch", "k"), ("th", "t"), ("qu", "k"), ("x", "ks"), ("c", "k"),
    ("q", "k"), ("z", "s"), ("v", "f"), ("w", "f"), ("d", "t"), ("b", "p"), ("g", "k"),
    ("j", "k"), ("y", "i"),
)  # fmt: skip
_VOWELS = re.compile(r"[aeiouäöüéèáóíh]+")
_TWICE = re.compile(r"(.)\1+")
_MUTE = re.compile(r"(?<=\w{2}[^a])a$")  # a vowel at the end is seldom heard


@dataclass(frozen=True, slots=True)
class Alias:
    """A name, and how it is spelled besides."""

    name: str  # as people are to see it
    # other ones, as documents have them; compared with their capitals, so that a word such as
    # "work" becomes no name where it is a word
    spellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names of a corpus that have other spellings; no spelling is of two names."""

    entries: tuple[Alias, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries)

    @property
    def names(self) -> dict[str, str]:
        """The name of each other spelling."""
        return {each: one.name for one in self.entries for each in one.spellings}

    def spelled(self, texts: Iterable[str]) -> dict[str, str]:
        """The other spellings that stand in texts, each with its name."""
        if not self:
            return {}
        found = (match[0] for text in texts for match in _spellings(self).finditer(text))
        return {each: self.names[each] for each in dict.fromkeys(found)}

    def named(self, text: str) -> str:
        """A text with names for their other spellings."""
        return self.renamed(text)[0] if self else text

    def renamed(self, text: str) -> tuple[str, list[int]]:
        """A text with names for their other spellings.

        Returns:
            The text, and of each of its characters which one of `text` it is; the last one of a
            name is the last of its spelling.
        """
        pieces, origins, at, names = list[str](), list[int](), 0, self.names
        for match in _spellings(self).finditer(text):
            start, end = match.span()
            name = names[match[0]]
            pieces += [text[at:start], name]
            origins += range(at, start)
            origins += [min(start + i, end - 1) for i in range(len(name) - 1)] + [end - 1]
            at = end
        return "".join([*pieces, text[at:]]), [*origins, *range(at, len(text))]

    def of(self, text: str) -> list[Alias]:
        """The names that stand in a text by any of their spellings."""
        return [one for one in self.entries if _stands(one).search(text)]

    def expanded(self, query: str) -> str:
        """What is searched for: a query with the other spellings of its names."""
        added = [each for one in self.of(query) for each in one.spellings if each not in query]
        return f"{query} ({', '.join(added)})" if added else query

    def variants(self, phrase: str) -> tuple[str, ...]:
        """A phrase in each spelling of its names."""
        found = [self.named(phrase)]
        for one in self.of(phrase):
            name = re.compile(re.escape(one.name), re.IGNORECASE)
            parted = [name.split(text) for text in found]
            found += [each.join(parts) for parts in parted for each in one.spellings]
        return tuple(dict.fromkeys(found))

    def people(self, name: str) -> str:
        """Part of somebody's name, as a filter has it, in any of its spellings."""
        return ANY.join(dict.fromkeys([*name.split(ANY), *self.variants(name)]))


NO_ALIASES = Aliases()


@lru_cache(maxsize=64)
def _spellings(aliases: Aliases) -> re.Pattern[str]:
    return _words(aliases.names)


@lru_cache(maxsize=4096)
def _stands(alias: Alias) -> re.Pattern[str]:
    """The name in any case, or one of its other spellings."""
    return re.compile(f"(?i:{_words([alias.name]).pattern})|{_words(alias.spellings).pattern}")


def _words(texts: Iterable[str]) -> re.Pattern[str]:
    """Any of these as whole words, the longest first; nothing where there are none."""
    every = sorted(texts, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, every)) or '(?!)'})(?!\w)")


def sound_of(word: str) -> str:
    """Roughly what is heard of a word: consonants by their kind, vowels as one."""
    text = word.lower()
    for written, heard in _HEARD:
        text = text.replace(written, heard)
    return _MUTE.sub("", _TWICE.sub(r"\1", _VOWELS.sub("a", text)))
