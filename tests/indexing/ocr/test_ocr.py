"""Which engine is taken, and what is said where there is none."""

from __future__ import annotations

import pytest

from indexing import ocr
from indexing.errors import InvalidRequest, MissingDependency
from indexing.ocr import ENGINES, OcrSettings
from indexing.ocr.recognition import Recognition
from rag_app.cli.option_types import OCR_ENGINES


def recognition(settings: OcrSettings) -> Recognition:
    return Recognition(settings, ask=lambda _: None, tell=lambda _: None, limit=lambda _: None)


def test_without_the_extra_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ocr, "find_spec", lambda _: None)
    with pytest.raises(MissingDependency, match=r'pip install "rag-app\[ocr\]"'):
        ocr.engine(OcrSettings())
    for settings in (OcrSettings(), OcrSettings("rapidocr")):
        said = recognition(settings).remedy()
        assert said == 'run: pip install "rag-app[ocr]", then index it again with --recheck'
    assert recognition(OcrSettings("off")).remedy() == "allow it with --ocr auto"


def test_an_unknown_engine_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidRequest, match=r"choose auto, rapidocr, tesseract"):
        ocr.engine(OcrSettings("fax"))


def test_the_command_line_names_the_engines() -> None:
    assert [*ENGINES] == OCR_ENGINES
