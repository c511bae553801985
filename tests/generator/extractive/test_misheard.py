"""Names of a question that sentences spell as they are heard."""

from __future__ import annotations

import pytest

from generator.extractive.misheard import heard_names


@pytest.mark.parametrize(
    ("name", "text", "likeness"),
    [
        ("Beaconboard", "The beacon board is down.", 1.0),
        ("Applegarth", "Dr Aplegarth came late.", 0.9),
        ("Finchley", "Mr Fyngkli rang.", 0.9),  # by its sound
        ("Karlton", "Carlton signed it.", 0.9),
        ("Anna Lind", "The land is wet.", 0.0),  # too short to tell
        ("Marshall", "The marsh is wet.", 0.0),
    ],
)
def test_a_name_is_heard_by_its_letters_or_its_sound(name: str, text: str, likeness: float) -> None:
    topic = name.lower().split()
    found = heard_names(f"What did {name} say?", topic, ["Nobody spoke.", text], "en")
    assert found.shape == (2, len(topic))
    assert not found[0].any()
    assert found[1].max() == pytest.approx(likeness, abs=0.03)
