"""txtai: its embeddings database, vectors and BM25 together ("hybrid")."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.program import BEST, Job, Search, main


def _embeddings(**settings: object) -> Any:  # noqa: ANN401 - txtai has no types
    from txtai import Embeddings

    return Embeddings(**settings)


def index(job: Job) -> None:
    """A saved database."""
    database = _embeddings(path=job.encoder, hybrid=True, content=True)
    database.index([(number, each.text, None) for number, each in enumerate(job.texts)])
    database.save(str(job.folder))


def load(job: Job) -> Search:
    """The best passages."""
    database = _embeddings()
    database.load(str(job.folder))
    return lambda question: [
        job.texts[int(each["id"])].document for each in database.search(question, BEST)
    ]


if __name__ == "__main__":
    main(index, load)
