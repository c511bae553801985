"""Hits -> an answer whose every quote is a span of a document.

The default answer is made of verbatim sentences and asks no language model; a free answer is the
model's own words, each sentence checked against the evidence it was shown.
"""
