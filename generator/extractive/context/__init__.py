"""Sentences in their document in, a cosine with the question for each out (late chunking)."""
