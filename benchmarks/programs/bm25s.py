"""bm25s: words alone, stemmed, its index mapped from the disk."""

from __future__ import annotations

from benchmarks.programs.program import BEST, Job, Search, main


def index(job: Job) -> None:
    """A saved index."""
    import bm25s
    import Stemmer

    texts = [each.text for each in job.texts]
    tokens = bm25s.tokenize(
        texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False
    )
    made = bm25s.BM25()
    made.index(tokens, show_progress=False)
    made.save(str(job.folder))


def load(job: Job) -> Search:
    """The best passages."""
    import bm25s
    import Stemmer

    made = bm25s.BM25.load(str(job.folder), mmap=True)
    stemmer, most = Stemmer.Stemmer("english"), min(BEST, len(job.texts))

    def search(question: str) -> list[str]:
        tokens = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False)
        found, _ = made.retrieve(tokens, k=most, show_progress=False)
        return [job.texts[int(each)].document for each in found[0]]

    return search


if __name__ == "__main__":
    main(index, load)
