"""What programs ask of the server."""

from __future__ import annotations

from generator.answer import Answer, Citation, ShortAnswer

QUESTION = "What is the final launch date of Heron?"
PASSWORDS = {"ann": "one", "bob": "two", "eve": "three"}
OFF_TOPIC = "Which vaccine did the hospital of Zanzibar order?"

_CITATION = Citation(1, "d1", "/a.vtt", "A", "", 3, 17, "at nine sharp.", "Ann", 61.0)
WITH_SHORT = Answer(
    "When?",
    "Ann: at nine sharp. [1]",
    citations=(_CITATION,),
    short=ShortAnswer.within(_CITATION, 6, 10, 0.75),
    probability=0.5,
)
