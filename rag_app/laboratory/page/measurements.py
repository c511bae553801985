"""The page's measurements, needles and accuracy by position: one runs at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import gradio as gr

from indexing.error_log import unexpected
from indexing.errors import InvalidRequest, RagAppError, UnsupportedModel
from indexing.message import N_
from rag_app.chat.language.current import gettext, speak_to
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page.html import failure, notice
from rag_app.laboratory.page import html as view

if TYPE_CHECKING:
    from pathlib import Path

    from generator.lm.causal_lm import CausalModel
    from rag_app.laboratory.datasets.probes import Probe
    from rag_app.laboratory.evaluation.positions import PositionReport

POLL_SECONDS = 0.5
POSITIONS = 5  # of the evidence: first, middle, last, and between these
LENGTHS = (500, 1000, 2000)  # tokens of evidence
MAX_QUESTIONS = 20

Notify = Callable[[str], None]
Report = Callable[[], str]  # writes HTML in the language of whoever sees it
Work = Callable[[Notify], Report]


@dataclass(frozen=True, slots=True)
class PositionSettings:
    """What a language model is asked at every position.

    Attributes:
        probe: The kind of questions, a key of `rag_app.laboratory.datasets.probes.KINDS`.
        count: How many, at most `MAX_QUESTIONS`.
        lengths: Tokens of evidence, of `LENGTHS`.
    """

    probe: str
    count: int
    lengths: tuple[int, ...]


class Measurement:
    """Runs one kind of measurement in the background and keeps its latest report.

    Args:
        lock: Held while it runs, so that two measurements never compete for the cpu.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self._lock, self._running = lock, threading.Lock()
        self._status = ""
        self._report: Report = str

    def report(self, request: gr.Request) -> str:
        """The latest report as HTML, or its error."""
        speak_to(request.headers)
        return self._report()

    async def run(self, work: Work) -> AsyncIterator[str]:
        """Measure; yields progress, then the report, as HTML.

        While a run is in progress, a second caller watches that one.
        """
        if self._running.acquire(blocking=False):
            self._status, self._report = N_("Waiting for another measurement to end"), str
            threading.Thread(target=self._measure, args=[work], name="measure", daemon=True).start()
        while self._running.locked():
            yield notice(
                gettext(
                    "%(status)s … this takes minutes; you can go on asking questions.",
                    status=translated(self._status),
                )
            )
            await asyncio.sleep(POLL_SECONDS)
        yield self._report()

    def _measure(self, work: Work) -> None:
        try:
            with self._lock:
                self._notify(N_("Preparing"))
                self._report = work(self._notify)
        except RagAppError as error:
            self._report = partial(failure, error)
        except Exception as error:
            message = RagAppError(unexpected(error))
            self._report = partial(failure, message)
        finally:
            self._running.release()

    def _notify(self, line: str) -> None:
        self._status = line if line[:1].isupper() else line[:1].upper() + line[1:]


def needles(corpus: Path, each: int, extensions: Sequence[str], notify: Notify) -> Report:
    """The needle test of `rag-app evaluate needle`: facts hidden in copies of the documents."""
    from rag_app.laboratory.evaluation import needle

    selection = [one for one in needle.EXTENSIONS if one in extensions]
    report = needle.evaluate(
        corpus,
        needle.Grid(each=min(max(each, 1), 8)),
        methods=needle.combine_methods(selection or needle.EXTENSIONS[:1]),
        notify=notify,
    )
    return partial(view.needles, report)


def positions(corpus: Path, generator: str, settings: PositionSettings, notify: Notify) -> Report:
    """Accuracy by position of the evidence, as in `rag-app evaluate lost-in-the-middle`.

    The model is loaded a second time, so that Ms-PoE never touches the one that answers.
    """
    from generator.lm.calibration_record import find_record
    from generator.lm.causal_lm import CausalModel
    from generator.lm.language_model import needs_internals
    from indexing.models.server.server_name import is_remote
    from rag_app.laboratory.datasets.probes import Material, corpus_haystack, make_probes

    if is_remote(generator):
        raise needs_internals("Accuracy by position", generator, "the packaged model")
    hay, model = corpus_haystack(corpus), CausalModel.load(generator, notify=notify)
    reports: list[PositionReport] = []
    for length in [each for each in LENGTHS if each in settings.lengths] or LENGTHS[:1]:
        probes = make_probes(
            settings.probe, min(settings.count, MAX_QUESTIONS), Material(hay, model.count, length)
        )
        if max(len(one.prompt(model.chat, 0.0).ids) for one in probes) >= model.window:
            raise InvalidRequest(
                N_(
                    "%(model)s reads at most %(number)s tokens; choose fewer tokens",
                    model=model.name,
                    number=f"{model.window:,}",
                )
            )
        reports += _reports(model, {length: probes}, notify)
    curves = tuple(curve for report in reports for curve in report.curves)
    verdict = find_record(model.name, model.revision)
    return partial(view.positions, replace(reports[0], curves=curves), verdict)


def _reports(
    model: CausalModel, probes: dict[int, list[Probe]], notify: Notify
) -> Iterator[PositionReport]:
    """A report without Ms-PoE, and one with it where the model supports it."""
    from generator.ms_poe.lpes import LPES
    from generator.ms_poe.method import MsPoE
    from rag_app.laboratory.evaluation.positions import evaluate

    methods: dict[str, MsPoE | LPES | None] = {N_("off"): None, N_("on, as published"): MsPoE()}
    for name, method in methods.items():
        number, told = f"{next(iter(probes)):,}", N_("Ms-PoE %(state)s", state=name)
        notify(
            N_(
                "Measuring with about %(number)s tokens of evidence, %(state)s",
                number=number,
                state=told,
            )
        )
        with suppress(UnsupportedModel):
            yield evaluate(model, probes, methods={told: method}, positions=POSITIONS)
