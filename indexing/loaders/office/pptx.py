"""Presentations: each slide a page, by python-pptx; its title, texts, tables, charts and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.documents import Extract
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders import table
from indexing.loaders.charset import clean, one_line, printable
from indexing.loaders.draft import Draft
from indexing.loaders.figures import Gallery
from indexing.loaders.office.container import check
from indexing.message import N_
from indexing.ocr import AS_PDF

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.slide import Slide

Shape = Any  # of many classes, most of which say nothing
_Block = str  # words of a slide that stand apart from the others
DEEPEST = 40  # groups within groups


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The slides that are shown, in order, with their notes; then what is only a picture.

    Raises:
        UnreadableFile: It is no presentation, protected, damaged, or unpacks to too much.
    """
    kind = check(path, ".pptx")
    presentation = _opened(path, kind.save_again)
    draft, gallery = Draft(), Gallery()
    hidden: list[int] = []
    pictures: list[int] = []
    for number, slide in enumerate(presentation.slides, 1):
        if slide.element.get("show") in ("0", "false"):
            hidden.append(number)
            continue
        blocks = list(_blocks(slide))
        if not blocks and any(_is_picture(shape) for shape in slide.shapes):
            pictures.append(number)
        start = draft.length
        _write(draft, blocks, number)
        _add_figures(gallery, slide.shapes, start=start, page=number)
    if not draft.length and pictures:
        raise UnreadableFile(path, N_("holds pictures of slides but no text"), AS_PDF)
    extract = draft.extract(_title(presentation) or printable(path.stem))
    yield replace(extract, figures=gallery.figures())
    if hidden:
        reason = N_("has hidden slides (%(numbers)s)", numbers=_listed(hidden))
        yield PartUnread(path, reason, N_("show them and save it, where they matter"))
    if pictures:
        reason = N_(
            "has slides that are pictures without text (%(numbers)s)", numbers=_listed(pictures)
        )
        yield PartUnread(path, reason, AS_PDF)
    if diagrams := sum(_count_diagrams(slide) for slide in presentation.slides):
        remedy = N_("save it as PDF and index that, where they matter")
        yield PartUnread(
            path, N_("has SmartArt, whose words are not read (%(places)s)", places=diagrams), remedy
        )


def _opened(path: Path, save_again: str) -> Presentation:
    import zipfile

    import pptx
    from pptx.exc import PythonPptxError

    try:
        return pptx.Presentation(str(path))
    except (ValueError, KeyError, PythonPptxError):
        reason = N_("is an Office file, but not a presentation with slides")
        raise UnreadableFile(path, reason, save_again) from None
    except (zipfile.BadZipFile, SyntaxError, EOFError):
        raise UnreadableFile(path, N_("is a damaged presentation"), save_again) from None


def _write(draft: Draft, blocks: Sequence[_Block], number: int) -> None:
    """A slide below those before it; one without words is a page without a length."""
    start = draft.length + (2 if draft.length and blocks else 0)
    for order, block in enumerate(blocks):
        draft.separate("\n\n")
        draft.write(block, heading=order == 0)
    draft.page(start, number, N_("slide %(number)s", number=number))


def _blocks(slide: Slide) -> Iterator[_Block]:
    """The title, then the other shapes from top to bottom, then the notes."""
    title = slide.shapes.title
    first = "" if title is None else _paragraphs(title.text_frame)
    if first:
        yield first
    for shape in _in_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_blocks(shape)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        notes = _paragraphs(frame)
        if notes:
            yield f"Notes: {notes}"


