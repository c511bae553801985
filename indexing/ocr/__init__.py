"""In: the picture of a page. Out: its lines of text, their places, and their confidence.

An engine is a file, and a line of `ENGINES`. They run in the process that reads files, within its
limits, a page at a time; what they have read is kept by the corpus, so that no page is read twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from indexing.errors import InvalidRequest, MissingDependency
from indexing.message import N_
from indexing.ocr import rapid, tesseract
from indexing.ocr.reading import AUTO, Engine, OcrSettings, PictureReading


@dataclass(frozen=True, slots=True)
class EngineKind:
    """An engine that may be installed."""

    modules: tuple[str, ...]  # what it needs
    install: str  # the command that installs these
    # what else is not there for some languages, with a remedy; "" for nothing
    missing: Callable[[tuple[str, ...]], str]
    engine: Callable[[OcrSettings], Engine]  # makes it


INSTALL = 'pip install "rag-app[ocr]"'
AS_PDF = N_(
    "save it as PDF and index that, so that OCR reads its pictures "
    '(once: pip install "rag-app[ocr]")'
)
"""What to do with a file of another format whose words are in pictures."""

ENGINES: dict[str, EngineKind] = {
    "rapidocr": EngineKind(
        ("rapidocr", "onnxruntime", "PIL"), INSTALL, rapid.missing, rapid.engine
    ),
    "tesseract": EngineKind(
        ("tesserocr", "PIL"), "pip install tesserocr", tesseract.missing, tesseract.engine
    ),
}
"""By name, the one to be taken first at the top."""


def engine(settings: OcrSettings) -> Engine:
    """The engine of the settings, or the first that is there.

    Raises:
        MissingDependency: It is not installed, or none is.
        InvalidRequest: There is none of that name, or it does not know a language.
    """
    if settings.engine == AUTO:
        for kind in ENGINES.values():
            if _is_installed(kind) and not kind.missing(settings.languages):
                return kind.engine(settings)
        raise MissingDependency("an OCR library", "reading scanned pages", INSTALL)
    if settings.engine not in ENGINES:
        known = ", ".join(ENGINES)
        raise InvalidRequest(f"there is no OCR engine {settings.engine!r}; choose {AUTO}, {known}")
    kind = ENGINES[settings.engine]
    if not _is_installed(kind):
        raise MissingDependency(settings.engine, "reading scanned pages", kind.install)
    if missing := kind.missing(settings.languages):
        raise InvalidRequest(missing)
    return kind.engine(settings)


def _is_installed(kind: EngineKind) -> bool:
    return all(find_spec(module) is not None for module in kind.modules)


__all__ = [
    "AS_PDF",
    "AUTO",
    "ENGINES",
    "INSTALL",
    "Engine",
    "OcrSettings",
    "PictureReading",
    "engine",
]
