"""A statement in English in, the question that it answers out."""
