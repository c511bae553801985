"""Which entries are on the same matter, over meetings in the order of their dates.

Two are where they are of one kind and share most of the weight of their words, rare ones weighing
more; names, dates and the words of deciding and doing do not count.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from generator.evidence import Sentence
from generator.overview.commitments import CommitmentKind
from generator.overview.overview import quote_of
from generator.register.entry import Entry, Matter, State
from generator.register.outcome_words import outcome, outcome_of_entry
from indexing.text.change_words import NUMBER
from indexing.text.terms import Rarity

_SAME = 0.5  # of the weight of the shorter of two entries, that is shared
_TOLD = 0.5  # of the weight of an entry, that a sentence shares which says what became of it
_WHOLE = 0.2  # of that of the longer
_OTHER_PERSON = 0.5  # of that of the longer, where another person is to do it
_NEAR = 50  # chains that are looked at for each of its words, the latest ones
_RARE = 12  # words of a sentence by which its matter is looked for


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that may be an entry."""

    sentence: Sentence
    kind: CommitmentKind | None  # of what it begins; None: it may say what became of something
    stems: frozenset[str]  # of the words that tell which matter it is on
    day: str = ""  # of its document; "" for an unknown one
    who: str = ""  # who is to do it, or is named
    until: str = ""  # the words that say when
    due: str = ""  # the day that they mean


@dataclass(slots=True)
class _Chain:
    kind: CommitmentKind
    said: list[Said] = field(default_factory=list)
    tells: list[State] = field(default_factory=list)

    @property
    def last(self) -> Said:
        return self.said[-1]

    @property
    def who(self) -> str:
        return next((one.who for one in reversed(self.said) if one.kind and one.who), "")

    def precedes(self, one: Said) -> bool:
        """Whether a sentence may be the next one: of a later document, or an entry of the same."""
        closed = ("done",) if one.kind else ("done", "dropped")
        if self.tells[-1] in closed:
            return False
        if self.last.sentence.document.id == one.sentence.document.id:
            return one.kind is not None
        return bool(self.last.day and one.day) and self.last.day < one.day


def chained(said: Iterable[Sequence[Said]]) -> list[Matter]:
    """The matters of documents, which come in the order of their dates, those without one last."""
    documents = [list(each) for each in said]
    chains = _Chains(Rarity(one.stems for each in documents for one in each))
    for each in documents:
        for one in each:
            chains.add(one)
    ids: Counter[str] = Counter()
    return [_matter(chain, ids) for chain in chains.every]


class _Chains:
    def __init__(self, rarity: Rarity) -> None:
        self.every: list[_Chain] = []
        self._rarity = rarity
        self._weights: dict[frozenset[str], float] = {}
        self._by_stem: defaultdict[str, list[_Chain]] = defaultdict(list)

    def add(self, one: Said) -> None:
        """Put a sentence into the chain of its matter; begin one where there is none."""
        if one.kind is None:
            self._tell(one)
            return
        chain = self._best(one, _SAME)
        if chain is None:
            chain = _Chain(one.kind)
            self.every.append(chain)
            tells: State = "open"
        else:
            tells = outcome_of_entry(one.sentence.text, chain.kind, same=_is_same(chain, one))
        self._join(chain, one, tells)

    def _tell(self, one: Said) -> None:
        chain = self._best(one, _TOLD)
        state = outcome(one.sentence.text, chain.kind) if chain else None
        if chain is None or state is None:
            return
        shared = max(len(one.stems & each.stems) for each in chain.said)
        if shared > 1 or state == "dropped" or chain.kind == "question":
            self._join(chain, one, state)

    def _join(self, chain: _Chain, one: Said, tells: State) -> None:
        chain.said.append(one)
        chain.tells.append(tells)
        for stem in one.stems if one.kind else ():
            known = self._by_stem[stem]
            if not known or known[-1] is not chain:
                known.append(chain)

    def _best(self, one: Said, least: float) -> _Chain | None:
        """The chain that shares most with a sentence, None for too little."""
        rare = sorted(one.stems, key=lambda stem: (-self._rarity.of(stem), stem))
        words = rare[: _RARE if one.kind else None]
        near = {id(chain): chain for stem in words for chain in self._by_stem[stem][-_NEAR:]}
        scored = [(*self._shared(chain, one), at) for at, chain in enumerate(near.values())]
        enough = [(share + whole, at) for share, whole, at in scored if share >= least]
        return [*near.values()][max(enough)[1]] if enough else None

    def _shared(self, chain: _Chain, one: Said) -> tuple[float, float]:
        """What a sentence shares with an entry of a chain: of the shorter one, and of the longer.

        Both are 0 where it cannot be of the chain.
        """
        if one.kind not in {None, chain.kind} or not chain.precedes(one):
            return 0.0, 0.0
        share, whole = max(self._share(one, before) for before in chain.said if before.kind)
        other = one.who and chain.who and not _overlap(one.who, chain.who)
        return (0.0 if other and whole < _OTHER_PERSON else share), whole

    def _share(self, one: Said, before: Said) -> tuple[float, float]:
        shared = one.stems & before.stems
        smaller, larger = sorted((one.stems, before.stems), key=self._weight)
        if not shared or (len(shared) == 1 and len(smaller) > 1):
            return 0.0, 0.0
        whole = self._weight(shared) / self._weight(larger)
        return (self._weight(shared) / self._weight(smaller), whole) if whole >= _WHOLE else (0, 0)

    def _weight(self, stems: frozenset[str]) -> float:
        if stems not in self._weights:
            self._weights[stems] = sum(map(self._rarity.of, stems))
        return self._weights[stems]


def _overlap(one: str, other: str) -> bool:
    return bool({*one.split(", ")} & {*other.split(", ")})


def _is_same(chain: _Chain, one: Said) -> bool:
    """Whether a sentence has the day, person and numbers that the chain has."""
    before = next(each for each in reversed(chain.said) if each.kind)
    known = one.due and before.due
    moved = one.due != before.due if known else one.until not in {"", before.until}
    other = one.who and chain.who and one.who != chain.who
    new = {*_values(one.sentence.text)} - {*_values(before.sentence.text)}
    return not (moved or other or (new and chain.kind == "decision"))


def _values(text: str) -> list[str]:
    return NUMBER.findall(text.lower())


def _matter(chain: _Chain, ids: Counter[str]) -> Matter:
    return Matter(
        tuple(
            Entry(
                id=_id(one, chain.kind, ids),
                kind=chain.kind,
                tells=tells,
                quote=quote_of(one.sentence),
                document=one.sentence.document.id,
                title=one.sentence.document.title,
                day=one.day,
                who=one.who,
                until=one.until,
                due=one.due,
            )
            for one, tells in zip(chain.said, chain.tells, strict=True)
        )
    )


def _id(one: Said, kind: CommitmentKind, ids: Counter[str]) -> str:
    """Of document, kind and words; the same words in one document are numbered."""
    words = " ".join(one.sentence.text.split())
    name = f"{one.sentence.document.id}\n{kind}\n{words}"
    ids[name] += 1
    name = name if ids[name] == 1 else f"{name}\n{ids[name]}"
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
