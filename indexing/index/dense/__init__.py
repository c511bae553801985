"""Vectors in, the nearest ones out: FAISS, on the processor or a GPU."""