def _in_order(shapes: Any) -> list[Shape]:  # noqa: ANN401 - shapes of a slide or of a group
    """Shapes as one reads them: by their upper edge, then by the left one."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _shape_blocks(shape: Shape, depth: int = 0) -> Iterator[_Block]:
    """What a shape says; a group says what its shapes do."""
    if hasattr(shape, "shapes"):
        if depth < DEEPEST:
            for each in _in_order(shape.shapes):
                yield from _shape_blocks(each, depth + 1)
        return
    if getattr(shape, "has_table", False):
        rows = [[_cell(cell) for cell in row.cells] for row in shape.table.rows]
        words = "\n".join(line.text for line in table.lines(rows) if line.text)
    elif getattr(shape, "has_chart", False):
        words = _chart(shape.chart)
    elif getattr(shape, "has_text_frame", False) and not _is_furniture(shape):
        words = _paragraphs(shape.text_frame)
    else:
        return
    if words:
        yield words


def _is_furniture(shape: Shape) -> bool:
    """Whether it is the date, the footer or the number of a slide."""
    from pptx.enum.shapes import PP_PLACEHOLDER

    return shape.is_placeholder and shape.placeholder_format.type in (
        PP_PLACEHOLDER.DATE,
        PP_PLACEHOLDER.FOOTER,
        PP_PLACEHOLDER.SLIDE_NUMBER,
    )


def _paragraphs(frame: Any) -> str:  # noqa: ANN401 - pptx.text.text.TextFrame
    """The paragraphs of a text frame, those of a list with a mark before them."""
    paragraphs = [" ".join(each.text.split()) for each in frame.paragraphs]
    several = sum(map(bool, paragraphs)) > 1
    return "\n".join(f"- {words}" if several else words for words in paragraphs if words)


def _cell(cell: Any) -> str:  # noqa: ANN401 - pptx.table._Cell
    return " ".join(cell.text.split())


def _chart(chart: Any) -> str:  # noqa: ANN401 - pptx.chart.chart.Chart
    """The title of a chart, then its numbers: a row for each category."""
    lines: list[str] = []
    with suppress(AttributeError, IndexError, KeyError, NotImplementedError, ValueError):
        lines += _chart_lines(chart)  # kinds of charts that python-pptx does not know
    return "\n".join(lines)


def _chart_lines(chart: Any) -> Iterator[str]:  # noqa: ANN401 - pptx.chart.chart.Chart
    if chart.has_title and chart.chart_title.has_text_frame:
        yield one_line(chart.chart_title.text_frame.text).strip()
    for plot in chart.plots:
        series = list(plot.series)
        for at, category in enumerate(plot.categories):
            values = [
                f"{one_line(each.name)}: {each.values[at]:.15g}"
                for each in series
                if at < len(each.values) and each.values[at] is not None
            ]
            yield table.SEPARATOR.join([one_line(str(category)), *values])


def _add_figures(
    gallery: Gallery,
    shapes: Any,  # noqa: ANN401 - shapes of a slide or of a group
    *,
    start: int,
    page: int,
    depth: int = 0,
) -> None:
    """Add the pictures among shapes; the caption is what the author says of each."""
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < DEEPEST:
            _add_figures(gallery, shape.shapes, start=start, page=page, depth=depth + 1)
        elif _is_picture(shape):
            with suppress(KeyError, ValueError, AttributeError):  # one that is linked, not held
                description = next(
                    (each.get("descr") or "" for each in shape.element.iter("{*}cNvPr")), ""
                )
                gallery.add(shape.image.blob, start=start, caption=clean(description), page=page)


def _is_picture(shape: Shape) -> bool:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    return bool(shape.shape_type == MSO_SHAPE_TYPE.PICTURE)


def _count_diagrams(slide: Slide) -> int:
    """SmartArt, whose words are in a part that python-pptx does not read."""
    kind = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    return sum(data.get("uri") == kind for data in slide.element.iter("{*}graphicData"))


def _title(presentation: Presentation) -> str:
    """The title among the properties, else that of the first slide."""
    title = " ".join(printable(presentation.core_properties.title or "").split())
    if title and title != "PowerPoint Presentation":  # what programs write when there is none
        return title
    for slide in presentation.slides:
        if slide.shapes.title is not None and slide.shapes.title.text_frame.text.strip():
            return one_line(slide.shapes.title.text_frame.text.strip())
    return ""


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + ("..." if len(numbers) > 20 else "")
