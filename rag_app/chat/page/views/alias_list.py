"""The names with other spellings that a page lists, for whoever keeps them.

They concern everybody's questions, and may name who stands in documents that others do not see. So
with logins only the first person in the login file sees, adds and removes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexing.errors import InvalidRequest
from indexing.filter import Scope
from indexing.message import N_
from indexing.walk import ALIAS_FILE
from rag_app.chat.write_lock import patiently
from rag_app.corpus.access import SharedCorpus
from rag_app.corpus.contents.aliases import CorpusAliases


@dataclass(frozen=True, slots=True)
class AliasList:
    """The aliases of a corpus, and everybody who may log in; nobody where that is not needed."""

    corpus: SharedCorpus
    people: Sequence[str] = ()

    def refusal(self, person: str | None) -> str:
        """Why a person, by login name, may not see or change them; "" if they may."""
        if person is None or person in self.people[:1]:
            return ""
        if not self.people:
            return N_("Names are kept on the server (rag-app aliases).")
        return N_("%(name)s keeps names for everybody.", name=self.people[0])

    def seen_by(self, person: str | None) -> CorpusAliases:
        """The aliases; what is proposed is from documents that the person may read.

        Raises:
            InvalidRequest: They may not see them.
        """
        if refusal := self.refusal(person):
            raise InvalidRequest(refusal)
        return self.corpus.seen_by(Scope(person)).aliases

    def change(self, person: str | None, change: Callable[[CorpusAliases], object]) -> None:
        """Add or remove some, as soon as nobody else writes.

        Raises:
            InvalidRequest: They may not, or a spelling cannot be one.
            CorpusLocked: Documents are being added, and that takes long.
        """
        aliases = self.seen_by(person)
        patiently(
            self.corpus, lambda: change(aliases), N_("%(name)s: cannot be changed", name=ALIAS_FILE)
        )
