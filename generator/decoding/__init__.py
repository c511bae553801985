"""A language model and evidence in, an answer out: one way of decoding over documents a file."""
