"""The register of the documents of a store, limited by person, kind, state, time and people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from generator.overview.commitments import KINDS, CommitmentKind
from generator.register.entry import STATES, Matter, Register, State
from generator.register.register import register
from indexing.documents import Document
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from indexing.store.view import StoreView


@dataclass(frozen=True, slots=True)
class RegisterLimits:
    """Which matters of a register are wanted; an empty part limits nothing.

    Raises:
        InvalidRequest: A kind or a state is none.
    """

    # part of the name of whoever is to do it; of a decision or question, who says it
    person: str = ""
    kinds: tuple[CommitmentKind, ...] = ()
    # what became of them; "open" are all actions and questions that are not done or dropped
    states: tuple[State, ...] = ()
    # limits of documents, one of which says something of the matter
    where: Filter = field(default_factory=Filter)

    def __post_init__(self) -> None:
        for values, known in ((self.kinds, KINDS), (self.states, STATES)):
            for value in values:
                if value not in known:
                    raise InvalidRequest(f"{value!r} is none of {', '.join(known)}")


def register_of(
    store: StoreView, limits: RegisterLimits, *, progress: Callable[[int, int], None] | None = None
) -> Register:
    """The register; what became of a matter is read from all documents of the store.

    The store is limited to what may be read, and to the collections. `progress` is called with
    documents read, and how many there are.
    """
    named = store.named()
    people = {one.id: frozenset((*one.occasion.participants, *one.speakers)) for one in named}
    ids = [one.id for one in named]
    whole = register(_read(store, ids, progress), frozenset().union(*people.values()))
    where = replace(limits.where, collections=())
    admitted = {
        one.id
        for one in named
        if where.admits(
            id_=one.id,
            title=one.title,
            path=one.path,
            day=one.occasion.day or whole.days.get(one.id, ""),
            people=people[one.id],
        )
    }
    matters = tuple(
        one
        for one in whole
        if (not limits.kinds or one.kind in limits.kinds)
        and (not limits.states or _is_of(one, limits.states))
        and (not limits.person or one.concerns(limits.person))
        and any(entry.document in admitted for entry in one.entries)
    )
    return replace(whole, matters=matters)


def _is_of(matter: Matter, states: Collection[State]) -> bool:
    is_open = matter.kind != "decision" and matter.state not in {"done", "dropped"}
    return matter.state in states or ("open" in states and is_open)


def _read(
    store: StoreView, ids: Sequence[str], progress: Callable[[int, int], None] | None
) -> Iterator[Document]:
    for number, id_ in enumerate(ids):
        if progress:
            progress(number, len(ids))
        yield store.document(id_)
