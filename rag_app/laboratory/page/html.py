"""Reports of measurements as HTML. What a measured document says is escaped, as on the page."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from jinja2 import PackageLoader

from rag_app.chat.page.html import templates

if TYPE_CHECKING:
    from generator.lm.calibration_record import CalibrationRecord
    from rag_app.laboratory.evaluation.needle import NeedleReport
    from rag_app.laboratory.evaluation.positions import PositionReport

_LOADER = PackageLoader("rag_app.laboratory.page")


def needles(report: NeedleReport) -> str:
    """A needle report: a grid for each method, the recommended one first."""
    best = report.recommended
    others = [each for each in report.results if each is not best]
    return _render("needles.html", report=report, best=best, methods=[best, *others])


def positions(report: PositionReport, verdict: CalibrationRecord | None) -> str:
    """Accuracy by position of the evidence: a plot for each length, a line for each method."""
    curves = sorted(report.curves, key=lambda curve: curve.length)
    panels = [(length, list(of)) for length, of in groupby(curves, key=lambda each: each.length)]
    return _render("positions.html", report=report, panels=panels, verdict=verdict)


def intro(of: str) -> str:
    """The introduction of a measurement: "needles" or "positions"."""
    return _render(f"intro_{of}.html")


def _render(name: str, **values: object) -> str:
    return templates().overlay(loader=_LOADER).get_template(name).render(values)
