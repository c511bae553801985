"""A message is its English text, and keeps what it is made of on every way."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from indexing.errors import InvalidRequest, UnreadableFile
from indexing.message import N_, Message, joined, restored, stored

PAGE = N_("page %(number)s", number=12)
BOTH = N_("%(place)s is %(share)s %% sure", place=PAGE, share=91)


def parts(text: str) -> object:
    """What a text is made of, through all that is filled in."""
    assert isinstance(text, Message), text
    return text.template, {
        name: parts(one) if isinstance(one, Message) else one
        for name, one in text.arguments.items()
    }


def test_it_is_its_english_text() -> None:
    assert BOTH == "page 12 is 91 % sure" and json.dumps([BOTH]) == '["page 12 is 91 % sure"]'
    assert N_("100 % sure") == "100 % sure"
    assert joined(["", PAGE, "", "x; y"]) == "page 12; x; y" and joined([]) == ""
    assert joined([PAGE, BOTH], ", ") == "page 12, page 12 is 91 % sure"


def test_a_text_is_left_out_of_what_is_filled_in() -> None:
    note = joined([N_("same as %(path)s in up/", path="up/a/b.txt"), PAGE])
    assert note.without("up/") == "same as a/b.txt in up/; page 12"
    assert parts(note.without("nowhere")) == parts(note)


def test_its_parts_are_kept_by_copies_processes_and_errors() -> None:
    error = UnreadableFile("a.txt", BOTH, N_("split it"))
    sent = pickle.loads(pickle.dumps(error))
    for one in (str(BOTH), copy.deepcopy(BOTH), pickle.loads(pickle.dumps(BOTH))):
        assert one == BOTH and parts(one) == parts(BOTH)
    assert parts(str(InvalidRequest(BOTH))) == parts(BOTH) == parts(sent.reason)
    assert parts(str(sent)) == parts(str(error))


def test_it_is_stored_with_its_parts() -> None:
    for message in (PAGE, BOTH, N_("100 % sure"), joined([PAGE, BOTH])):
        read = restored(json.loads(json.dumps(stored(message))))
        assert read == message and parts(read) == parts(message)
    assert restored(stored("a text")) == "a text"


@pytest.mark.parametrize(
    "values",
    [
        None,
        5,
        [],
        ["%(a)s"],
        ["%(a)s", {}, 1],
        ["%(a)s", {"a": 5}],
        ["%(a)s %(a)s", {"a": "x"}],  # would grow with each message within
        ["%(a)9999999999s", {"a": "x"}],
        ["%(a)s %(b)s", {"a": "x"}],
        ["%(a)s %s", {"a": "x"}],
        ["a", {"a": "x"}],
        ["%(a)s %(b)s", {"a)s %(b": "x"}],
        [5, {"a": "x"}],
        ["%(a)s", {"a": ["%(b)99s", {"b": "x"}]}],
    ],
)
def test_what_is_no_message_is_refused(values: object) -> None:
    with pytest.raises(ValueError, match=r"no message|no template|unpack|format"):
        restored(values)
