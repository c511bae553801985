"""Speech without what only speech has; what carries meaning stays."""

from __future__ import annotations

import pytest

from indexing.text.disfluency import remove_disfluencies, without_noise
from indexing.text.terms import content_words


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("Um , I {disfmarker} I don't  know , uh , yet .", "I don't know, yet."),
        ("the the reason for {vocalsound} for it 's cost", "the reason for it's cost"),
        ("wh what we we have is , you know , a well - known thing", "what we have is, a well-known thing"),  # noqa: E501
        ("We cut it to 12.5 euros in 1990.", "We cut it to 12.5 euros in 1990."),
        ("3 x 3 mm and 5 mm, said Er.", "3 x 3 mm and 5 mm, said Er."),
        ("That 's good . Mm - hmm . Yes .", "That's good. Yes."),
        ("a <b>c</b>\n d", "a c d"),
        ("", ""),
    ],
)  # fmt: skip
def test_speech_as_it_would_be_written(spoken: str, written: str) -> None:
    assert remove_disfluencies(spoken) == written
    assert set(content_words(written)) <= {*content_words(spoken), "it's", "that's", "well-known"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{vocalsound} I {disfmarker} I  mean {gap} , no .", "I I  mean , no ."),
        ("{pause} {vocalsound} Yes.", "Yes."),
        (" so {disfmarker}", " so"),
        ("one {vocalsound}\ntwo", "one\ntwo"),
        ("a {x} of {name} in [3]", "a {x} of {name} in [3]"),
        ("{vocalsound}", "{vocalsound}"),
        ("", ""),
    ],
)
def test_noise_is_hidden_and_nothing_else(text: str, shown: str) -> None:
    assert without_noise(text) == shown
