"""The store in, indexes derived from it out: nearest vectors, BM25, speakers."""
