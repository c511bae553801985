"""Queries in, vectors out, as the encoder makes them: without torch, for programs that ask once.

A sentence is a hundredth of a second's work, and loading an encoder is some seconds of it. So the
encoder's graph (`indexing.models.graphs.graph`) does it, in float32: a vector differs from the
encoder's by rounding alone, which is that of bfloat16 where the encoder computes in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from indexing.encoder.fingerprint import WITHIN_MODEL, Fingerprint
from indexing.encoder.pooling import FloatArray, unit
from indexing.encoder.tokenizer import IntArray, Tokenize, Tokens, load_tokenizer
from indexing.errors import RagAppError
from indexing.message import Notify
from indexing.models.files import Weights, encoder_weights, model_files
from indexing.models.graphs.graph import Graph, GraphName
from indexing.models.graphs.graph_cache import load_or_make

if TYPE_CHECKING:
    from indexing.models.graphs.graph_export import Export


_NUMBERS = np.dtype("<f4")
_TOLERANCE = 1e-3  # of a length


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """Vectors of texts of one token, cached in a file with a row for each token.

    The words of evidence are embedded one by one, and most of them are one token. A row that is not
    of length one is not there, so that one that was half written is computed again. Processes may
    write at once: all write the same.
    """

    path: Path  # the file; it need not exist, nor need it be possible to write it
    dimension: int  # of a vector

    def find(self, tokens: Sequence[int]) -> FloatArray:
        """(n, d) the vectors of tokens; a row of zeros for one that is not there."""
        vectors = np.zeros((len(tokens), self.dimension), np.float32)
        try:
            numbers = np.memmap(self.path, _NUMBERS, "r")
        except (OSError, ValueError):  # no such file, or an empty one
            return vectors
        rows = numbers[: len(numbers) // self.dimension * self.dimension]
        rows = rows.reshape(-1, self.dimension)
        there = np.array([token < len(rows) for token in tokens], bool)
        vectors[there] = rows[np.asarray(tokens, np.int64)[there]]
        lengths = np.linalg.norm(vectors, axis=1)
        vectors[~(np.abs(lengths - 1) <= _TOLERANCE)] = 0
        return vectors

    def keep(self, tokens: Sequence[int], vectors: FloatArray) -> None:
        """Write the vectors of tokens, (n, d), where that is possible."""
        with suppress(OSError):
            self.path.touch(0o600)
            with self.path.open("r+b") as file:
                for token, vector in zip(tokens, vectors, strict=True):
                    file.seek(token * self.dimension * _NUMBERS.itemsize)
                    file.write(vector.astype(_NUMBERS).tobytes())


_TOKENS = 1024  # at once
_MANY = 100  # texts from which it pays to pack the weights first


@dataclass(frozen=True, slots=True)
class QueryEncoder:
    """Encodes queries through a graph."""

    fingerprint: Fingerprint  # how the vectors were made that they are compared with
    graph: Graph  # token rows of one length (n, t) to vectors (n, d)
    tokens: Tokens  # the tokenizer, and what goes around a query
    singles: TokenVectors  # vectors of queries of one token that were encoded before

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Encode queries, (n, d) float32 with unit rows. A query is never windowed, only cut."""
        limit = self.fingerprint.max_length
        rows = [self.tokens.query(self.tokens.ids(text)[0], limit) for text in texts]
        vectors = np.zeros((len(rows), self.fingerprint.dimension), np.float32)
        at, length = self.tokens.before_query, self.tokens.around_query + 1
        alone = [i for i, row in enumerate(rows) if len(row) == length <= limit]
        vectors[alone] = self.singles.find([int(rows[i][at]) for i in alone])
        new = [i for i in alone if not vectors[i].any()]
        rest = {*range(len(rows))} - {*alone} | {*new}
        self._encode(sorted(rest, key=lambda i: len(rows[i])), rows, vectors)
        vectors = unit(vectors)
        self.singles.keep([int(rows[i][at]) for i in new], vectors[new])
        return vectors

    def _encode(self, order: Sequence[int], rows: Sequence[IntArray], vectors: FloatArray) -> None:
        """Fill in the vectors, not normalised, of some rows of token ids, shortest first."""
        graph = self.graph.packed() if len(order) >= _MANY else self.graph
        batches: list[list[int]] = []
        for length, group in groupby(order, key=lambda i: len(rows[i])):
            same, size = list(group), max(1, _TOKENS // length)
            batches += [same[at : at + size] for at in range(0, len(same), size)]
        inputs = [{"ids": np.stack([rows[i] for i in some])} for some in batches]
        for some, (outputs,) in zip(batches, graph.run_each(inputs), strict=True):
            vectors[some] = outputs


def query_encoder(fingerprint: Fingerprint, *, notify: Notify | None = None) -> QueryEncoder | None:
    """What encodes queries for vectors that were made in a way; None where only the encoder can.

    The graph is exported if it is not there, which takes some seconds, once.
    """
    if fingerprint.extension not in WITHIN_MODEL:
        return None
    try:
        weights = encoder_weights(fingerprint.model)
    except RagAppError:  # the encoder says it
        return None
    if weights.revision != fingerprint.revision:
        return None
    graph = query_graph(weights, notify=notify)
    if graph is None:
        return None
    facts = graph.record
    if (facts["pooling"], facts["dimension"]) != (fingerprint.pooling, fingerprint.dimension):
        return None
    around = {name: tuple(facts[name]) for name in ("head", "tail", "for_documents", "for_queries")}
    singles = TokenVectors(_graph_name(weights).folder / "tokens.f32", fingerprint.dimension)
    return QueryEncoder(fingerprint, graph, Tokens(_tokenize(weights), **around), singles)


def query_graph(weights: Weights, *, notify: Notify | None = None) -> Graph | None:
    """The graph of an encoder of queries, exported if it is not there; None where it cannot be."""

    def build() -> Export:
        from indexing.encoder.query_model import query_export

        return query_export(weights)

    return load_or_make(_graph_name(weights), build, notify=notify)


def _graph_name(weights: Weights) -> GraphName:
    return GraphName(f"{Path(weights.name).name}-queries", model_files(weights))


def _tokenize(weights: Weights) -> Tokenize:
    tokenizer = load_tokenizer(weights.folder, special_tokens_in_text=False)

    def tokenize(text: str) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        encoded = tokenizer.encode(text, add_special_tokens=False)
        return encoded.ids, encoded.offsets

    return tokenize
