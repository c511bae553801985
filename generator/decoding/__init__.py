"""A model, a request and evidence in, an answer out: one file for each way of decoding."""

from __future__ import annotations

from generator.decoding.base import Decoding
from generator.decoding.concat import concat
from generator.decoding.quotes import quotes
from generator.decoding.rag import rag_sequence, rag_token

DECODINGS: dict[str, Decoding] = {
    "concat": concat,
    "rag-token": rag_token,
    "rag-sequence": rag_sequence,
    "quotes": quotes,
}
"""Ways of decoding over documents, by name."""
