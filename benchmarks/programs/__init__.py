"""Texts and questions in a folder go in; the documents that a library finds come out.

One library a file, each in the way that its documentation shows first, with the packaged encoder.
They are run as processes by `benchmarks/peers.py`; nothing here imports more than its library.
"""
