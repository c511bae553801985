"""A question and passages in, the passages in a better order out: here, or by a server."""
