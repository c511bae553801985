"""A LangChain retriever whose documents are passages."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import Field

from indexing.documents import Hit, PassageHit
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from rag_app.corpus.corpus import Corpus
from rag_app.request_fields import SearchOptions, fields_of, request_field


class RagAppRetriever(BaseRetriever):
    """The best passages of a corpus for a question.

    They are the passages of the best documents, ranked as in `search` and `ask`. Each is a document
    whose `page_content` is `text[start:end]` of its source document, and whose `metadata` has:

    - `source`, `title`, `part`: the file, its name, and which document of the file it is,
    - `document`, `start`, `end`: the id for `Corpus.document`, and the place in its text,
    - `page`: of its first character; None where the format has no pages,
    - `place`: what that page is called, such as "page 4" or "slide 4",
    - `speaker`, `speakers`: who says most of it, or None, and everyone who speaks in it,
    - `utterances`: with a limit to a speaker, the spans of the source's text that are theirs; what
      else is in the page is said by others, and `speaker` and `time` are of the first span,
    - `time`: the second of the recording at which it begins, or None,
    - `score`: comparable within one result only.

    Attributes:
        corpus: The corpus to search.
        k: Maximum number of passages.
        where: Limits by document, path, speaker, date and participants.
        ranking: A name from `retriever.fusion.RANKINGS`.

    These can be given with a question too, and so can each limit by its name:
    `retriever.invoke("...", k=3, speaker="Ada")`.
    """

    corpus: Corpus
    k: int = Field(default=4, ge=1)
    where: Filter | None = None
    ranking: str = "default"

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **options: Any,  # noqa: ANN401 - what LangChain passes on
    ) -> list[Document]:
        """Raises InvalidRequest for an empty question, an unknown option or an impossible k."""
        known = {"where", *(one.name for one in fields_of("LangChain", "search"))}
        if unknown := options.keys() - known:
            raise InvalidRequest(f"no option {', '.join(unknown)}; use {', '.join(sorted(known))}")
        given = {name: value for name, value in options.items() if value is not None}
        fields = {"k": self.k, "where": self.where, "ranking": self.ranking} | given
        k = int(fields["k"])
        if k < 1:
            raise InvalidRequest(f"k is {k}; it must be at least 1")
        fields |= {"k": max(k, request_field("k").default), "passages": k}
        hits = self.corpus.search(query, **cast(SearchOptions, fields))
        pairs = [(passage, hit) for hit in hits for passage in hit.passages]
        pairs.sort(key=lambda pair: -pair[0].score)
        return [_document(passage, hit) for passage, hit in pairs[:k]]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **options: Any,  # noqa: ANN401 - as above
    ) -> list[Document]:
        """The same in a thread."""
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **options
        )


def _document(passage: PassageHit, hit: Hit) -> Document:
    return Document(
        id=f"{hit.document}:{passage.start}-{passage.end}",
        page_content=passage.text,
        metadata={
            "source": hit.path,
            "title": hit.title,
            "part": hit.part,
            "document": hit.document,
            "start": passage.start,
            "end": passage.end,
            "page": passage.page,
            "place": passage.place,
            "speaker": passage.speaker,
            "speakers": list(passage.speakers),
            "utterances": [(one.text_start, one.end) for one in passage.utterances],
            "time": passage.time,
            "score": passage.score,
        },
    )
