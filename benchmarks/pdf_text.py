"""The words of PDF pages in the order in which people read them: by pypdf, by pdfium, and here.

Twenty pages whose order is known (`pdf_pages.py`). For each kind of page: the share of its words
that are there in order (the longest common subsequence, by difflib's blocks), and of the words
found the share that are. Then CPU time for a page.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import click

from benchmarks.pdf_pages import PdfPage, write
from indexing.documents import Extract

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
TEXTS = ("the-ferry-book.txt", "heron-2-interviews.txt", "heron-6-last-of-the-year.txt")
Reader = Callable[[Path], list[str]]


def by_pypdf(path: Path) -> list[str]:
    """`extract_text` as it is."""
    from pypdf import PdfReader

    return [page.extract_text() for page in PdfReader(path).pages]


def by_pypdf_layout(path: Path) -> list[str]:
    """`extract_text` in its layout mode."""
    from pypdf import PdfReader

    return [page.extract_text(extraction_mode="layout") for page in PdfReader(path).pages]


def by_pdfium(path: Path) -> list[str]:
    """Pdfium's own order."""
    import pypdfium2

    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(path)]


def ours(path: Path) -> list[str]:
    """What the loader indexes."""
    from indexing.loaders.pdf import load

    (extract,) = load(path)
    assert isinstance(extract, Extract)
    return [extract.text[page.start : page.end] for page in extract.pages]


READERS: dict[str, Reader] = {
    "pypdf": by_pypdf,
    "pypdf, layout": by_pypdf_layout,
    "pdfium": by_pdfium,
    "here": ours,
}


def in_order(page: PdfPage, text: str) -> tuple[int, int, int]:
    """Words in order, of the page, and found."""
    found = text.replace(" | ", " ").split()
    matcher = difflib.SequenceMatcher(None, page.words, found, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()), len(page.words), len(found)


@click.command
def command() -> None:
    """Reading order and time of four ways to get the text of twenty PDF pages."""
    text = " ".join((SAMPLES / name).read_text(encoding="utf-8") for name in TEXTS)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pages.pdf"
        pages = write(path, text)
        for reader in READERS.values():  # imports, caches
            reader(path)
        for name, reader in READERS.items():
            started = process_time()
            texts = reader(path)
            seconds = process_time() - started
            counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
            for page, found in zip(pages, texts, strict=True):
                for kind in (page.kind, "all"):
                    for at, number in enumerate(in_order(page, found)):
                        counts[kind][at] += number
            click.echo(f"{name}: {1000 * seconds / len(pages):.1f} ms a page")
            for kind, (right, words, said) in counts.items():
                click.echo(f"  {kind:28} recall {right / words:.3f}, precision {right / said:.3f}")
