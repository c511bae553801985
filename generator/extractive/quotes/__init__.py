"""Ranked sentences in, the quotes of an answer out."""
