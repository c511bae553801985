"""What pages are called, and how surely they were read, as messages."""

from __future__ import annotations

from indexing.message import N_, Message


def page_name(name: str) -> str:
    """What a page is called, stored as text such as "slide 4", in a form to be translated."""
    sheet, _, row = name.rpartition(", ")
    kind, _, number = row.partition(" ")
    if sheet:
        known = {"row": N_("%(sheet)s, row %(number)s", sheet=sheet, number=number)}
    else:
        known = {
            "page": N_("page %(number)s", number=number),
            "slide": N_("slide %(number)s", number=number),
            "row": N_("row %(number)s", number=number),
        }
    return known.get(kind, name) if number.isdigit() else name


def page_place(name: str, confidence: float | None) -> str:
    """The same, with how surely OCR has read the page, from 0 to 1; None where it has not."""
    if confidence is None:
        return page_name(name)
    share = f"{100 * confidence:.0f}"
    return N_("%(place)s (read by OCR, %(share)s %% sure)", place=page_name(name), share=share)


def pages_read(number: int, count: int, confidence: float) -> Message:
    """How many pages of how many OCR has read, and how surely, from 0 to 1."""
    sure = read_by_ocr(confidence)
    if count == 1:
        return N_("its page %(read)s", read=sure)
    return N_("%(number)s of %(all)s pages %(read)s", number=number, all=count, read=sure)


def read_by_ocr(share: float) -> Message:
    """How surely OCR has read something, from 0 to 1."""
    return N_("read by OCR, %(share)s %% sure", share=f"{100 * share:.0f}")
