"""A request and its retrieved evidence in, a streamed answer out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from generator.answer import NOT_SAID, Answer, AnswerReady, Event, EvidenceUnit, Mode
from generator.answer_form import LENGTHS
from generator.attribution.named_verifier import NamedVerifier
from generator.attribution.verifier import AnyVerifier, shipped_verifier
from generator.draft import Draft
from generator.engine import load_model
from generator.evidence import Embed, Evidence, Sentence, evidence_sentences, gather_evidence
from generator.extractive.abstention import answer_probability
from generator.extractive.context.late_chunking import ContextualEncoder
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.fitted import FITTED
from generator.extractive.latest import document_days, with_days
from generator.extractive.question.moment import question_to_read
from generator.extractive.quotes.quote_length import QuoteLength
from generator.extractive.quotes.selector import closest_quotes, select_quotes
from generator.free_answer import FreeAnswer
from generator.lm.any_model import AnyModel
from generator.lm.calibration_record import AnswerMode, usual
from generator.lm.causal_lm import CausalModel
from generator.lm.language_model import needs_internals
from generator.lm.ms_poe_policy import MsPoEPolicy, apply_policy, choose_policy
from generator.parts import NO_RERANKER, reads_larger
from generator.prompt.ledger import count_words, ledger
from generator.quoted_answer import quote
from generator.reader.large_reader import LargeReader
from generator.reader.reading import AnyReader, Reading
from generator.reader.second_reader import SecondReader, default_reader
from generator.reader.span_reader import SpanReader
from generator.request import AskRequest, Retrieval
from generator.reranking.reranker import load_reranker, reranked
from generator.scales.cosine_scale import PACKAGED, CosineScale
from generator.settings import GeneratorSettings
from indexing.errors import MissingDependency
from indexing.message import Notify
from indexing.models.files import LARGE_ENCODER, MULTILINGUAL_ENCODER, PACKAGED_PART

R = TypeVar("R")


class Generator:
    """Answers questions from hits; loads the language model only when it is to write."""

    def __init__(  # noqa: PLR0913 - one keyword option each
        self,
        settings: GeneratorSettings,
        *,
        embed: Embed,  # texts to normalised vectors, (n, d) float32
        scale: CosineScale = PACKAGED,  # of their cosines
        load: Callable[[], AnyModel] | None = None,  # called once, at the first free answer
        quick_start: bool = False,  # whether graphs read the evidence, if any: for few questions
        notify: Notify | None = None,  # told before they are exported
    ) -> None:
        self.settings = settings
        self._embed, self._scale = embed, scale
        self._words = WordVectors(embed, scale)
        self._quick_start = quick_start
        self._context = ContextualEncoder(quick_start=quick_start, notify=notify)
        self._verifier = _verifier(settings.parts.verifier, notify)
        self._reader = _reader(settings.parts.reader, quick_start, notify)
        named = settings.parts.reranker
        self._reranker = None if named == NO_RERANKER else load_reranker(named, notify=notify)
        self._load = load or (lambda: load_model(settings))
        self._model: AnyModel | None = None
        self.positions: MsPoEPolicy | None = None
        """What is done to the model's positions; None before it is loaded, or far away."""
        self._changes = ExitStack()  # what is done to the model for as long as this one answers
        self._loading = threading.Lock()

    @property
    def model(self) -> AnyModel:
        """The language model, loaded at first use; it reads positions as the settings say."""
        with self._loading:
            if self._model is None:
                model = self._load()
                if isinstance(model, CausalModel):
                    self.positions = choose_policy(self.settings.ms_poe, model)
                    self._changes.enter_context(apply_policy(self.positions, model))
                self._model = model
            return self._model

    @contextmanager
    def variant(
        self, *, arrangement: str | None = None, ms_poe: str | None = None
    ) -> Iterator[Generator]:
        """One with other settings over the same model; this one must not answer meanwhile.

        Raises:
            UnsupportedModel: Ms-PoE is not defined for the model.
        """
        settings = replace(
            self.settings,
            arrangement=arrangement or self.settings.arrangement,
            ms_poe=ms_poe or self.settings.ms_poe,
        )
        other = Generator(
            settings,
            embed=self._embed,
            scale=self._scale,
            load=lambda: self.model,
            quick_start=self._quick_start,
        )
        with ExitStack() as stack:
            if ms_poe is not None and isinstance(self.model, CausalModel):
                stack.enter_context(self._untouched(self.model))
            elif ms_poe == "on":
                raise needs_internals("Ms-PoE", self.model.name, "--ms-poe off")
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
            if self.positions is not None:
                self._changes.enter_context(apply_policy(self.positions, model))

    def close(self) -> None:
        """Undo what was done to the model; the next answer does it again."""
        with self._loading:
            self._changes.close()
            if (model := self._model) is not None:
                self._load, self._model = (lambda: model), None

    def answer(self, request: AskRequest, retrieval: Retrieval) -> Answer:
        """The whole answer; arguments and errors as in `stream`."""
        for event in self.stream(request, retrieval):
            if isinstance(event, AnswerReady):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def stream(
        self, request: AskRequest, retrieval: Retrieval, *, stop: threading.Event | None = None
    ) -> Iterator[Event]:
        """First the ledger, then the text in pieces, last the answer.

        Another thread ends a generated answer by `stop`; closing the iterator does too.

        Raises:
            InvalidRequest: The question is too long for the model.
        """
        draft = Draft(request, self._mode(request), retrieval.seconds)
        evidence = self._evidence(draft, retrieval)
        sentences = evidence_sentences(evidence.best(self.settings.passages), request.aliases)
        features = self._features(draft, sentences)
        draft.probability = answer_probability(features)
        if not sentences or draft.probability < self._abstain_below(request):
            yield from self._abstain(draft, evidence)
        elif draft.mode == "quote":
            yield from self._quote(draft, evidence, features)
        else:
            free = self._free_answer(request)
            yield from free.events(draft, evidence, features, retrieval.picture, stop)
        if draft.abstained:
            draft.closest = closest_quotes(features)
        documents = [one.document for one in evidence.whole]
        draft.citations = with_days(draft.citations, documents, request.asked)
        yield AnswerReady(draft.finish())

    def probability(
        self,
        request: AskRequest,
        retrieval: Retrieval,
        *,
        without: Callable[[Sentence], bool] | None = None,
    ) -> float:
        """The probability that what was retrieved answers a question, 0 to 1.

        It is as if no document had the sentences that are `without`.
        """
        draft = Draft(request, AnswerMode("quote", "as asked"), retrieval.seconds)
        evidence = self._evidence(draft, retrieval)
        sentences = evidence_sentences(evidence.best(self.settings.passages), request.aliases)
        kept = [each for each in sentences if without is None or not without(each)]
        return answer_probability(self._features(draft, kept))

    def read(self, question: str, sentences: Sequence[Sentence]) -> Reading:
        """What the reader says of sentences for a question.

        Raises:
            MissingDependency: The packaged encoder is not installed.
        """
        return self._reader.read(question, sentences)

    def _evidence(self, draft: Draft, retrieval: Retrieval) -> Evidence:
        """The passages found, in the reranker's order if there is one."""
        speaker = draft.request.where.speaker
        evidence = gather_evidence(retrieval.hits, retrieval.document, speaker=speaker)
        if self._reranker is not None:
            evidence = reranked(evidence, draft.request.query, self._reranker.scores)
            draft.configuration["reranker"] = self._reranker.described
            draft.lap("rerank")
        return evidence

    def _mode(self, request: AskRequest) -> AnswerMode:
        mode: Mode | None = request.mode or self.settings.answer
        if mode:
            return AnswerMode(mode, "as asked")
        if self._unit(request) == "documents":
            return AnswerMode("free", "whole documents are read by a language model")
        return usual(self.settings.model)

    def _unit(self, request: AskRequest) -> EvidenceUnit:
        if request.where.speaker:
            return "passages"  # whole documents hold what others say
        return request.evidence or self.settings.evidence

    def _length(self, request: AskRequest) -> QuoteLength:
        length = LENGTHS[request.length]
        if length is None:
            return self.settings.length
        enough = 1.0 if length.complete else self.settings.length.enough
        return QuoteLength(length.quotes, length.words, enough)

    def _abstain_below(self, request: AskRequest) -> float:
        """The probability of an answer below which there is none."""
        if not request.abstain:
            return 0.0
        given = (request.abstain_below, self.settings.answerable, FITTED.abstain_below)
        return next(each for each in given if each is not None)

    def _features(self, draft: Draft, sentences: Sequence[Sentence]) -> SentenceFeatures:
        """What is known of sentences: alone, in their context, and read with the question.

        Graphs compute it side by side; models share the cores in their own way.
        """
        query = draft.request.query
        with ThreadPoolExecutor(2, "evidence") as pool:

            def begin(work: Callable[[str, Sequence[Sentence]], R], asked: str) -> Callable[[], R]:
                if self._quick_start:
                    return pool.submit(work, asked, sentences).result
                return partial(work, asked, sentences)

            contextual = begin(self._context.score, query)
            days = document_days({one.document.id: one.document for one in sentences})
            reading = begin(self._reader.read, question_to_read(query, days.values()))
            features = SentenceFeatures.of(
                query, sentences, self._words, question=draft.request.asked
            )
            draft.lap("evidence")
            try:
                features = replace(features, contextual=contextual(), reading=reading())
                draft.configuration["sentences"] = "read with the question, and in context"
                if readers := _describe_readers(features):
                    draft.configuration["reader"] = readers
            except MissingDependency as missing:
                draft.configuration["sentences"] = f"compared one by one ({missing})"
        draft.lap("read")
        return features

    def _free_answer(self, request: AskRequest) -> FreeAnswer:
        model = self.model  # which is loaded before its positions are known
        return FreeAnswer(
            model, self.positions, self.settings, self._embed, self._scale, self._verifier,
            self._reader, self._unit(request),
        )  # fmt: skip

    def _abstain(self, draft: Draft, evidence: Evidence) -> Iterator[Event]:
        yield draft.context(ledger(evidence.whole, [], count_words))
        yield draft.text(NOT_SAID)

    def _quote(
        self, draft: Draft, evidence: Evidence, features: SentenceFeatures
    ) -> Iterator[Event]:
        passages = evidence.best(self.settings.passages)
        draft.configuration["Ms-PoE"] = "off (no language model is asked)"
        if self._unit(draft.request) == "documents":
            draft.configuration["shown"] = (
                "passages, as quotes are selected from them; --mode free reads whole documents"
            )
        yield draft.context(ledger(evidence.whole, passages, count_words))
        quotes = select_quotes(features, length=self._length(draft.request))
        yield from quote(draft, features, quotes)


def _describe_readers(features: SentenceFeatures) -> str:
    """Which models have read; "" for the packaged reader alone, where it knows the language."""
    assert features.reading is not None
    if features.reading.reader or features.is_read:
        return features.reading.reader
    return 'packaged, for English; for other languages: pip install "rag-app[multilingual]"'


def _reader(name: str, quick_start: bool, notify: Notify | None) -> AnyReader:
    """What reads evidence; loaded at the first question.

    Raises:
        MissingDependency: The encoder of a packaged one is not installed.
    """
    if reads_larger(name):
        required = name == LARGE_ENCODER
        return LargeReader(required=required, quick_start=quick_start, notify=notify)
    if name == PACKAGED_PART:
        return default_reader(quick_start=quick_start, notify=notify)
    if name == MULTILINGUAL_ENCODER:
        return SecondReader(quick_start=quick_start, notify=notify)
    return SpanReader(name, notify=notify)


def _verifier(name: str, notify: Notify | None) -> AnyVerifier | None:
    """What says whether evidence supports a sentence; loaded at the first one."""
    return shipped_verifier() if name == PACKAGED_PART else NamedVerifier(name, notify=notify)
