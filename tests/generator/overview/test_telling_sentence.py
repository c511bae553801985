"""The most telling sentence of a part is prose, where there is any."""

from __future__ import annotations

from generator.overview.blocks import blocks
from generator.overview.telling_sentence import telling_sentence
from tests.generator.conftest import prose

ROWS = "| harbour crane | harbour light |\n| --- | --- |\n| harbour crane 4 | harbour light 5 |\n\n"
SAID = "The harbour has needed another crane for years."
WEIGHTS = {"harbour": 9.0, "crane": 9.0, "light": 9.0, "harbor": 9.0}


def test_rows_of_a_table_come_last() -> None:
    best = telling_sentence(blocks(prose(ROWS + SAID)), WEIGHTS)
    assert best.sentence.text == SAID
    rows_alone = telling_sentence(blocks(prose(ROWS)), WEIGHTS)
    assert "harbour" in rows_alone.sentence.text


NAMES = "Harbour crane | Harbour light | Harbour\n"
PLAIN = NAMES + "Port of Ely | yes | no\nPort of Rye | no | yes\n\n"


def test_headings_and_rows_that_name_columns_come_after_all_else() -> None:
    best = telling_sentence(blocks(prose(PLAIN)), WEIGHTS)
    assert best.sentence.text.startswith("Port of")
    best = telling_sentence(blocks(prose(f"# The harbour crane\n\n{SAID}\n")), WEIGHTS)
    assert best.sentence.text == SAID
    best = telling_sentence(blocks(prose(f"Harbour crane light\n\n{SAID}\n")), WEIGHTS)
    assert best.sentence.text == SAID
    best = telling_sentence(
        blocks(prose(f"Present: Crane, Harbour, Light (chair)\n{SAID}\n")), WEIGHTS
    )
    assert best.sentence.text == SAID
    alone = telling_sentence(blocks(prose("# The harbour crane\n")), WEIGHTS)
    assert "harbour crane" in alone.sentence.text
