"""The language of texts and questions, by their function words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.text.language import ENGLISH, LANGUAGES, language_of, language_of_question, stems

TEXTS = {
    "en": "The council decided on Monday to repair the old bridge, and the state pays.",
    "de": "Der Rat hat am Montag beschlossen, die alte Brücke zu sanieren, und das Land zahlt.",
    "fr": "Le conseil a décidé lundi de réparer le vieux pont, et la région paie.",
    "es": "El consejo decidió el lunes reparar el viejo puente, y la región paga la mitad.",
    "it": "Il consiglio ha deciso lunedì di riparare il vecchio ponte, e la regione paga la metà.",
    "nl": "De raad heeft op maandag besloten de oude brug te herstellen, en het land betaalt.",
    "pt": "O conselho decidiu na segunda que a velha ponte vai para obras, e o estado paga.",
}
QUESTIONS = {
    "en": "When is the library closed?",
    "de": "Wann ist die Bibliothek geschlossen?",
    "fr": "Quand la bibliothèque est-elle fermée ?",
    "es": "¿Cuándo está cerrada la biblioteca?",
    "it": "Quando è chiusa la biblioteca?",
    "nl": "Wanneer is de bibliotheek gesloten?",
    "pt": "Quando é que a biblioteca está fechada?",
}


@pytest.mark.parametrize("code", LANGUAGES)
def test_texts_and_questions(code: str) -> None:
    assert language_of(TEXTS[code]) == code
    assert language_of_question(QUESTIONS[code], [code]) == code
    assert language_of_question(QUESTIONS[code], [ENGLISH, code]) == code
    assert language_of_question(QUESTIONS["en"], [code]) == "en"
    assert language_of_question("Bob?", [code]) == code


def test_what_does_not_tell_is_english() -> None:
    for text in ("", "Budget 2026", "die was in", "Протокол собрания", "東京は遠い"):
        assert language_of(text) == ENGLISH
    assert language_of("The word “der” is German, as are die, das, und, mit and von. " * 3) == "en"


@given(st.text(max_size=200))
def test_any_text_has_a_language(text: str) -> None:
    assert language_of(text) in LANGUAGES
    assert language_of_question(text, ["de"]) in ("de", ENGLISH)


def test_stems_are_those_of_the_language() -> None:
    assert stems(["brücken", "kosten"], "de") == stems(["brücke", "kostet"], "de")
    assert stems(["bridges", "budgets", "costs"]) == ["bridg", "budget", "cost"]
