"""Hits -> an answer whose every quote is a span of a document.

The default answer is made of verbatim sentences and asks no language model; in a generated answer,
each sentence is checked against the evidence that the model was shown.
"""
