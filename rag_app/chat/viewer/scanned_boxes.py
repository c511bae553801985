"""The place of a quote on a page that OCR has read: on the lines that it recognised."""

from __future__ import annotations

from indexing.loaders.pdf.pages import Box, locate
from indexing.ocr.reading import PictureReading


def boxes(reading: PictureReading, text: str, start: int, end: int) -> list[Box]:
    """Boxes of a span of a page's text, one a line; none unless it is certain.

    Within a line that OCR has read, letters count as equally wide.
    """
    rows = reading.rows(1.0, 1.0)
    lines = [box for row in rows for box in row]
    span = locate("\n".join(line.text for line in lines), text, start, end)
    if span is None:
        return []
    boxes: list[Box] = []
    at = 0
    for line in lines:
        first, last = max(span[0] - at, 0), min(span[1] - at, len(line.text))
        if first < last:
            letter = (line.right - line.left) / len(line.text)
            left, width = line.left + first * letter, (last - first) * letter
            place = (left, line.top, width, line.height)
            boxes.append(tuple(round(min(max(each, 0.0), 1.0), 5) for each in place))  # type: ignore[arg-type]
        at += len(line.text) + 1
    return boxes
