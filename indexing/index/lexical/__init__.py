"""Terms in, scores of passages out: BM25."""
