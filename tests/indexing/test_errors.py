"""Errors reach another process as they are."""

from __future__ import annotations

import pickle

import pytest

from indexing.errors import (
    ClusterLost,
    MissingDependency,
    RagAppError,
    ShardLost,
    UnreadableFile,
    WorkersLost,
)


@pytest.mark.parametrize(
    "error",
    [
        RagAppError("it failed; do something"),
        UnreadableFile("a.txt", "is empty", "fill it"),
        ShardLost("2", "gone"),
        WorkersLost("a.txt", 9),
        ClusterLost("head:6379", "gone"),
        MissingDependency("Ray", "This", "pip install ray"),
    ],
)
def test_errors_are_sent_as_they_are(error: RagAppError) -> None:
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert str(sent) == str(error) and vars(sent) == vars(error)
