"""A query to the documents that answer it, each with the passages that hold the evidence."""
