"""A document in, its vector and the vectors of its passages out."""
