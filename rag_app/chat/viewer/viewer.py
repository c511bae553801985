"""What people can open of a document, limited to what they may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from indexing.documents import Document, Figure
from indexing.errors import RagAppError
from indexing.filter import OWNER, Scope
from rag_app.chat.viewer.original import Original, Originals
from rag_app.chat.viewer.page_pictures import Box, PagePictures
from rag_app.chat.viewer.recording import Recording, recording
from rag_app.chat.viewer.scanned_boxes import boxes
from rag_app.corpus.access import SharedCorpus

NOT_DRAWN = "The pages cannot be shown as pictures here: {}. This is their text."


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document with what belongs to it outside of the corpus: its file and its recording.

    Sizes are the width and height of each page in points, where they can be drawn; the problem says
    why the file itself is not shown.
    """

    document: Document
    original: Original
    sizes: tuple[tuple[float, float], ...] = ()
    recording: Recording | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PageBoxes:
    """Where the part of a span that is on one page stands: a box a line, none if uncertain."""

    page: int
    boxes: tuple[Box, ...]
    words: str


class Viewer:
    """Opens documents."""

    def __init__(self, corpus: SharedCorpus) -> None:
        self._corpus = corpus
        self._originals, self._pictures = Originals(corpus), PagePictures()

    def close(self) -> None:
        """End the processes that read and draw files."""
        self._originals.close()
        self._pictures.close()

    def document(self, id_: str, person: str | None) -> Document:
        """A document that a person may see.

        Raises:
            DocumentNotFound: There is none of that id, or they may not see it.
        """
        return self._corpus.seen_by(Scope(person)).document(id_)

    def open(self, id_: str, person: str | None) -> OpenDocument:
        """A document with its file and its recording; errors as in `document`."""
        document = self.document(id_, person)
        original = self._originals.of(document)
        if original.path is None:
            return OpenDocument(document, original, problem=original.problem)
        if document.format != "pdf":
            beside = recording(original.path) if document.utterances else None
            return OpenDocument(document, original, recording=beside)
        try:
            sizes = tuple(self._pictures.sizes(original))
        except RagAppError as error:
            reason = getattr(error, "reason", "the program that draws them cannot be started")
            return OpenDocument(document, original, problem=NOT_DRAWN.format(reason))
        return OpenDocument(document, original, sizes)

    def figure(self, id_: str, person: str | None, key: str) -> Figure:
        """A figure of a document with its data.

        Raises:
            DocumentNotFound: As in `document`, or it has no such figure.
        """
        return self._corpus.seen_by(Scope(person)).figure(id_, key)

    def recording(self, id_: str, person: str | None) -> Recording | None:
        """What is played beside a document; errors as in `document`."""
        document = self.document(id_, person)
        path = self._originals.of(document).path
        return recording(path) if path is not None and document.utterances else None

    def picture(self, id_: str, person: str | None, page: int, width: int) -> bytes | None:
        """A page as JPEG, about so many pixels wide; None where its file cannot be shown.

        Raises:
            DocumentNotFound: As in `document`.
            UnreadableFile: There is no such page, or it cannot be drawn.
        """
        original = self._pdf(self.document(id_, person))
        return None if original is None else self._pictures.picture(original, page, width)

    def boxes(self, id_: str, person: str | None, start: int, end: int) -> list[PageBoxes]:
        """Where a span stands on each page that it touches; errors as in `picture`."""
        document = self.document(id_, person)
        original = self._pdf(document)
        return [] if original is None else list(self._boxes(document, original, start, end))

    def _pdf(self, document: Document) -> Original | None:
        """The file of a document if it is a PDF that can be shown."""
        if document.format != "pdf":
            return None
        original = self._originals.of(document)
        return None if original.path is None else original

    def _boxes(
        self, document: Document, original: Original, start: int, end: int
    ) -> Iterator[PageBoxes]:
        with self._corpus.seen_by(OWNER).reading() as now:
            readings = now.store.pictures.readings_of(document.id) if document.recognised else {}
        for page in document.pages:
            first, last = max(start, page.start), min(end, page.end)
            if first >= last:
                continue
            text = document.text[page.start : page.end]
            span = (first - page.start, last - page.start)
            if page.number in readings:
                places = boxes(readings[page.number], text, *span)
            else:
                places = self._pictures.boxes(original, page.number, text, *span)
            yield PageBoxes(page.number, tuple(places), document.text[first:last])
