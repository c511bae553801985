"""An entry of the register, the matter that it is on, and the register."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from generator.overview.commitments import CommitmentKind
from generator.overview.overview import Quote
from indexing.documents import clock

State = Literal["open", "confirmed", "changed", "done", "dropped"]
"""What became of a matter; open where no later sentence says."""
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence that begins a matter, or says what became of it.

    Attributes:
        id: 12 hexadecimal digits, of its document, kind and words; the same in every register.
        kind: Of its matter.
        tells: What the matter is from here on.
        quote: The sentence.
        document: Its document's id.
        title: Its document's name.
        day: Day or month of the document in ISO 8601; "" for an unknown one.
        who: Who is to do it, as far as the sentence tells; whole names where they are known.
        until: The words of the sentence that say when; "" where there are none.
        due: The day that they mean, in ISO 8601; "" where that is not certain.
    """

    id: str
    kind: CommitmentKind
    tells: State
    quote: Quote
    document: str
    title: str
    day: str = ""
    who: str = ""
    until: str = ""
    due: str = ""


@dataclass(frozen=True, slots=True)
class Matter:
    """Entries on the same matter, the earliest first.

    Attributes:
        entries: One at least.
    """

    entries: tuple[Entry, ...]

    @property
    def id(self) -> str:
        """That of its first entry."""
        return self.entries[0].id

    @property
    def kind(self) -> CommitmentKind:
        """Decision, action or question."""
        return self.entries[0].kind

    @property
    def state(self) -> State:
        """What its last entry says of it."""
        return self.entries[-1].tells

    @property
    def who(self) -> str:
        """Who is to do it, by the last entry that says so; "" where none does."""
        return next((one.who for one in reversed(self.entries) if one.who), "")

    @property
    def until(self) -> str:
        """When it is due, in the words of the last entry that says so."""
        return next((one.until for one in reversed(self.entries) if one.until), "")

    @property
    def due(self) -> str:
        """The day that these words mean; "" where that is not certain."""
        return next((one.due for one in reversed(self.entries) if one.until), "")

    @property
    def stated(self) -> Entry:
        """The last entry that says what is to be done or holds, rather than what became of it."""
        told = [one for one in self.entries if one.tells not in {"done", "dropped", "confirmed"}]
        return told[-1] if told else self.entries[0]

    def concerns(self, person: str) -> bool:
        """Whether a person, by any part of a name, is to do it; or has said it, of no action."""
        said = [one.quote.speaker or "" for one in self.entries] if self.kind != "action" else []
        return any(person.casefold() in name.casefold() for name in (self.who, *said))


@dataclass(frozen=True, slots=True)
class Register:
    """What was decided, is to be done, and is open, over all meetings.

    Attributes:
        matters: In the order in which they came up.
        days: Of each of these documents, by id: day or month in ISO 8601, "" for an unknown one.
    """

    matters: tuple[Matter, ...] = ()
    days: Mapping[str, str] = field(default_factory=dict)

    @property
    def meetings(self) -> int:
        """How many documents of meetings there are."""
        return len(self.days)

    @property
    def undated(self) -> int:
        """How many of them have no date, and are in no chain with others."""
        return sum(not day for day in self.days.values())

    def __iter__(self) -> Iterator[Matter]:
        return iter(self.matters)

    def __len__(self) -> int:
        return len(self.matters)


def as_json(register: Register) -> dict[str, Any]:
    """The register as plain values; times as "HH:MM:SS"."""
    return {
        "meetings": register.meetings,
        "undated": register.undated,
        "matters": [
            {
                "id": matter.id,
                "kind": matter.kind,
                "state": matter.state,
                "who": matter.who,
                "until": matter.until,
                "due": matter.due,
                "entries": [_entry_json(one) for one in matter.entries],
            }
            for matter in register
        ],
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {**asdict(entry), "quote": {**asdict(entry.quote), "time": clock(entry.quote.time)}}
