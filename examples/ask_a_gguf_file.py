"""Ask a folder of documents a question, answered by a language model in a GGUF file.

pip install "rag-app[offline,cpu,llama]"
python examples/ask_a_gguf_file.py data/samples FILE.gguf "When is the launch of Heron now?"
"""

import sys

from generator.settings import GeneratorSettings
from rag_app import Corpus


def main(folder: str, file: str, question: str) -> None:
    """Index the folder, ask, and say of each sentence of the answer what supports it."""
    settings = GeneratorSettings(file, answer="free")
    with Corpus("my-corpus", generator=settings) as corpus:
        corpus.add([folder])
        answer = corpus.ask(question)

    print(answer.text, "\n")
    for citation in answer.citations:
        print(f"[{citation.marker}] {citation.title}: {citation.quote!r}")
    print(f"\n{answer.configuration['engine']}; first words after {answer.seconds['first']:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
