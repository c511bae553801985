"""Documents, passages and vectors in, the same out after any crash: one SQLite file."""
