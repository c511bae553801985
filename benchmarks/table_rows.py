"""Questions about rows of tables: whether the right row is quoted, alone, and its cell stands out.

Eleven tables (`table_rows.json`) with a sentence or two before and after each, written as CSV,
Markdown, HTML, Word, PDF and a workbook; those of one language stand in one file, where a format
has room for several. Each value of each row is asked for, and things that no row has.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from rag_app.corpus.corpus import Corpus

TABLES = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class Table:
    """A table, what stands around it, and what is asked of it.

    Attributes:
        title: Above it.
        group: Of tables that were written at one time; only the first was looked at when rules for
            rows were made.
        language: Of all of it.
        before: Sentences before it.
        after: Sentences after it.
        columns: Their names.
        rows: Their cells; the first one names the row.
        unasked: Names of rows that no question is about, as they are part of others.
        lower: Whether a name begins with a small letter within a question.
        questions: By column, with a place for the row's name.
        missing: Questions about rows that it does not have.
    """

    title: str
    group: str
    language: str
    before: str
    after: str
    columns: list[str]
    rows: list[list[str]]
    unasked: list[str]
    lower: bool
    questions: dict[str, list[str]]
    missing: list[str]

    @property
    def lines(self) -> list[list[str]]:
        """The names of the columns and the rows."""
        return [self.columns, *self.rows]

    def asked(self) -> Iterator[tuple[str, str, str]]:
        """Each question, the name of the row that answers, and the cell."""
        for name, *cells in self.rows:
            shown = name[0].lower() + name[1:] if self.lower else name
            for column, questions in self.questions.items() if name not in self.unasked else ():
                for question in questions:
                    yield question.format(shown), name, cells[int(column) - 1]


@dataclass(slots=True)
class Counts:
    """How many questions, and of how many answers something holds.

    Attributes:
        asked: Questions about a row.
        first: The right row is quoted first.
        alone: And nothing else.
        right: Its cell is the short answer.
        wrong: Something else is.
        missing: Questions about what is in no row.
        withheld: How many of them are not answered.
    """

    asked: int = 0
    first: int = 0
    alone: int = 0
    right: int = 0
    wrong: int = 0
    missing: int = 0
    withheld: int = 0
    failures: list[str] = field(default_factory=list)


def markdown(tables: Sequence[Table], path: Path) -> None:
    """Pipes, and a rule below the names."""
    parts = []
    for table in tables:
        lines = [table.columns, ["---"] * len(table.columns), *table.rows]
        rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"# {table.title}\n\n{table.before}\n\n{rows}\n\n{table.after}\n")
    path.write_text("\n".join(parts), "utf-8")


def html(tables: Sequence[Table], path: Path) -> None:
    """`<th>` above `<td>`."""
    parts = ['<meta charset="utf-8">']
    for table in tables:
        rows = ""
        for number, line in enumerate(table.lines):
            tag = "td" if number else "th"
            rows += f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in line)}</tr>"
        parts.append(f"<h1>{table.title}</h1><p>{table.before}</p><table>{rows}</table>")
        parts.append(f"<p>{table.after}</p>")
    path.write_text("\n".join(parts), "utf-8")


def word(tables: Sequence[Table], path: Path) -> None:
    """Tables whose first row is not marked."""
    import docx

    document = docx.Document()
    for table in tables:
        document.add_heading(table.title)
        document.add_paragraph(table.before)
        grid = document.add_table(0, len(table.columns))
        for line in table.lines:
            for cell, value in zip(grid.add_row().cells, line, strict=True):
                cell.text = value
        document.add_paragraph(table.after)
    document.save(str(path))


def pdf(tables: Sequence[Table], path: Path) -> None:
    """Ruled tables, on pages that are wide enough for all columns."""
    from fpdf import FPDF

    document = FPDF("landscape", format="A3")
    document.add_page()
    document.set_font("Helvetica", size=11)
    for table in tables:
        for text in (table.title, table.before):
            document.multi_cell(0, 8, text, new_x="LMARGIN", new_y="NEXT")
        with document.table() as grid:
            for line in table.lines:
                row = grid.row()
                for cell in line:
                    row.cell(cell.replace("€", "EUR"))
        document.multi_cell(0, 8, table.after, new_x="LMARGIN", new_y="NEXT")
    document.output(str(path))


def workbook(tables: Sequence[Table], path: Path) -> None:
    """A sheet for each table, nothing beside it."""
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        for table in tables:
            sheet = book.add_worksheet(table.title)
            for number, line in enumerate(table.lines):
                sheet.write_row(number, 0, line)


def delimited(tables: Sequence[Table], path: Path) -> None:
    """A file for each table, nothing beside it."""
    for number, table in enumerate(tables):
        file = path.with_stem(f"{path.stem}-{number}")
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows(table.lines)


WRITERS: dict[str, Callable[[Sequence[Table], Path], None]] = {
    "csv": delimited,
    "md": markdown,
    "html": html,
    "docx": word,
    "pdf": pdf,
    "xlsx": workbook,
}


def measure(tables: Sequence[Table], suffix: str) -> Counts:
    """Write, index and ask tables in one format."""
    counts = Counts()
    with TemporaryDirectory() as folder, Corpus(Path(folder) / "corpus") as corpus:
        files = Path(folder) / "files"
        files.mkdir()
        ordered = sorted(tables, key=lambda table: table.language)
        for language, group in groupby(ordered, key=lambda table: table.language):
            WRITERS[suffix](list(group), files / f"{language}.{suffix}")
        corpus.add([files])
        for table in tables:
            for question, name, cell in table.asked():
                value = cell.replace("€", "EUR") if suffix == "pdf" else cell
                _judge(corpus, question, name, value, counts)
            for question in table.missing:
                withheld = corpus.ask(question).abstained
                counts.missing += 1
                counts.withheld += withheld
                if not withheld:
                    counts.failures.append(f"{suffix}: answered: {question}")
    return counts


def _judge(corpus: Corpus, question: str, name: str, cell: str, counts: Counts) -> None:
    answer = corpus.ask(question)
    quotes = [citation.quote for citation in answer.citations]
    first = bool(quotes) and all(each in quotes[0] for each in (name, cell, " | "))
    short = answer.short.text if answer.short else None
    counts.asked += 1
    counts.first += first
    counts.alone += first and len(quotes) == 1
    counts.right += short == cell
    counts.wrong += short not in {None, cell}
    if not first or len(quotes) > 1 or short != cell:
        counts.failures.append(f"{question} {quotes} {short}")


@click.command
@click.option("--group", help="Only tables of this group: first, second or third.")
@click.option("--suffix", type=click.Choice(list(WRITERS)), help="Only this format.")
@click.option("--failures", is_flag=True, help="Print each question that fails.")
def command(group: str | None, suffix: str | None, failures: bool) -> None:
    """Which rows answer questions about tables, in six formats."""
    every = [Table(**each) for each in json.loads(TABLES.read_text("utf-8"))]
    tables = [table for table in every if group in {None, table.group}]
    for one in [suffix] if suffix else WRITERS:
        found = measure(tables, one)
        click.echo(
            f"{one}: {found.asked} questions, row first {found.first}, alone {found.alone}; "
            f"short answers right {found.right}, wrong {found.wrong}; "
            f"withheld {found.withheld} of {found.missing} about no row"
        )
        for failure in found.failures if failures else ():
            click.echo(f"  {failure}")
