"""What is served: one corpus, and the parts that people and programs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.errors import RagAppError
from indexing.models.files import DEFAULT_GENERATOR
from rag_app.chat.answer_jobs import Runs
from rag_app.chat.conversation_store import Chats
from rag_app.chat.document_list import Shelf
from rag_app.chat.ingest_queue import Intake
from rag_app.chat.question_queue import Asking
from rag_app.chat.uploads import Uploads

if TYPE_CHECKING:
    from generator.answer import Mode
    from rag_app.corpus.corpus import Corpus

UPLOADS = "uploads"
CHATS = ".chats"


@dataclass(frozen=True)
class Application:
    """The parts of a served corpus.

    Attributes:
        corpus: The documents.
        answer: How questions are answered when nobody chooses.
        generator: The language model's name.
        asking: The line in front of the model.
        chats: Kept conversations.
        runs: Answers in the making.
        uploads: Files that were handed in.
        intake: Files on their way into the corpus.
        shelf: The documents that the page lists.
    """

    corpus: Corpus
    answer: Mode
    generator: str
    asking: Asking
    chats: Chats
    runs: Runs
    uploads: Uploads
    intake: Intake
    shelf: Shelf

    @classmethod
    def over(
        cls,
        corpus: Corpus,
        *,
        answer: Mode = "quote",
        generator: str = DEFAULT_GENERATOR,
        max_bytes: int,
    ) -> Application:
        """Everything that is served over a corpus; all of it is kept in the corpus's folder."""
        asking, chats = Asking(corpus), Chats(corpus.folder / CHATS)
        uploads = Uploads(corpus.folder / UPLOADS, max_bytes=max_bytes)
        return cls(
            corpus=corpus,
            answer=answer,
            generator=generator,
            asking=asking,
            chats=chats,
            runs=Runs(asking, chats),
            uploads=uploads,
            intake=Intake(corpus, max_bytes=max_bytes),
            shelf=Shelf(corpus, uploads),
        )

    def warm(self) -> None:
        """Load what the first question needs, so that nobody waits for it."""
        try:
            if self.corpus.documents():
                self.corpus.search("warm", k=1, passages=1)
        except RagAppError:
            return  # whoever asks is told
