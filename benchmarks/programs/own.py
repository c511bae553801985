"""rag-app by its own `Corpus`, which reads the files, and ranks documents by passages and words."""

from __future__ import annotations

from benchmarks.programs.program import BEST, Job, Search, main


def index(job: Job) -> None:
    """Files to a corpus."""
    from rag_app import Corpus

    with Corpus(job.folder, quick_start=True) as corpus:
        corpus.add(job.files)
        corpus.prepare()


def load(job: Job) -> Search:
    """The default ranking, quick to start, as `rag-app search` does it."""
    from rag_app import Corpus

    corpus = Corpus(job.folder, quick_start=True)
    return lambda question: [hit.path for hit in corpus.search(question, k=BEST)]


if __name__ == "__main__":
    main(index, load)
