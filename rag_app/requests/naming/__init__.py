"""A question, or a phrase of it, in; the documents that it names out."""
