"""The served application: one corpus, and the parts that the page and the APIs share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.models.graphs.cores import Cores
from rag_app.chat.changes import Changes
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

if TYPE_CHECKING:
    from gradio import Blocks

    from generator.answer import Mode
    from rag_app.corpus.access import SharedCorpus

UPLOADS = "uploads"
CHATS = ".chats"


@dataclass(frozen=True)
class Application:
    """The parts of a served corpus.

    Attributes:
        corpus: The documents.
        answer: Default answer mode.
        questions: The queue in front of the model.
        conversations: Stored conversations.
        jobs: Answers in progress.
        tellings: What is new for standing questions.
        uploads: Uploaded files.
        ingest_queue: Uploaded files on their way into the corpus.
        document_list: The documents that the page lists.
        collection_list: The collections that the page lists.
        people: Everybody who may log in; nobody where that is not needed.
        removal_notices: Whom it concerns that a document is removed.
        changes: Whether anything of what a page shows has changed.
        viewer: Opens documents.
        suggestions: What is shown of documents before the first question.
        models: Which language model writes.
        readiness: Whether models are loaded.
        measurements: Builds the view that measures, for engineers; None where there is none.
    """

    corpus: SharedCorpus
    answer: Mode
    questions: QuestionQueue
    conversations: ConversationStore
    jobs: AnswerJobs
    tellings: Tellings
    uploads: Uploads
    ingest_queue: IngestQueue
    document_list: DocumentList
    collection_list: CollectionList
    people: Sequence[str]
    removal_notices: RemovalNotices
    changes: Changes
    viewer: Viewer
    suggestions: Suggestions
    models: ModelChoice
    readiness: Readiness
    measurements: Callable[[Application, Blocks], None] | None = None

    @property
    def generator(self) -> str:
        """The language model's name."""
        return self.models.current

    @classmethod
    def over(
        cls,
        corpus: SharedCorpus,
        *,
        answer: Mode = "quote",
        model_named: bool = False,
        people: Sequence[str] = (),
        max_recording: int = MAX_RECORDING,
    ) -> Application:
        """The parts over a corpus; whatever they store lies in the corpus's folder.

        Args:
            corpus: The documents.
            answer: Default answer mode.
            model_named: Whether the language model was named when the server was started, so that
                nobody chooses another on the page.
            people: Everybody who may log in; nobody where that is not needed.
            max_recording: Bytes of an uploaded recording, at most.
        """
        cores = Cores()
        questions = QuestionQueue(corpus, cores)
        conversations = ConversationStore(corpus.folder / CHATS)
        jobs = AnswerJobs(questions, conversations)
        models = ModelChoice(corpus, fixed=model_named, people=people)
        models.restore()
        uploads = Uploads(
            corpus.folder / UPLOADS, max_bytes=corpus.limits.bytes, max_recording=max_recording
        )
        ingest_queue = IngestQueue(corpus, uploads, cores)
        readiness = Readiness(corpus)
        suggestions = Suggestions(corpus, questions, ingest_queue)
        return cls(
            corpus=corpus,
            answer=answer,
            questions=questions,
            conversations=conversations,
            jobs=jobs,
            tellings=Tellings(questions, conversations, jobs),
            uploads=uploads,
            ingest_queue=ingest_queue,
            document_list=DocumentList(corpus, uploads),
            collection_list=CollectionList(corpus),
            people=tuple(people),
            removal_notices=RemovalNotices(corpus, conversations, people),
            changes=Changes(corpus, ingest_queue, conversations, suggestions, readiness),
            viewer=Viewer(corpus),
            suggestions=suggestions,
            models=models,
            readiness=readiness,
        )
