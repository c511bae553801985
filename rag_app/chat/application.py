"""The served application: one corpus, and the parts that the page and the APIs share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from generator.answer import Mode
from indexing.models.graphs.cores import Cores
from rag_app.chat.collection_list import CollectionList
from rag_app.chat.conversation_store import ConversationStore
from rag_app.chat.document_list import DocumentList
from rag_app.chat.model_choice import ModelChoice
from rag_app.chat.queues.answer_jobs import AnswerJobs
from rag_app.chat.queues.ingest_queue import IngestQueue
from rag_app.chat.queues.question_queue import QuestionQueue
from rag_app.chat.queues.tellings import Tellings
from rag_app.chat.readiness import Readiness
from rag_app.chat.removal_notice import RemovalNotices
from rag_app.chat.uploads import MAX_RECORDING, Uploads
from rag_app.chat.viewer.viewer import Viewer
from rag_app.chat.welcome.suggestions import Suggestions
from rag_app.corpus.access import SharedCorpus

if TYPE_CHECKING:
    from gradio import Blocks


UPLOADS = "uploads"
CHATS = ".chats"


class Application:
    """The parts of a served corpus; whatever they store lies in the corpus's folder.

    Where `model_named`, the server was started with a language model, and nobody chooses another on
    the page. `people` may log in; nobody has to where there are none. `max_recording` is in bytes.
    `measurements` builds the view that measures, for engineers.
    """

    def __init__(  # noqa: PLR0913 - options, by keyword only
        self,
        corpus: SharedCorpus,
        *,
        answer: Mode = "quote",
        model_named: bool = False,
        people: Sequence[str] = (),
        max_recording: int = MAX_RECORDING,
        measurements: Callable[[Application, Blocks], None] | None = None,
    ) -> None:
        self.corpus, self.answer, self.people = corpus, answer, tuple(people)
        self.measurements = measurements
        cores = Cores()
        self.questions = QuestionQueue(corpus, cores)
        self.conversations = ConversationStore(corpus.folder / CHATS)
        self.jobs = AnswerJobs(self.questions, self.conversations)
        self.tellings = Tellings(self.questions, self.conversations, self.jobs)
        self.models = ModelChoice(corpus, fixed=model_named, people=people)
        self.models.restore()
        self.uploads = Uploads(
            corpus.folder / UPLOADS, max_bytes=corpus.limits.bytes, max_recording=max_recording
        )
        self.ingest_queue = IngestQueue(corpus, self.uploads, cores)
        self.document_list = DocumentList(corpus, self.uploads)
        self.collection_list = CollectionList(corpus)
        self.removal_notices = RemovalNotices(corpus, self.conversations, people)
        self.viewer = Viewer(corpus)
        self.suggestions = Suggestions(corpus, self.questions, self.ingest_queue)
        self.readiness = Readiness(corpus)
