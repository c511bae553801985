"""Time to first text of a second question over the same evidence, with caches and without.

The evidence is one document of about as many tokens as asked for, in six passages, all of which
each decoding reads. The second question is asked twice: once as it comes, and once after the caches
are cleared. Then the model reads the very same prompt again, and should answer the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import fmean, median

import click

from generator.answer import Answer
from generator.decoding import DECODINGS
from generator.evidence import Embed
from generator.generator import Generator
from generator.lm.causal_lm import CausalModel
from generator.prompt.follow_up import Turn
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.documents import Document, Hit, PassageHit
from indexing.errors import InvalidRequest
from indexing.files import document
from indexing.models.files import DEFAULT_GENERATOR
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.embedding_cache import EmbeddingCache
from rag_app.laboratory.datasets.facts import facts
from rag_app.laboratory.datasets.haystack import Haystack, haystack
from rag_app.laboratory.datasets.probes import PARTS, Material, Probe, make_probes
from rag_app.laboratory.evaluation.table import grid
from rag_app.progress import track

_ROOM = 1000  # tokens for questions, instructions and titles


@dataclass(frozen=True, slots=True)
class TimeToFirst:
    """Seconds until the first piece of text, medians.

    Attributes:
        model: From building the prompt on.
        whole: With ranking the evidence; without the search, and with all models loaded.
    """

    model: float
    whole: float

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> TimeToFirst:
        """Of answers, by their timings."""
        seconds = [each.seconds for each in answers]
        whole = [each["first"] for each in seconds]
        model = [each["first"] - each["evidence"] - each["load"] for each in seconds]
        return cls(round(median(model), 4), round(median(whole), 4))


@dataclass(frozen=True, slots=True)
class FollowUp:
    """One decoding.

    Attributes:
        decoding: Its name.
        first: The first question over the evidence, with empty caches.
        second: The second one.
        uncached: The second one, with empty caches.
        ratio: Of first to second, as medians.
        same: Share of second questions whose answer is the same with and without the caches.
    """

    decoding: str
    first: TimeToFirst
    second: TimeToFirst
    uncached: TimeToFirst
    ratio: TimeToFirst
    same: float


@dataclass(frozen=True, slots=True)
class FollowUpReport:
    """All decodings.

    Attributes:
        model: Its name.
        dtype: Compute dtype.
        tokens: Tokens of the evidence, the mean.
        rounds: How many pairs of questions.
        decodings: What was measured.
    """

    model: str
    dtype: str
    tokens: int
    rounds: int
    decodings: tuple[FollowUp, ...]

    def as_dict(self) -> dict[str, object]:
        """Values for JSON."""
        return asdict(self)


def evaluate(
    model: CausalModel,
    embed: Embed,
    material: Haystack,
    *,
    decodings: Sequence[str] = tuple(DECODINGS),
    tokens: int = 2000,
    rounds: int = 5,
    written: int = 32,
) -> FollowUpReport:
    """Ask pairs of questions, each over evidence of its own.

    Args:
        model: Any causal model.
        embed: Texts to normalised vectors, (n, d) float32.
        material: What the evidence is made of.
        decodings: Of `DECODINGS`.
        tokens: About how many of evidence.
        rounds: How many pairs.
        written: Most tokens of an answer; RAG-Sequence weighs whole answers of up to 24.

    Raises:
        InvalidRequest: The model does not read that much.
    """
    if tokens + _ROOM > model.window:
        most = model.window - _ROOM
        raise InvalidRequest(f"{model.name} has room for {most} tokens of evidence; ask for less")
    pairs = make_probes("qa", rounds, Material(material, model.count, tokens))
    lengths = [model.count(_document(pair).text) for pair in pairs]
    settings = GeneratorSettings(
        answer="free", budget_tokens=tokens + _ROOM, max_new_tokens=written
    )
    reports = tuple(
        _measure(
            Generator(replace(settings, decoding=name), embed=embed, load=lambda: model), pairs
        )
        for name in decodings
    )
    dtype = str(model.dtype).removeprefix("torch.")
    return FollowUpReport(model.name, dtype, round(fmean(lengths)), rounds, reports)


def _measure(generator: Generator, pairs: Sequence[Probe]) -> FollowUp:
    decoding = generator.settings.usual_decoding
    _answer_first(generator, pairs[0])  # warm-up
    with track(pairs, doing=f"Asking ({decoding})") as steps:
        first, second, uncached = zip(
            *(_answer_pair(generator, pair) for pair in steps), strict=True
        )
    times = TimeToFirst.of(first), TimeToFirst.of(second), TimeToFirst.of(uncached)
    ratio = TimeToFirst(
        round(times[0].model / times[1].model, 2), round(times[0].whole / times[1].whole, 2)
    )
    same = fmean(one.text == other.text for one, other in zip(second, uncached, strict=True))
    return FollowUp(decoding, *times, ratio, same)


def _answer_pair(generator: Generator, pair: Probe) -> tuple[Answer, Answer, Answer]:
    """Answers to the first question, to the second, and to the second with empty caches."""
    _clear_caches(generator)
    first = _answer_first(generator, pair)
    history = [Turn(pair.question, first.text)]
    second = _answer(generator, pair, _second_question(pair), history)
    _clear_caches(generator)
    return first, second, _answer(generator, pair, _second_question(pair), history)


def _answer_first(generator: Generator, pair: Probe) -> Answer:
    return _answer(generator, pair, pair.question, [])


def _answer(generator: Generator, pair: Probe, question: str, history: Sequence[Turn]) -> Answer:
    evidence = _document(pair)
    lookup = {evidence.id: evidence}.__getitem__
    request = AskRequest(question, history=tuple(history), abstain=False)
    return generator.answer(request, Retrieval([_hit(evidence)], lookup))


def _clear_caches(generator: Generator) -> None:
    model = generator.model
    if isinstance(model, CausalModel):
        model.prefixes.clear()
        model.rows.clear()


def _document(pair: Probe) -> Document:
    return document("\n".join(pair.texts(0.5)), name=pair.question, title="Notes")


def _hit(source: Document) -> Hit:
    """The document as a hit: passages of equally many lines, the earlier the better."""
    lines = source.text.splitlines(keepends=True)
    size = -(-len(lines) // PARTS)
    passages, start = [], 0
    for at in range(0, len(lines), size):
        text = "".join(lines[at : at + size])
        passages.append(PassageHit(start, start + len(text), text, 1 - 0.01 * at))
        start += len(text)
    return Hit(source.id, source.title, source.path, source.part, 1.0, tuple(passages))


def _second_question(pair: Probe) -> str:
    """A question that another text of the evidence answers."""
    return next(
        fact.question for fact in facts() if any(fact.sentence in t for t in pair.distractors)
    )


@click.command
@click.option("--generator", help="Language model: packaged, folder or hub name.")
@click.option("--tokens", type=click.IntRange(min=50), default=2000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1, max=144), default=5, show_default=True)
@click.option(
    "--decoding",
    "decodings",
    multiple=True,
    type=click.Choice([*DECODINGS]),
    help="May be given more than once.  [default: all]",
)
@click.option("--dtype", type=click.Choice(["float32", "bfloat16"]), help="[default: the fastest]")
@with_json
def command(
    generator: str | None,
    tokens: int,
    rounds: int,
    decodings: tuple[str, ...],
    dtype: str | None,
    as_json: bool,
) -> None:
    """Time to first text of a second question over the same evidence."""
    import torch

    from indexing.encoder.encoder import Encoder
    from indexing.encoder.settings import EncoderSettings

    notify = partial(click.echo, err=True)
    model = CausalModel.load(
        generator or DEFAULT_GENERATOR,
        dtype=getattr(torch, dtype) if dtype else None,
        notify=notify,
    )
    encoder = Encoder(EncoderSettings(), notify=notify)
    report = evaluate(
        model,
        EmbeddingCache(encoder.encode_queries),
        haystack(None),
        decodings=decodings or tuple(DECODINGS),
        tokens=tokens,
        rounds=rounds,
    )
    print_result(as_json, report.as_dict(), lambda: click.echo(text(report)))


def text(report: FollowUpReport) -> str:
    """What was measured, and a Markdown table."""
    rows = [
        [
            each.decoding,
            *(f"{t.model:.3f} / {t.whole:.3f}" for t in (each.first, each.second, each.uncached)),
            f"{each.ratio.model:.1f} / {each.ratio.whole:.1f}",
            f"{each.same:.0%}",
        ]
        for each in report.decodings
    ]
    head = ["decoding", "first question", "second", "second, no cache", "ratio", "same answer"]
    return (
        f"{report.model}, {report.dtype}, {report.tokens:,} tokens of evidence; seconds to the "
        f"first text: by the model / with the ranking of the evidence\n\n{grid(head, rows)}"
    )
