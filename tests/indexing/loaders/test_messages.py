"""What goes through the pipe comes out the same, and nothing else is taken for it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.documents import Extract, Page, Utterance
from indexing.errors import OtherKind, PartUnread, UnreadableFile
from indexing.loaders.messages import pack, receive, send, unpack

texts = st.text(max_size=40)


@st.composite
def found(draw: st.DrawFn) -> Extract:
    text = draw(texts)
    offsets = sorted(draw(st.lists(st.integers(0, len(text)), min_size=3, max_size=3)))
    start, text_start, end = offsets
    time = draw(st.none() | st.floats(0, 1e6))
    utterance = Utterance(start, end, text_start, draw(st.none() | texts), time)
    return Extract(text, draw(texts), draw(texts), (utterance,), (Page(start, end, 3),), (start,))


@given(found())
def test_an_extract_comes_through(extract: Extract) -> None:
    pipe = io.BytesIO()
    send(pipe, pack(extract))
    pipe.seek(0)
    assert unpack(receive(pipe, longest=10**6), "a") == extract


@pytest.mark.parametrize("kind", [UnreadableFile, OtherKind, PartUnread])
def test_an_error_comes_through(kind: type[UnreadableFile]) -> None:
    error = unpack(pack(kind("a", "is bad \ud83d", "fix it")), "a")
    assert type(error) is kind
    assert str(error) == "a: is bad \ud83d; fix it"


def test_the_end_of_the_other_process_and_a_length_that_cannot_be() -> None:
    pipe = io.BytesIO()
    send(pipe, {"over": 1})
    for cut in range(len(pipe.getvalue())):
        with pytest.raises(EOFError):
            receive(io.BytesIO(pipe.getvalue()[:cut]), longest=100)
    with pytest.raises(ValueError, match="message of"):
        receive(io.BytesIO(b"\xff" * 20), longest=100)


SOUND = pack(Extract("words", "a", utterances=(Utterance(0, 5, 0),)))


@pytest.mark.parametrize(
    "change",
    [
        {"utterances": [[0, 6, 0, None, None]]},
        {"utterances": [[3, 5, 1, None, None]]},
        {"utterances": [[0, 5]]},
        {"pages": [[2, 5, 1], [0, 2, 2]]},
        {"breaks": [-1]},
        {"breaks": ["x"]},
        {"breaks": None},
        {"error": "SystemExit", "reason": "", "remedy": ""},
    ],
)
def test_what_no_loader_gives_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        unpack({**SOUND, **change}, "a")


def test_what_is_no_mapping_is_refused() -> None:
    messages: list[object] = [None, 3, [], "text"]
    for message in messages:
        with pytest.raises(ValueError):
            unpack(message, "a")
