"""The speakers of a corpus: list, rename, merge and restore them.

A name stands beside the label of the file. Text, spans and vectors stay, so that quotes do, and
nothing is encoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexing.documents import Document
from indexing.errors import InvalidRequest, SpeakerNotFound
from indexing.filter import Filter, Scope
from indexing.loaders.charset import one_line
from indexing.store.view import StoreView
from rag_app.corpus.contents.document_names import documents_named
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.stores import Stores

LONGEST = 200  # characters of a name

# Labels that a program gives out again in each recording: who is behind one differs.
_NUMBERED = re.compile(
    r"(?i:speaker|spk|participant|person|interviewee|interviewer|guest|unknown(?:[ _]speaker)?"
    r"|sprecher(?:in)?)[ _-]*[\dA-Za-z]{0,3}|[A-Z]|\d+"
)


@dataclass(frozen=True, slots=True)
class Speaker:
    """A speaker of a document.

    Attributes:
        document: Its id.
        title: Its name.
        label: As the file spells them.
        name: As they are called; the label, unless somebody gave another.
        words: How many they say.
        utterances: How often they speak.
    """

    document: str
    title: str
    label: str
    name: str
    words: int
    utterances: int


@dataclass(frozen=True, slots=True)
class CorpusSpeakers:
    """The speakers of the transcripts of a corpus.

    Errors of each: `DocumentNotFound` for a name that stands for no document, `SpeakerNotFound` for
    somebody who speaks in none of them, `InvalidRequest` for a name that cannot be, and
    `CorpusLocked` while another process writes.
    """

    stores: Stores  # where they are
    indexes: Indexes  # what is derived from them
    scope: Scope  # what may be read of them

    def all(self, documents: Iterable[str] = (), *, where: Filter | None = None) -> list[Speaker]:
        """Everybody who speaks, by document, most words first.

        Args:
            documents: Ids, titles, paths or folders; none for all.
            where: Limits by collection.
        """
        with self.stores.reading() as store:
            limited = store.limited(where, self.scope)
            ids = _ids(documents, limited)
            return [one for id_ in ids for one in _speakers(limited, id_)]

    def rename(
        self, speaker: str, name: str, documents: Iterable[str] = (), *, where: Filter | None = None
    ) -> list[Speaker]:
        """Give a speaker another name; one that another speaker has makes them one person.

        Args:
            speaker: Their name, or their label in the file.
            name: The new one.
            documents: In which; none for all. A label such as "SPEAKER_01" is somebody else in each
                recording, so that these have to be named where several have it.
            where: Limits by collection.

        Returns:
            The speakers of the documents that changed.
        """
        new = " ".join(one_line(name).split())
        if not new or len(new) > LONGEST:
            raise InvalidRequest(f"a speaker's name has 1 to {LONGEST} characters; give another")
        names = tuple(documents)

        def renamed(document: Document, labels: Iterable[str]) -> dict[str, str]:
            return document.speaker_names | dict.fromkeys(labels, new)

        return self._change(speaker, names, where, renamed, every=bool(names))

    def restore(
        self, speaker: str, documents: Iterable[str] = (), *, where: Filter | None = None
    ) -> list[Speaker]:
        """Call a speaker as the file does again; those who were made one are several again.

        Args:
            speaker: Their name, or their label in the file.
            documents: In which; none for all.
            where: Limits by collection.

        Returns:
            The speakers of the documents that changed.
        """

        def restored(document: Document, labels: Iterable[str]) -> dict[str, str]:
            without = set(labels)
            names = document.speaker_names
            return {label: name for label, name in names.items() if label not in without}

        return self._change(speaker, tuple(documents), where, restored, every=True)

    def _change(
        self,
        speaker: str,
        documents: Sequence[str],
        where: Filter | None,
        names: Callable[[Document, Iterable[str]], dict[str, str]],
        *,
        every: bool,
    ) -> list[Speaker]:
        """Set the names of documents in which somebody speaks, in one transaction."""
        with self.stores.writing() as store:
            limited = store.limited(where, self.scope)
            transcripts = [limited.document(id_) for id_ in _ids(documents, limited)]
            labels = {one.id: _labels(one, speaker) for one in transcripts}
            having = [one for one in transcripts if labels[one.id]]
            if not having:
                raise SpeakerNotFound(
                    f"{speaker}: nobody of this name speaks there; see: rag-app speakers"
                )
            if len(having) > 1 and not every and _NUMBERED.fullmatch(speaker.strip()):
                raise InvalidRequest(
                    f"{speaker}: in {len(having)} documents, and likely somebody else in each; "
                    "name the documents"
                )
            changed = {one.id: names(one, labels[one.id]) for one in having}
            changed = {
                one.id: changed[one.id] for one in having if changed[one.id] != one.speaker_names
            }
            if changed:
                store.name_speakers(changed)
                self.indexes.refresh(store)
            return [one for each in having for one in _speakers(store, each.id)]


def _ids(documents: Iterable[str], store: StoreView) -> list[str]:
    """Ids of the transcripts that are named, or of all, in the order they were added."""
    entries, spoken = store.entries(), store.transcripts()
    names = list(documents)
    named = {id_ for name in names for id_ in documents_named(str(name), entries)}
    return [one.id for one in entries if one.id in spoken and (not names or one.id in named)]


def _labels(document: Document, speaker: str) -> set[str]:
    """The labels of somebody who is called so, or whom the file calls so."""
    folded = speaker.strip().casefold()
    pairs = {(one.label, one.speaker) for one in document.utterances if one.label and one.speaker}
    exact = {label for label, name in pairs if label and speaker.strip() in {label, name}}
    if exact:
        return exact
    return {
        label
        for label, name in pairs
        if label and folded in {label.casefold(), (name or "").casefold()}
    }


def _speakers(store: StoreView, id_: str) -> Iterator[Speaker]:
    document = store.document(id_)
    words: dict[tuple[str, str], list[int]] = {}
    for one in document.utterances:
        if one.label and one.speaker:
            count = words.setdefault((one.label, one.speaker), [0, 0])
            count[0] += len(document.text[one.text_start : one.end].split())
            count[1] += 1
    for (label, name), (spoken, often) in sorted(words.items(), key=lambda each: -each[1][0]):
        yield Speaker(id_, document.title, label, name, spoken, often)
