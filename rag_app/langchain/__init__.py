"""LangChain interfaces to this package. Needs only langchain-core.

ChatRagApp, RagAppEmbeddings, RagAppRetriever, RagAppVectorStore.
"""

from indexing.errors import MissingDependency

try:
    import langchain_core  # noqa: F401 - whether it is there
except ImportError as error:
    raise MissingDependency(
        "langchain-core", "Using this from LangChain", 'pip install "rag-app[langchain]"'
    ) from error

from rag_app.langchain.chat_model import ChatRagApp
from rag_app.langchain.embeddings import RagAppEmbeddings
from rag_app.langchain.retriever import RagAppRetriever
from rag_app.langchain.vector_store import RagAppVectorStore

__all__ = ["ChatRagApp", "RagAppEmbeddings", "RagAppRetriever", "RagAppVectorStore"]
