"""OCR of drawn scans: the share of words that are right, how sure the engine is, time, memory."""

from __future__ import annotations

import difflib
from pathlib import Path
from time import process_time

import click

from benchmarks.memory import resident_memory
from benchmarks.scanned_pages import SCANS, Scan, draw
from indexing import ocr
from indexing.errors import RagAppError
from indexing.ocr.reading import Engine, OcrSettings, PictureReading

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "the-ferry-book.txt"
GERMAN = """Die Brücke über den Fluß wurde im März 1904 für zwölf Jahre gesperrt, weil der Müller
die Gebühren nicht zahlen wollte. Größere Lastkähne mußten außerhalb der Häfen ankern; die Schäden
beliefen sich auf 12.450 Mark. Später übernahm das Königliche Straßenamt die Führung."""
SIGNS = str.maketrans("“”‘’—", "\"\"''-")  # noqa: RUF001 - signs that an engine may tell apart or not


def right(words: list[str], text: str) -> float:
    """The share of the words that are there, in order."""
    truth = [word.translate(SIGNS) for word in words]
    found = text.translate(SIGNS).split()
    blocks = difflib.SequenceMatcher(None, truth, found, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(truth)


def row(engine: Engine, scan: Scan, words: list[str], name: str) -> str:
    """One line of the table."""
    picture, drawn = draw(words, scan)
    started = process_time()
    reading = PictureReading(tuple(engine.read(picture)), engine.name)
    seconds = process_time() - started
    rows = reading.rows(*picture.size)
    text = "\n".join(" ".join(box.text for box in each) for each in rows)
    return (
        f"  {name:26} {100 * right(drawn, text):6.2f} % of {len(drawn)} words, "
        f"sure to {100 * (reading.confidence or 0):.0f} %, {seconds:.1f} s"
    )


@click.command
@click.option("--engine", "names", type=click.Choice(tuple(ocr.ENGINES)), multiple=True)
def command(names: tuple[str, ...]) -> None:
    """Each engine that is installed, on seven pages; the memory is right of one by itself."""
    words, german = SAMPLE.read_text(encoding="utf-8").split(), GERMAN.split() * 20
    for name in names or ocr.ENGINES:
        try:
            english = ocr.engine(OcrSettings(name))
            other = ocr.engine(OcrSettings(name, ("deu",)))
        except RagAppError as error:
            click.echo(f"{name}: {error}")
            continue
        english.read(draw(words[:9], SCANS[1])[0])  # what is made at the first page
        click.echo(english.name)
        for scan in SCANS:
            click.echo(row(english, scan, words, scan.name))
        click.echo(row(other, SCANS[1], german, "German, 200 dpi"))
        click.echo(f"  {sum(resident_memory()):,.0f} MB of memory")
