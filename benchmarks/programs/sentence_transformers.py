"""sentence-transformers: its own encoding and its own semantic search."""

from __future__ import annotations

from benchmarks.programs.program import BEST, Job, Search, main


def index(job: Job) -> None:
    """Vectors in a file."""
    import numpy as np
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(job.encoder)
    np.save(job.folder / "vectors.npy", model.encode([each.text for each in job.texts]))


def load(job: Job) -> Search:
    """Cosines with all vectors."""
    import numpy as np
    from sentence_transformers import SentenceTransformer, util

    model, vectors = SentenceTransformer(job.encoder), np.load(job.folder / "vectors.npy")

    def search(question: str) -> list[str]:
        (found,) = util.semantic_search(model.encode([question]), vectors, top_k=BEST)
        return [job.texts[int(each["corpus_id"])].document for each in found]

    return search


if __name__ == "__main__":
    main(index, load)
