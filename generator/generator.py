"""Question and hits -> a streamed answer: chooses how, collects what was said and cited."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace

from generator.answer import (
    NOT_SAID,
    Answer,
    AnswerReady,
    Citation,
    Event,
    Mode,
    Responsibility,
)
from generator.answer_mode import AnswerMode, usual
from generator.attribution.citer import Citer
from generator.attribution.markers import marked
from generator.decoding.base import Decoding, Limits, Marginal, Request
from generator.decoding.concat import concatenate
from generator.decoding.rag import rag_sequence, rag_token
from generator.decoding.server import ask_server
from generator.draft import Draft
from generator.evidence import (
    Embed,
    Evidence,
    Lookup,
    Sentence,
    evidence_sentences,
    gather_evidence,
)
from generator.extractive.abstention import Floor, enough, support
from generator.extractive.constrained_decoding import decoded
from generator.extractive.features import Reading, WordVectors
from generator.extractive.late_chunking import Context
from generator.extractive.selector import QuoteLength, best, chosen, cited, line
from generator.lm.causal_lm import CausalModel
from generator.lm.model_name import is_remote, needs_internals
from generator.lm.ms_poe_policy import MS_POE, Positions, applied, settled
from generator.lm.openai_server import RemoteModel
from generator.lm.sampling import Sampling
from generator.prompt.builder import ARRANGEMENTS, count_words, ledger
from generator.prompt.follow_up import Turn, complete
from indexing.documents import Hit
from indexing.errors import InvalidRequest, MissingDependency
from indexing.models.files import DEFAULT_GENERATOR
from indexing.models.gguf import Notify

DECODINGS: dict[str, Decoding] = {
    "concat": concatenate,
    "rag-token": rag_token,
    "rag-sequence": rag_sequence,
}
"""Ways to decode over documents, by the name a person types."""

QUOTES = ("ranked", "decoded")
"""Who chooses the quotes of an answer: their rank, or the language model, writing them."""


_ROOM_FOR_QUOTES = 400  # tokens


AnyModel = CausalModel | RemoteModel


def load_model(name: str, *, notify: Notify | None = None) -> AnyModel:
    """The model by a name: on this machine, or behind the server that the name gives.

    Raises:
        ModelError: There is none by that name, or it cannot be loaded.
        InvalidRequest: The name of a server's model is not of the form `openai:BASE_URL#MODEL`.
    """
    return RemoteModel(name) if is_remote(name) else CausalModel.load(name, notify=notify)


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """How answers are made.

    Attributes:
        model: A packaged name, a folder, a `.gguf` file, a hub name, or `openai:BASE_URL#MODEL`.
        answer: "quote" for verbatim sentences only, "free" for the model's own words; None for what
            was measured to suit the model (`answer_mode.usual`).
        decoding: A key of `DECODINGS`.
        quotes: One of `QUOTES`.
        max_new_tokens: Most tokens of a free answer.
        budget_tokens: Most tokens of a prompt; the model's window may allow fewer.
        history_tokens: Most tokens that earlier turns of a conversation add to a prompt.
        passages: How many of the best passages a quote answer chooses from.
        length: How long a quote answer may be.
        floor: What evidence must reach to be answered from.
        sampling: How a free answer's tokens are chosen.
        marginal: How several passages make one answer, for the decodings that read them apart.
        ms_poe: One of `MS_POE`: when Ms-PoE is on.
        arrangement: The order of the evidence in one prompt, a key of `ARRANGEMENTS`.
    """

    model: str = DEFAULT_GENERATOR
    answer: Mode | None = None
    decoding: str = "concat"
    quotes: str = "ranked"
    max_new_tokens: int = 200
    budget_tokens: int = 3000
    history_tokens: int = 1000
    passages: int = 16
    length: QuoteLength = field(default_factory=QuoteLength)
    floor: Floor = field(default_factory=Floor)
    sampling: Sampling = field(default_factory=Sampling)
    marginal: Marginal = field(default_factory=Marginal)
    ms_poe: str = "calibrated"
    arrangement: str = "ends"

    def __post_init__(self) -> None:
        if self.answer not in {"quote", "free", None}:
            raise InvalidRequest(f"no answer mode {self.answer!r}; use quote or free")
        if self.decoding not in DECODINGS:
            raise InvalidRequest(f"no decoding {self.decoding!r}; use {', '.join(DECODINGS)}")
        if self.quotes not in QUOTES:
            raise InvalidRequest(
                f"no way to choose quotes {self.quotes!r}; use {', '.join(QUOTES)}"
            )
        if self.ms_poe not in MS_POE:
            raise InvalidRequest(f"no setting {self.ms_poe!r} of Ms-PoE; use {', '.join(MS_POE)}")
        if self.arrangement not in ARRANGEMENTS:
            raise InvalidRequest(
                f"no arrangement {self.arrangement!r}; use {', '.join(ARRANGEMENTS)}"
            )
        if is_remote(self.model) and self.ms_poe == "on":
            raise needs_internals("Ms-PoE", self.model, "--ms-poe off")
        if is_remote(self.model) and self.decoding != "concat":
            raise needs_internals(self.decoding, self.model, "--decoding concat")
        if is_remote(self.model) and self.quotes == "decoded":
            raise needs_internals("decoding quotes", self.model, "--quotes ranked")
        if self.history_tokens < 0:
            raise InvalidRequest("history_tokens must be at least 0")
        if min(self.max_new_tokens, self.budget_tokens, self.passages) < 1:
            raise InvalidRequest("max_new_tokens, budget_tokens and passages must be at least 1")


class Generator:
    """Answers questions from hits; loads the language model only when it is to write.

    Args:
        settings: How answers are made.
        embed: Texts to normalised vectors, (n, d) float32.
        load: Loads the language model; called once, at the first free answer.
    """

    def __init__(
        self,
        settings: GeneratorSettings,
        *,
        embed: Embed,
        load: Callable[[], AnyModel] | None = None,
    ) -> None:
        self.settings = settings
        self._embed = embed
        self._words = WordVectors(embed)
        self._context = Context()
        self._load = load or (lambda: load_model(settings.model))
        self._model: AnyModel | None = None
        self._positions: Positions | None = None
        self._changes = ExitStack()  # what is done to the model for as long as this one answers
        self._loading = threading.Lock()

    @property
    def model(self) -> AnyModel:
        """The language model, loaded at first use; it reads positions as the settings say."""
        with self._loading:
            if self._model is None:
                model = self._load()
                if isinstance(model, CausalModel):
                    self._positions = settled(self.settings.ms_poe, model)
                    self._changes.enter_context(applied(self._positions, model))
                self._model = model
            return self._model

    @contextmanager
    def varied(
        self, *, arrangement: str | None = None, ms_poe: str | None = None
    ) -> Iterator[Generator]:
        """One with other settings over the same model; this one must not answer meanwhile.

        Args:
            arrangement: A key of `ARRANGEMENTS`; None for the same.
            ms_poe: One of `MS_POE`; None for the same.

        Raises:
            UnsupportedModel: Ms-PoE is not defined for the model.
        """
        settings = replace(
            self.settings,
            arrangement=arrangement or self.settings.arrangement,
            ms_poe=ms_poe or self.settings.ms_poe,
        )
        other = Generator(settings, embed=self._embed, load=lambda: self.model)
        with ExitStack() as stack:
            if ms_poe is not None and isinstance(self.model, CausalModel):
                stack.enter_context(self._untouched(self.model))
            stack.callback(other.close)
            if ms_poe is not None:
                _ = other.model
            yield other

    @contextmanager
    def _untouched(self, model: CausalModel) -> Iterator[None]:
        self._changes.close()
        try:
            yield
        finally:
            if self._positions is not None:
                self._changes.enter_context(applied(self._positions, model))

    def close(self) -> None:
        """Undo what was done to the model; the next answer does it again."""
        with self._loading:
            self._changes.close()
            if (model := self._model) is not None:
                self._load, self._model = (lambda: model), None

    @property
    def positions(self) -> Positions | None:
        """What is done to the model's positions; None before it is loaded, or far away."""
        return self._positions

    def answer(  # noqa: PLR0913 - as in `stream`
        self,
        question: str,
        hits: Sequence[Hit],
        document: Lookup,
        *,
        answer: Mode | None = None,
        abstain: bool = True,
        history: Sequence[Turn] = (),
    ) -> Answer:
        """The whole answer; arguments as in `stream`."""
        for event in self.stream(
            question, hits, document, answer=answer, abstain=abstain, history=history
        ):
            if isinstance(event, AnswerReady):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def stream(  # noqa: PLR0913 - four keyword options beside what every answer needs
        self,
        question: str,
        hits: Sequence[Hit],
        document: Lookup,
        *,
        answer: Mode | None = None,
        abstain: bool = True,
        stop: threading.Event | None = None,
        history: Sequence[Turn] = (),
    ) -> Iterator[Event]:
        """First the ledger, then the text in pieces, last the answer.

        Args:
            question: As asked.
            hits: What the retriever found, best first.
            document: Gives a hit's document by its id.
            answer: Overrides the settings' mode.
            abstain: Whether evidence below the floor ends in "The documents do not say."
            stop: Set by another thread to end a free answer early; closing the iterator does too.
            history: The conversation so far, oldest turn first; a question that leans on it is
                completed from it.

        Raises:
            InvalidRequest: An empty question, or one too long for the model.
        """
        if not question.strip():
            raise InvalidRequest("the question is empty; ask something")
        mode = self._mode(answer)
        draft = Draft(question.strip(), complete(question, history), mode)
        evidence = gather_evidence(hits, document)
        found = evidence_sentences(evidence.passages[: self.settings.passages])
        reading = Reading.of(draft.query, found, self._words, asked=draft.question)
        draft.lap("evidence")
        sure = enough(support(reading), self.settings.floor)
        if not found or (abstain and not sure):
            yield from self._abstained(draft, evidence)
        elif mode.mode == "quote":
            yield from self._quoted(draft, evidence, reading, stop)
        else:
            yield from self._free(draft, evidence, stop, history)
        yield AnswerReady(draft.finished())

    def _mode(self, answer: Mode | None) -> AnswerMode:
        asked = answer or self.settings.answer
        return AnswerMode(asked, "as asked") if asked else usual(self.settings.model)

    def _abstained(self, draft: Draft, evidence: Evidence) -> Iterator[Event]:
        yield draft.context(ledger(evidence.whole, [], count_words))
        yield draft.text(NOT_SAID)

    def _quoted(
        self, draft: Draft, evidence: Evidence, reading: Reading, stop: threading.Event | None
    ) -> Iterator[Event]:
        read = evidence.passages[: self.settings.passages]
        draft.made["quotes"] = self.settings.quotes
        try:
            reading = reading.in_context(self._context.closeness)
            draft.made["sentences"] = "read in context"
        except MissingDependency as missing:
            draft.made["sentences"] = f"read one by one ({missing})"
        draft.made["Ms-PoE"] = "off (no language model is asked)"
        yield draft.context(ledger(evidence.whole, read, count_words))
        if self.settings.quotes == "decoded":
            picked = self._decoded(draft, evidence, reading, stop)
        else:
            picked = iter(chosen(reading, length=self.settings.length))
        for marker, sentence in enumerate(picked, start=1):
            text = line(sentence, marker)
            yield draft.text(text if marker == 1 else "\n" + text)
            draft.citations.append(cited(sentence, marker, text))
        if not draft.citations:
            yield draft.text(NOT_SAID)
        draft.lap("write")

    def _decoded(
        self, draft: Draft, evidence: Evidence, reading: Reading, stop: threading.Event | None
    ) -> Iterator[Sentence]:
        """Quotes that the model chooses among the best-ranked ones."""
        model = self.model
        if isinstance(model, RemoteModel):  # a loader of somebody else's
            raise needs_internals("decoding quotes", model.name, "--quotes ranked")
        draft.model = model.name
        draft.made["model"] = model.name
        draft.made["Ms-PoE"] = str(self._positions)
        draft.made["evidence"] = self.settings.arrangement
        draft.lap("load")
        yield from decoded(
            model,
            draft.query,
            evidence,
            best(reading),
            length=self.settings.length,
            room=min(self.settings.budget_tokens, model.window - _ROOM_FOR_QUOTES),
            arrangement=self.settings.arrangement,
            stop=stop,
        )
        draft.made["single tokens"] = model.steps.engine()

    def _free(
        self,
        draft: Draft,
        evidence: Evidence,
        stop: threading.Event | None,
        history: Sequence[Turn],
    ) -> Iterator[Event]:
        model = self.model
        draft.model = model.name
        draft.made["model"] = model.name
        draft.made["Ms-PoE"] = str(self._positions)
        draft.made["temperature"] = str(self.settings.sampling)
        draft.made["decoding"] = self.settings.decoding
        if self.settings.decoding == "concat":
            draft.made["evidence"] = self.settings.arrangement
        draft.lap("load")
        limits = Limits(
            self.settings.budget_tokens,
            self.settings.max_new_tokens,
            self.settings.sampling,
            self.settings.marginal,
            self.settings.history_tokens,
            self.settings.arrangement,
        )
        request = Request(draft.query, evidence, limits, stop, history)
        draft.decoding = self.settings.decoding
        if isinstance(model, RemoteModel):
            draft.made["Ms-PoE"] = "off (behind a server; it needs the inside of a model)"
            reading = ask_server(model, request)
        else:
            reading = DECODINGS[self.settings.decoding](model, request)
        citer = Citer(reading.spans, self._embed, question=draft.query)
        yield draft.context(reading.context)
        with closing(reading.pieces) as pieces:
            for text in marked(pieces, citer):
                yield draft.text(text)
        reading.remember(Turn(draft.question, draft.written))
        if isinstance(model, CausalModel):
            draft.made["single tokens"] = model.steps.engine()
        draft.responsibility = reading.responsibility()
        draft.citations = [_shared(each, draft.responsibility) for each in citer.citations]
        draft.unsupported = citer.unsupported
        draft.lap("write")


def _shared(citation: Citation, responsibility: Responsibility | None) -> Citation:
    """A citation with the shares of the passages that hold it."""
    if responsibility is None:
        return citation
    share = sum(
        passage.share
        for passage in responsibility.passages
        if passage.document == citation.document
        and passage.start < citation.end
        and citation.start < passage.end
    )
    return replace(citation, share=round(share, 4))
