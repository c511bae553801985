"""Messages of other packages, translated where the page shows them."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.errors import UnreadableFile
from indexing.filter import Filter
from indexing.loaders import LOADERS
from rag_app.chat.language.current import Language, speaking
from rag_app.chat.language.elsewhere import MESSAGES, translated
from rag_app.requests.occasions import nothing_in_words
from tests.behaviour.test_bad_input import CASES, only_failure

ROOT = Path(__file__).resolve().parents[4]
GERMAN = Language("de", "de")


@pytest.fixture(scope="module")
def written() -> str:
    """All texts that the packages write, places to fill in as NUL, in lower case."""

    def texts() -> Iterator[str]:
        for package in ("indexing", "generator", "retriever", "rag_app"):
            for file in (ROOT / package).rglob("*.py"):
                if file.name == "elsewhere.py":
                    continue
                for node in ast.walk(ast.parse(file.read_text())):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield node.value
                    elif isinstance(node, ast.JoinedStr):
                        yield "".join(
                            str(part.value) if isinstance(part, ast.Constant) else "\0"
                            for part in node.values
                        )

    return "\n".join(texts()).lower()


def test_other_packages_still_write_these_messages(written: str) -> None:
    for message in MESSAGES:
        parts = re.split(r"%\(\w+\)s", message.replace("%%", "%").lower())
        for part in parts:
            if len(part) > 3:
                assert part.strip(" ()") in written, message


def test_what_is_filled_in_stays() -> None:
    with speaking(GERMAN):
        assert translated("page 12") == "Seite 12"
        assert translated("Budget, row 12") == "Budget, Zeile 12"
        figures = "figures: 1 of 2 shown to the model; Ferry, page 3: A map is no longer there"
        assert translated(figures) == (
            "Abbildungen: 1 von 2 dem Modell gezeigt; Ferry, page 3: A map ist nicht mehr da"
        )
        assert translated("page 4 (read by OCR, 91 % sure)") == (
            "Seite 4 (durch OCR gelesen, zu 91 % sicher)"
        )
        assert translated("a question about on, off and page 3") == "Frage zu on, off and page 3"
        error = UnreadableFile("a.pdf", "is protected by a password", "split it")
        assert translated(str(error)).startswith("a.pdf ist durch ein Passwort geschützt; teilen")
        nothing = nothing_in_words(
            Filter(since="2026-04", participants=("Ada",)), ["2026-03-01", ""]
        )
        assert translated(nothing) == (
            "Kein Dokument passt: seit 2026-04, mit Ada. Die mit Datum sind vom 2026-03-01. "
            "1 hat kein Datum."
        )
        error = UnreadableFile("a.exe", "is of an unsupported type", "upload .txt, .md")
        assert translated(f"{error.reason}; {error.remedy}") == (
            "hat ein Format, das nicht gelesen werden kann; lesbar sind .txt, .md"
        )
        with pytest.raises(Exception, match="swap them") as raised:
            Filter(since="2026-04", until="2026-03")
        assert translated(str(raised.value)).endswith("vertauschen Sie die beiden")


def test_a_message_that_is_unknown_stays_english_as_a_whole() -> None:
    unknown = str(UnreadableFile("a.pdf", "is cursed", "split it"))
    with speaking(GERMAN):
        assert translated(unknown) == unknown
        assert translated("") == ""
    assert translated("page 12") == "page 12"


FILE_ERRORS = {"UnreadableFile", "PartUnread", "OtherKind", "Failure"}


def _of_files() -> Iterator[str]:
    """The reasons and remedies of files that stand in loaders as they are."""
    files = [*(ROOT / "indexing" / "loaders").rglob("*.py"), ROOT / "indexing" / "files.py"]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in FILE_ERRORS:
                for part in node.args[1:]:
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value


def test_what_is_wrong_with_a_file_is_said_in_german() -> None:
    texts = {*_of_files()}
    assert len(texts) > 40
    with speaking(GERMAN):
        english = {text for text in texts if translated(text) == text}
    assert english == set()


@pytest.mark.parametrize("case", [*CASES, *LOADERS])
def test_every_way_in_which_a_file_can_be_bad_is_said_in_german(case: str, tmp_path: Path) -> None:
    name, data, _ = CASES.get(case, (f"noise{case}", random.Random(7).randbytes(2000), ""))
    failure = only_failure(tmp_path / name, data)
    english = f"{failure.reason}; {failure.remedy}"  # as the page shows it
    with speaking(GERMAN):
        german = translated(english)
    quoted = re.compile(r"`[^`]*`")  # names of fields
    assert german != english
    assert not re.search(r"\b(?:an?|the|is|or|not|it|which)\b", quoted.sub(";", german))


def test_what_is_wrong_with_an_attachment_is_said_with_its_name() -> None:
    with speaking(GERMAN):
        assert translated("its attachment a plan of 4 May.pdf is protected by a password") == (
            "ihr Anhang a plan of 4 May.pdf ist durch ein Passwort geschützt"
        )


@pytest.mark.parametrize(
    "english",
    [
        "It is named when the server is started (--generator).",
        "you may not choose the model. It is named when the server is started (--generator).",
        "/c: the choice cannot be kept (no space); check the folder's permissions",
        "/c: the conversation cannot be saved (no space); free disk space, or check the folder's "
        "permissions",
    ],
)
def test_what_the_page_refuses_is_said_in_german(english: str) -> None:
    with speaking(GERMAN):
        german = translated(english)
    assert german != english
    assert not re.search(r"\b(?:the|is|or|cannot)\b", german)
