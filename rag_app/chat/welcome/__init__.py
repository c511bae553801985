"""Somebody's documents in; what they see before their first question out: an overview, questions.

Without documents, samples to try it with.
"""
