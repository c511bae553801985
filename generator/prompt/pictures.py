"""Pictures in a prompt: the figures beside the evidence, for a model that sees.

As in Flamingo (Alayrac et al. 2022, arXiv 2204.14198, section 2.1), pictures stand between texts,
each after what is said of it. None is sent as it was found: it is decoded and encoded again, or
refused.
"""

from __future__ import annotations

import re
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from generator.answer import Citation
from generator.evidence import Sentence, Span
from indexing.documents import NEAR, Document, Figure
from indexing.errors import RagAppError
from indexing.loaders.figures import CAPTION, picture_file
from indexing.message import N_, joined

MOST = 4
"""Pictures of a prompt, and captions of a piece of evidence."""
MOST_TRIES = 16
LARGEST_SIDE = 1024  # pixels; a larger picture is made smaller
MOST_BYTES = 1 << 20  # of a picture

NAMED = re.compile(r"\s*[\[(]?\bPicture (\d{1,2})\b[\])]?")
"""How an answer names a picture: "[Picture 1]"."""

_RULE = (
    "The pictures above are evidence, too. Where an answer is read in one, name it before the full "
    "stop, as in: Sales rose [Picture 1].\n\n"
)

PictureLookup = Callable[[str, str], bytes]
"""A document's id and a figure's key to the figure's data."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that is safe to hand on."""

    label: str  # what is said of it
    media_type: str  # "image/png" or "image/jpeg"
    data: bytes = field(repr=False)

    @property
    def url(self) -> str:
        """A data: URL."""
        return f"data:{self.media_type};base64,{b64encode(self.data).decode()}"


Content = str | tuple[str | Picture, ...]
"""What a user says: text, or texts with pictures between them."""


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure beside the evidence, as the picture that a model is shown."""

    document: Document
    figure: Figure
    picture: Picture


def safe_picture(data: bytes, label: str) -> Picture | None:
    """A picture made of a file's pixels alone; None where it is damaged or out of bounds."""
    made = picture_file(data, side=LARGEST_SIDE)
    if made is None or len(made[0]) > MOST_BYTES:
        return None
    return Picture(label, made[1], made[0])


def interleave(text: str, pictures: Sequence[Picture]) -> Content:
    """Each picture after its number and label, then the text."""
    if not pictures:
        return text
    labels = (
        f"Picture {number}\n" + (f"> {one.label}\n" if one.label else "")
        for number, one in enumerate(pictures, start=1)
    )
    parts = (part for both in zip(labels, pictures, strict=True) for part in both)
    return (*parts, _RULE + text)


def figures_beside(spans: Sequence[Span]) -> Iterator[tuple[Document, Figure]]:
    """The figures beside pieces of evidence, the best piece's first, each once."""
    seen: set[tuple[str, str]] = set()
    for span in sorted(spans, key=lambda one: -one.score):
        for figure in span.document.figures_near(span.start, span.end):
            if (place := (span.document.id, figure.key)) not in seen:
                seen.add(place)
                yield span.document, figure


def show_figures(
    spans: Sequence[Span], lookup: PictureLookup, stop: threading.Event | None = None
) -> tuple[tuple[ShownFigure, ...], tuple[str, ...]]:
    """The figures beside the evidence as pictures, at most `MOST`, and why others are refused.

    `stop`, set by another thread, leaves out those that are not decoded yet.
    """
    shown: list[ShownFigure] = []
    refused: list[str] = []
    for document, figure in figures_beside(spans):
        enough = len(shown) == MOST or len(shown) + len(refused) == MOST_TRIES
        if enough or (stop is not None and stop.is_set()):
            break
        place = f"{document.title}, {document.place_at(figure.start) or 'beside the text'}"
        label = " ".join(f"{place}: {figure.label}".split())[: 2 * CAPTION]
        try:
            picture = safe_picture(lookup(document.id, figure.key), label)
        except RagAppError:
            refused.append(N_("%(figure)s is no longer there", figure=label))
            continue
        if picture is None:
            refused.append(N_("%(figure)s is damaged, or no picture to show", figure=label))
        else:
            shown.append(ShownFigure(document, figure, picture))
    return tuple(shown), tuple(refused)


def beside_figure(number: int, shown: ShownFigure) -> Citation:
    """The citation of a figure: its caption in the text, else the line beside which it stands."""
    document, figure = shown.document, shown.figure
    start = (
        document.text.find(figure.caption, max(figure.start - NEAR, 0)) if figure.caption else -1
    )
    end = start + len(figure.caption)
    if start < 0:
        line = re.compile(r"\S[^\n]{0,299}").search(document.text, figure.start)
        start, end = line.span() if line else (figure.start, figure.start)
    cited = Sentence(document, start, end, 0.0).cited()
    return replace(cited, figures=(f"Picture {number}: {figure.label}",), figure=figure.key)


def describe_figures(
    spans: Sequence[Span], shown: Sequence[ShownFigure], refused: Sequence[str], *, sees: bool
) -> str:
    """What became of the figures beside the evidence, for the ledger; "" where there are none."""
    count = sum(1 for _ in figures_beside(spans))
    if not count:
        return ""
    if not sees:
        return N_(
            "figures: %(number)s by their captions only, as the model does not see", number=count
        )
    done = N_("figures: %(done)s of %(all)s shown to the model", done=len(shown), all=count)
    return joined([done, *refused])


def missing_captions(span: Span) -> list[str]:
    """The captions of figures beside a piece of evidence that are not in its text."""
    text = " ".join(span.text.split())
    near = span.document.figures_near(span.start, span.end)
    captions = [" ".join(one.caption.split())[:CAPTION] for one in near]
    return [one for one in dict.fromkeys(captions) if one and one not in text][:MOST]
