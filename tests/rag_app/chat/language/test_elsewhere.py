"""Messages of other packages, translated where the page shows them."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.documents import Page
from indexing.errors import UnreadableFile
from indexing.filter import Filter
from indexing.loaders import LOADERS
from indexing.message import N_, joined, restored, stored
from rag_app.chat.language.catalogue import catalogue
from rag_app.chat.language.current import Language, speaking
from rag_app.chat.language.elsewhere import WORDS, translated
from rag_app.chat.page.quote_context import location
from rag_app.chat.uploads import safe_path
from rag_app.requests.occasions import nothing_in_words
from tests.behaviour.test_bad_input import CASES, only_failure

ROOT = Path(__file__).resolve().parents[4]
PACKAGES = ("indexing", "generator", "retriever", "rag_app")
PLACES = re.compile(r"%\((\w+)\)s").findall
GERMAN = Language("de", "de")


@pytest.fixture(scope="module")
def written() -> str:
    """All texts that the packages write, in a row."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    trees = (ast.parse(file.read_text()) for file in files if file.name != "elsewhere.py")
    texts = (
        each.value for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Constant)
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def test_other_packages_still_write_these_words(written: str) -> None:
    assert [word for word in WORDS if not re.search(rf"\b{word}\b", written)] == []


def test_what_is_filled_in_stays() -> None:
    with speaking(GERMAN):
        assert translated(Page(0, 9, 12).place) == "Seite 12"
        assert translated(Page(0, 9, 1, "slide 4").place) == "Folie 4"
        assert translated(Page(0, 9, 3, "row 12").place) == "Zeile 12"
        assert translated(Page(0, 9, 3, "Budget, 2026, row 12").place) == "Budget, 2026, Zeile 12"
        assert location(time=None, speaker=None, place="slide 4") == "Folie 4"  # as it is stored
        for name in ("Budget, slide 4", "rows 5-7", "row", "mail from Ada, 3 March 2026"):
            assert translated(Page(0, 9, 1, name).place) == name
        shown = N_("figures: %(done)s of %(all)s shown to the model", done=1, all=2)
        gone = N_("%(figure)s is no longer there", figure="Ferry, page 3: A map")
        figures = joined([shown, gone])
        assert translated(figures) == (
            "Abbildungen: 1 von 2 dem Modell gezeigt; Ferry, page 3: A map ist nicht mehr da"
        )
        assert translated(Page(0, 9, 4, "", 0.91).place) == (
            "Seite 4 (durch OCR gelesen, zu 91 % sicher)"
        )
        read_as = N_("a question about %(titles)s", titles="on, off and page 3")
        assert translated(read_as) == "Frage zu on, off and page 3"
        error = UnreadableFile("a.pdf", N_("is protected by a password"), N_("split it"))
        assert translated(str(error)).startswith("a.pdf ist durch ein Passwort geschützt; teilen")
        nothing = nothing_in_words(
            Filter(since="2026-04", participants=("Ada",)), ["2026-03-01", ""]
        )
        assert translated(nothing) == (
            "Kein Dokument passt: seit 2026-04, mit Ada. Die mit Datum sind vom 2026-03-01. "
            "1 hat kein Datum."
        )
        with pytest.raises(UnreadableFile) as refused:
            safe_path("a.exe")
        assert translated(joined([refused.value.reason, refused.value.remedy])).startswith(
            "hat ein Format, das nicht gelesen werden kann; lesbar sind .txt, .md"
        )
        with pytest.raises(Exception, match="swap them") as raised:
            Filter(since="2026-04", until="2026-03")
        assert translated(str(raised.value)).endswith("vertauschen Sie die beiden")


def test_a_text_that_is_no_message_stays_as_it_is() -> None:
    with speaking(GERMAN):
        assert translated("page 12") == "page 12"
        assert translated(str(UnreadableFile("a.pdf", "is cursed", N_("split it")))) == (
            "a.pdf is cursed; teilen Sie die Datei auf"
        )
        assert translated("") == translated(N_("")) == translated(joined([])) == ""
    assert translated(Page(0, 9, 12).place) == "page 12"


def _templates() -> Iterator[tuple[str, list[str]]]:
    """The messages that are made in the packages, each with the names of its arguments."""
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "N_":
                    (template,) = node.args
                    assert isinstance(template, ast.Constant), (file, node.lineno)
                    assert isinstance(template.value, str)
                    named = [keyword.arg for keyword in node.keywords]
                    all_named = None not in named  # not with **
                    yield (
                        template.value,
                        [*filter(None, named)] if all_named else PLACES(template.value),
                    )


def test_every_message_is_translated_with_all_that_is_filled_in() -> None:
    templates = dict(_templates())
    assert len(templates) > 400
    for template, names in templates.items():
        filled = {name: f"<{at}>" for at, name in enumerate(names)}
        message = N_(template, **filled)  # a KeyError where one is missing
        assert all(template.count(f"%({name})s") == 1 for name in names), template
        assert restored(stored(message)) == message
        with speaking(GERMAN):
            german = translated(message)
        assert german == gettext_of(template, filled)
        unsaid = {name for name, value in filled.items() if value not in german}
        assert unsaid <= {"error"}, template  # what a library says, in English, may be left out


def gettext_of(template: str, filled: dict[str, str]) -> str:
    """The translation by the catalogue itself, which has to have one."""
    (german,) = [each.string for each in catalogue("de") if each.id == template]
    assert isinstance(german, str) and german
    return german % filled if filled else german


FILE_ERRORS = {"UnreadableFile", "PartUnread", "OtherKind", "Failure"}


def test_what_is_wrong_with_a_file_is_a_message() -> None:
    files = [*(ROOT / "indexing" / "loaders").rglob("*.py"), ROOT / "indexing" / "files.py"]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in FILE_ERRORS:
                texts = [*node.args[1:]]
                assert not any(isinstance(text, ast.Constant | ast.JoinedStr) for text in texts), (
                    file,
                    node.lineno,
                )


@pytest.mark.parametrize("case", [*CASES, *LOADERS])
def test_every_way_in_which_a_file_can_be_bad_is_said_in_german(case: str, tmp_path: Path) -> None:
    name, data, _ = CASES.get(case, (f"noise{case}", random.Random(7).randbytes(2000), ""))
    failure = only_failure(tmp_path / name, data)
    english = joined([failure.reason, failure.remedy])  # as the page shows it
    with speaking(GERMAN):
        german = translated(english)
    quoted = re.compile(r"`[^`]*`")  # names of fields
    assert german != english
    assert not re.search(r"\b(?:an?|the|is|or|not|it|which)\b", quoted.sub(";", german))
