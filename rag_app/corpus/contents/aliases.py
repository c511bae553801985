"""The aliases of a corpus: names with their other spellings, in a file of its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.errors import CorpusDamaged, CorpusError, InvalidRequest
from indexing.filter import Filter, Scope
from indexing.loaders.charset import one_line
from indexing.message import N_, joined
from indexing.text.aliases import ANY, NO_ALIASES, Alias, Aliases
from indexing.walk import ALIAS_FILE
from rag_app.corpus.stores import Stores
from rag_app.output_file import put_in_place, writable

if TYPE_CHECKING:
    from rag_app.corpus.contents.alias_proposals import Proposal

LONGEST = 200  # characters of a spelling
MOST = 20  # proposals


def read_aliases(folder: Path) -> Aliases:
    """The aliases of the corpus in a folder; none where nobody has added one.

    Raises:
        CorpusDamaged: The file is not as this program writes it.
    """
    file = folder / ALIAS_FILE
    try:
        values = json.loads(file.read_text("utf-8"))
        return _checked({str(name): [str(one) for one in each] for name, each in values.items()})
    except (FileNotFoundError, NotADirectoryError):
        return NO_ALIASES
    except (OSError, ValueError, TypeError, AttributeError, InvalidRequest) as error:
        raise CorpusDamaged(f"{file}: no aliases ({error}); correct it, or remove it") from error


def in_any_spelling(where: Filter, aliases: Aliases) -> Filter:
    """A filter whose speaker and participants are meant in any of their spellings."""
    speaker = where.speaker and aliases.people(where.speaker)
    participants = tuple(map(aliases.people, where.participants))
    return replace(where, speaker=speaker, participants=participants)


@dataclass(frozen=True, slots=True)
class CorpusAliases:
    """Names and terms with their other spellings: list, add, remove and propose them.

    They are used when a question is asked; no text is ever changed. A question, a limit by speaker
    or participant, mentions and what reads the evidence see one name, and `Answer.read_as` says
    which spelling stands in the quotes.
    """

    folder: Path  # of the corpus
    stores: Stores  # its documents
    scope: Scope  # what may be read of them

    def all(self) -> Aliases:
        """What has been added."""
        return read_aliases(self.folder)

    def add(self, name: str, *spellings: str) -> Aliases:
        """Read other spellings as a name; all aliases after that.

        Raises:
            InvalidRequest: One of them is empty or too long, a name, or another name's spelling.
            CorpusError: The file cannot be written.
        """
        with self.stores.writing():
            known = {one.name: list(one.spellings) for one in self.all().entries}
            known.setdefault(_plain(name), []).extend(map(_plain, spellings))
            return self._write(_checked(known))

    def remove(self, *spellings: str) -> Aliases:
        """Leave spellings as they are again, or all of a name; all aliases after that.

        Raises:
            InvalidRequest: One of them is no name or spelling here.
        """
        with self.stores.writing():
            known = {one.name: list(one.spellings) for one in self.all().entries}
            for each in map(_plain, spellings):
                if not (each in known or any(each in other for other in known.values())):
                    raise InvalidRequest(
                        N_("%(spelling)s: no alias; see: rag-app aliases", spelling=each)
                    )
                known.pop(each, None)
                known = {name: [one for one in of if one != each] for name, of in known.items()}
            return self._write(_checked({name: of for name, of in known.items() if of}))

    def propose(self, *, most: int = MOST) -> list[Proposal]:
        """Spellings that may be of one name, the likeliest first, with quotes; none is added."""
        from rag_app.corpus.contents.alias_proposals import proposals

        known = self.all()
        with self.stores.reading() as store:
            limited = store.limited(None, self.scope)
            return proposals((limited.document(one.id) for one in limited.named()), known)[:most]

    def _write(self, aliases: Aliases) -> Aliases:
        file = self.folder / ALIAS_FILE
        values = {one.name: one.spellings for one in aliases.entries}
        with writable(file, "make room", kind=CorpusError):
            put_in_place(file, json.dumps(values, ensure_ascii=False, indent=1))
        return aliases


def _plain(text: str) -> str:
    plain = " ".join(one_line(text).split())
    if not plain or len(plain) > LONGEST or ANY in plain:
        raise InvalidRequest(
            N_(
                "a spelling has 1 to %(most)s characters and no %(mark)s",
                most=LONGEST,
                mark=repr(ANY),
            )
        )
    return plain


def _checked(known: dict[str, list[str]]) -> Aliases:
    """Aliases of which no spelling is of two names, and none a name."""
    owners: dict[str, str] = {}
    for name, spellings in known.items():
        for each in spellings:
            other = owners.setdefault(_plain(each), name)
            if other != name:
                reason = N_("%(spelling)s: is of %(name)s already", spelling=each, name=other)
                raise InvalidRequest(joined([reason, N_("remove that first")]))
            if each in known:
                reason = N_("%(spelling)s: is a name itself", spelling=each)
                raise InvalidRequest(joined([reason, N_("remove that first")]))
    entries = (Alias(_plain(name), tuple(dict.fromkeys(of))) for name, of in known.items() if of)
    return Aliases(tuple(sorted(entries, key=lambda one: one.name.casefold())))
