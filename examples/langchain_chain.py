"""A LangChain chain: our retriever and our language model, LangChain's prompt and parser.

pip install "rag-app[langchain]"
python examples/langchain_chain.py data/samples "Who asked for a rubber case?"
"""

import sys

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from rag_app import Corpus
from rag_app.langchain import ChatRagApp, RagAppRetriever

PROMPT = ChatPromptTemplate.from_template("{passages}\n\nAnswer in one sentence: {question}")


def join(passages: list[Document]) -> str:
    """The passages as text, each with its title."""
    return "\n\n".join(f"{each.metadata['title']}: {each.page_content}" for each in passages)


def main(folder: str, question: str) -> None:
    """Retrieve two passages from the folder and let the model answer from them."""
    with Corpus("my-corpus") as corpus:
        corpus.add([folder])
        retriever = RagAppRetriever(corpus=corpus, k=2)
        chain = (
            {"passages": retriever | join, "question": RunnablePassthrough()}
            | PROMPT
            | ChatRagApp(max_tokens=32)
            | StrOutputParser()
        )
        print(chain.invoke(question))


if __name__ == "__main__":
    main(*sys.argv[1:])
