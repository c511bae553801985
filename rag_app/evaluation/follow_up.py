"""How long a second question over the same evidence takes, beside the first, and beside no reuse.

Everything is read in each decoding: one document of about as many tokens as asked for, offered in
six passages. The second question is asked twice, once as it comes, and once after all that was
read has been forgotten: then the model reads the very same prompt anew, and should answer the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median

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
from rag_app.datasets.facts import facts
from rag_app.datasets.haystack import Haystack
from rag_app.datasets.probes import PARTS, Material, Probe, make
from rag_app.progress import counted

_ROOM = 1000  # tokens for questions, instructions and titles


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds until the first piece of text, medians.

    Attributes:
        model: From the prompt's making on.
        whole: Ranking the evidence included; without the search, and with all models loaded.
    """

    model: float
    whole: float

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Wait:
        """From the clocks of answers."""
        spent = [one.seconds for one in answers]
        whole = [each["first"] for each in spent]
        model = [each["first"] - each["evidence"] - each["load"] for each in spent]
        return cls(round(median(model), 4), round(median(whole), 4))


@dataclass(frozen=True, slots=True)
class FollowUp:
    """One decoding.

    Attributes:
        decoding: Its name.
        first: The first question over the evidence, nothing of which was read before.
        second: The second one.
        anew: The second one, with nothing kept.
        ratio: Of first to second, as medians.
        same: Share of second questions that are answered alike with and without what was kept.
    """

    decoding: str
    first: Wait
    second: Wait
    anew: Wait
    ratio: Wait
    same: float


@dataclass(frozen=True, slots=True)
class FollowUpReport:
    """All decodings.

    Attributes:
        model: Its name.
        dtype: What it computed in.
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


def evaluate(  # noqa: PLR0913 - one keyword option for each flag of the command
    model: CausalModel,
    embed: Embed,
    hay: Haystack,
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
        hay: What the evidence is made of.
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
    pairs = make("qa", rounds, Material(hay, model.count, tokens))
    read = [model.count(_document(pair).text) for pair in pairs]
    settings = GeneratorSettings(
        answer="free", budget_tokens=tokens + _ROOM, max_new_tokens=written
    )
    found = tuple(
        _measured(
            Generator(replace(settings, decoding=name), embed=embed, load=lambda: model), pairs
        )
        for name in decodings
    )
    dtype = str(model.dtype).removeprefix("torch.")
    return FollowUpReport(model.name, dtype, round(fmean(read)), rounds, found)


def _measured(generator: Generator, pairs: Sequence[Probe]) -> FollowUp:
    decoding = generator.settings.decoding
    _first(generator, pairs[0])  # what is slow once is no part of it
    with counted(pairs, doing=f"Asking ({decoding})") as steps:
        first, second, anew = zip(*(_asked(generator, pair) for pair in steps), strict=True)
    waits = Wait.of(first), Wait.of(second), Wait.of(anew)
    ratio = Wait(
        round(waits[0].model / waits[1].model, 2), round(waits[0].whole / waits[1].whole, 2)
    )
    same = fmean(one.text == other.text for one, other in zip(second, anew, strict=True))
    return FollowUp(decoding, *waits, ratio, same)


def _asked(generator: Generator, pair: Probe) -> tuple[Answer, Answer, Answer]:
    """The first question's answer, the second's, and the second's with nothing kept."""
    _forget(generator)
    first = _first(generator, pair)
    history = [Turn(pair.question, first.text)]
    second = _answered(generator, pair, _other(pair), history)
    _forget(generator)
    return first, second, _answered(generator, pair, _other(pair), history)


def _first(generator: Generator, pair: Probe) -> Answer:
    return _answered(generator, pair, pair.question, [])


def _answered(generator: Generator, pair: Probe, question: str, history: Sequence[Turn]) -> Answer:
    one = _document(pair)
    lookup = {one.id: one}.__getitem__
    request = AskRequest(question, history=tuple(history), abstain=False)
    return generator.answer(request, Retrieval([_hit(one)], lookup))


def _forget(generator: Generator) -> None:
    model = generator.model
    if isinstance(model, CausalModel):
        model.prefixes.clear()
        model.rows.clear()


def _document(pair: Probe) -> Document:
    return document("\n".join(pair.texts(0.5)), name=pair.question, title="Notes")


def _hit(one: Document) -> Hit:
    """The document in passages of equally many lines, the earlier the better."""
    lines = one.text.splitlines(keepends=True)
    size = -(-len(lines) // PARTS)
    passages, start = [], 0
    for at in range(0, len(lines), size):
        text = "".join(lines[at : at + size])
        passages.append(PassageHit(start, start + len(text), text, 1 - 0.01 * at))
        start += len(text)
    return Hit(one.id, one.title, one.path, one.part, 1.0, tuple(passages))


def _other(pair: Probe) -> str:
    """A question that another text of the evidence answers."""
    return next(fact.question for fact in facts() if any(fact.sentence in t for t in pair.around))
