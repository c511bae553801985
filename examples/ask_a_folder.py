"""Ask a folder of documents a question, and check the citations.

python examples/ask_a_folder.py data/samples "What is the final launch date of Heron?"
"""

import sys

from rag_app import Corpus


def main(folder: str, question: str) -> None:
    """Index what is new or changed in the folder, ask, and print the answer with its sources."""
    with Corpus("my-corpus") as corpus:
        report = corpus.add([folder])
        print(f"{len(report.added)} documents added, {report.unchanged} unchanged\n")

        answer = corpus.ask(question)
        print(answer.text, "\n")
        for citation in answer.citations:
            text = corpus.document(citation.document).text
            assert text[citation.start : citation.end] == citation.quote
            print(f"[{citation.marker}] {citation.title}, characters {citation.start} on")

        for entry in answer.context:
            print(f"{entry.kept} of {entry.tokens} tokens of {entry.title} were read")


if __name__ == "__main__":
    main(*sys.argv[1:])
