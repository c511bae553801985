"""A document with the vectors of its passages -> its overview, whose every sentence is a quote.

No model runs: topics come from the vectors that are stored, words and who speaks.
"""
