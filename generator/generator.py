"""A request and its retrieved evidence in, a streamed answer out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from generator.answer import (
    NOT_SAID,
    Answer,
    AnswerReady,
    Citation,
    Event,
    EvidenceUnit,
    Mode,
    Responsibility,
)
from generator.answer_form import (
    AS_ASKED,
    NO_WORDS,
    QUOTE_A_LINE,
    SENTENCES_ONLY,
    WORDS_ONLY,
)
from generator.answer_length import LENGTHS
from generator.answer_mode import AnswerMode, usual
from generator.attribution.citer import Citer
from generator.attribution.markers import insert_markers
from generator.attribution.named_verifier import NamedVerifier
from generator.attribution.verifier import AnyVerifier, shipped_verifier
from generator.decoding import DECODINGS
from generator.decoding.base import DecodingRun
from generator.decoding.concat import concat
from generator.decoding.server import ask_server
from generator.draft import Draft
from generator.engine import describe_engine, load_model
from generator.evidence import (
    Embed,
    Evidence,
    Sentence,
    Span,
    evidence_sentences,
    gather_evidence,
)
from generator.evidence_budget import choose_budget, passage_tokens
from generator.extractive.abstention import answer_probability
from generator.extractive.context.late_chunking import ContextualEncoder
from generator.extractive.evidence_order import best_stretches
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.fitted import FITTED
from generator.extractive.latest import with_days
from generator.extractive.quote_length import QuoteLength
from generator.extractive.selector import (
    build_citation,
    closest_quotes,
    format_quote,
    select_quotes,
)
from generator.extractive.short_answer import short_answer
from generator.lm.any_model import AnyModel
from generator.lm.causal_lm import CausalModel
from generator.lm.gguf.llama_cpp import LlamaCppModel
from generator.lm.model_name import needs_internals
from generator.lm.ms_poe_policy import MsPoEPolicy, apply_policy, choose_policy
from generator.lm.server.openai_server import RemoteModel
from generator.parts import NO_RERANKER
from generator.prompt.document_cut import describe_parts
from generator.prompt.follow_up import Turn
from generator.prompt.ledger import count_words, ledger
from generator.prompt.pictures import PictureLookup, describe_figures
from generator.reader.reading import Reader
from generator.reader.span_reader import SpanReader
from generator.request import AskRequest, Retrieval
from generator.reranking.reranker import load_reranker, reranked
from generator.scales.cosine_scale import PACKAGED, CosineScale
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest, MissingDependency
from indexing.models.files import PACKAGED_PART
from indexing.notify import Notify

SURE = 0.5
"""Probability that the documents answer, from which a model is not told how to say that they do
not: a small one says so of every third question that they answer."""

R = TypeVar("R")


class Generator:
    """Answers questions from hits; loads the language model only when it is to write.

    Args:
        settings: How answers are made.
        embed: Texts to normalised vectors, (n, d) float32.
        scale: Of their cosines.
        load: Loads the language model; called once, at the first free answer.
        quick_start: Whether graphs read the evidence, where there can be any; for few questions.
        notify: Told before they are exported.
    """

    def __init__(  # noqa: PLR0913 - one keyword option each
        self,
        settings: GeneratorSettings,
        *,
        embed: Embed,
        scale: CosineScale = PACKAGED,
        load: Callable[[], AnyModel] | None = None,
        quick_start: bool = False,
        notify: Notify | None = None,
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
        self._positions: MsPoEPolicy | None = None
        self._changes = ExitStack()  # what is done to the model for as long as this one answers
        self._loading = threading.Lock()

    @property
    def model(self) -> AnyModel:
        """The language model, loaded at first use; it reads positions as the settings say."""
        with self._loading:
            if self._model is None:
                model = self._load()
                if isinstance(model, CausalModel):
                    self._positions = choose_policy(self.settings.ms_poe, model)
                    self._changes.enter_context(apply_policy(self._positions, model))
                self._model = model
            return self._model

    @contextmanager
    def variant(
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
            if self._positions is not None:
                self._changes.enter_context(apply_policy(self._positions, model))

    def close(self) -> None:
        """Undo what was done to the model; the next answer does it again."""
        with self._loading:
            self._changes.close()
            if (model := self._model) is not None:
                self._load, self._model = (lambda: model), None

    @property
    def positions(self) -> MsPoEPolicy | None:
        """What is done to the model's positions; None before it is loaded, or far away."""
        return self._positions

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

        Args:
            request: The question, and how to answer it.
            retrieval: What was retrieved for its query.
            stop: Set by another thread to end a generated answer early; closing the iterator does
                too.

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
            yield from self._generate(draft, evidence, features, retrieval.picture, stop)
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

        Args:
            request: The question.
            retrieval: What was retrieved for its query.
            without: Which sentences are left out, as if no document had them.
        """
        draft = Draft(request, AnswerMode("quote", "as asked"), retrieval.seconds)
        evidence = self._evidence(draft, retrieval)
        sentences = evidence_sentences(evidence.best(self.settings.passages), request.aliases)
        kept = [each for each in sentences if without is None or not without(each)]
        return answer_probability(self._features(draft, kept))

    def _evidence(self, draft: Draft, retrieval: Retrieval) -> Evidence:
        """The passages found, in the reranker's order if there is one."""
        speaker = draft.request.where.speaker
        evidence = gather_evidence(retrieval.hits, retrieval.document, speaker=speaker)
        if self._reranker is not None:
            evidence = reranked(evidence, draft.request.query, self._reranker.scores)
            draft.made["reranker"] = self._reranker.described
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

            def begin(work: Callable[[str, Sequence[Sentence]], R]) -> Callable[[], R]:
                if self._quick_start:
                    return pool.submit(work, query, sentences).result
                return partial(work, query, sentences)

            contextual, reading = begin(self._context.score), begin(self._reader.read)
            features = SentenceFeatures.of(
                query, sentences, self._words, question=draft.request.asked
            )
            draft.lap("evidence")
            try:
                features = replace(features, contextual=contextual(), reading=reading())
                draft.made["sentences"] = "read with the question, and in context"
                if isinstance(self._reader, SpanReader):
                    draft.made["reader"] = self._reader.described
            except MissingDependency as missing:
                draft.made["sentences"] = f"compared one by one ({missing})"
        draft.lap("read")
        return features

    def _abstain(self, draft: Draft, evidence: Evidence) -> Iterator[Event]:
        yield draft.context(ledger(evidence.whole, [], count_words))
        yield draft.text(NOT_SAID)

    def _quote(
        self,
        draft: Draft,
        evidence: Evidence,
        features: SentenceFeatures,
    ) -> Iterator[Event]:
        passages = evidence.best(self.settings.passages)
        draft.made["Ms-PoE"] = "off (no language model is asked)"
        if self._unit(draft.request) == "documents":
            draft.made["shown"] = "passages, as quotes are selected from them; --mode free reads "
            draft.made["shown"] += "whole documents"
        yield draft.context(ledger(evidence.whole, passages, count_words))
        quotes = select_quotes(features, length=self._length(draft.request))
        if draft.request.form == "words":
            yield from self._write_words(draft, features, quotes)
        else:
            yield from self._write_quotes(draft, quotes)
            draft.short = short_answer(features, draft.citations)
        if not draft.citations:
            yield draft.text(NOT_SAID)
        draft.lap("write")

    def _write_quotes(self, draft: Draft, quotes: Iterable[Sentence]) -> Iterator[Event]:
        """A quote a line, with its marker."""
        if draft.request.form == "list":
            draft.made["form"] = QUOTE_A_LINE
        for marker, sentence in enumerate(quotes, start=1):
            text = format_quote(sentence, marker)
            yield draft.text(text if marker == 1 else "\n" + text)
            draft.citations.append(build_citation(sentence, marker, text))

    def _write_words(
        self, draft: Draft, features: SentenceFeatures, quotes: Sequence[Sentence]
    ) -> Iterator[Event]:
        """The words that answer, cited by their quote; all quotes where no words stand out."""
        citations = [
            build_citation(one, marker, format_quote(one, marker))
            for marker, one in enumerate(quotes, start=1)
        ]
        short = short_answer(features, citations)
        if short is None:
            draft.made["form"] = NO_WORDS
            yield from self._write_quotes(draft, quotes)
            return
        draft.made["form"] = WORDS_ONLY
        draft.citations = [replace(citations[short.marker - 1], marker=1)]
        draft.short = replace(short, marker=1)
        yield draft.text(f"{' '.join(short.text.split())} [1]")

    def _only_quotes(self, evidence: Evidence, features: SentenceFeatures) -> Evidence:
        """Evidence that consists of the quotes which would answer by themselves."""
        quotes = select_quotes(features, length=self.settings.length)
        spans = (Span(each.document, each.start, each.end, each.score) for each in quotes)
        return Evidence(tuple(spans), evidence.whole)

    def _generate(
        self,
        draft: Draft,
        evidence: Evidence,
        features: SentenceFeatures,
        picture: PictureLookup,
        stop: threading.Event | None,
    ) -> Iterator[Event]:
        unit = self._unit(draft.request)
        decoding = self.settings.decoding_of(unit)
        model = self.model
        if isinstance(model, RemoteModel) and not model.learn_window(stop):
            yield draft.context(ledger(evidence.whole, [], count_words))
            return
        if decoding == "quotes":
            evidence = self._only_quotes(evidence, features)
        elif decoding == "concat":
            tokens = self.settings.budget_tokens or passage_tokens(model)
            evidence = best_stretches(evidence, features, tokens=tokens)
        else:
            evidence = Evidence(evidence.best(), evidence.whole)
        if speaker := draft.request.where.speaker:
            who = speaker.replace("|", " or ")
            draft.made["shown"] = f"of the passages, what {who} says"
        self._note_model(draft, model)
        draft.made["temperature"] = str(self.settings.sampling)
        draft.made["decoding"] = draft.decoding = decoding
        if draft.request.form != "usual":
            draft.made["form"] = SENTENCES_ONLY if decoding == "quotes" else AS_ASKED
        if decoding in {"concat", "quotes"}:
            draft.made["evidence"] = self.settings.arrangement
        draft.lap("load")
        run = self._decode(draft, decoding, evidence, picture, stop)
        sees = self.settings.sees
        if figures := describe_figures(run.spans, run.figures, run.refused, sees=sees):
            draft.made["figures"] = figures
        citer = Citer(
            run.spans,
            self._embed,
            question=draft.request.query,
            verifier=self._verifier,
            reader=self._reader,
            scale=self._scale,
            figures=run.figures,
        )
        yield draft.context(run.context)
        with closing(run.pieces) as pieces:
            for text in insert_markers(pieces, citer):
                yield draft.text(text)
        if isinstance(self._verifier, NamedVerifier):
            draft.made["verifier"] = self._verifier.described
        run.remember(Turn(draft.request.question, draft.written))
        if isinstance(model, CausalModel):
            draft.made["single tokens"] = model.decode_step.engine()
        draft.responsibility = run.responsibility()
        draft.citations = [_with_share(each, draft.responsibility) for each in citer.citations]
        draft.sentences = tuple(citer.sentences)
        draft.lap("write")

    def _decode(
        self,
        draft: Draft,
        decoding: str,
        evidence: Evidence,
        picture: PictureLookup,
        stop: threading.Event | None,
    ) -> DecodingRun:
        """Begin to answer, with whole documents or passages, and say which."""
        settings, model, request = self.settings, self.model, draft.request
        unit = self._unit(request)
        if decoding != "concat":
            if unit == "documents":
                raise InvalidRequest(f"{decoding} reads no whole documents; use --decoding concat")
            unit = "passages"
        if (length := LENGTHS[request.length]) is not None:
            settings = replace(settings, max_new_tokens=length.tokens)
        budget = choose_budget(
            unit, model, answer=settings.max_new_tokens, most=settings.budget_tokens
        )
        sure = draft.probability is not None and draft.probability >= SURE
        seen = picture if settings.sees else None
        limits = replace(settings.limits(budget), refusal=not sure, picture=seen)
        if isinstance(model, RemoteModel):
            run = ask_server(model, request, evidence, limits, stop)
        elif isinstance(model, LlamaCppModel):
            run = concat(model, request, evidence, limits, stop)
        else:
            run = DECODINGS[decoding](model, request, evidence, limits, stop)
        if decoding == "concat":
            draft.made["budget"] = str(budget)
        if budget.documents:
            draft.made["shown"] = describe_parts(run.context)
        return run

    def _note_model(self, draft: Draft, model: AnyModel) -> None:
        draft.model = draft.made["model"] = model.name
        draft.made["engine"] = describe_engine(model, self.settings)
        draft.made["Ms-PoE"] = str(self._positions)
        if isinstance(model, RemoteModel):
            draft.made["Ms-PoE"] = "off (behind a server; it needs the inside of a model)"
        elif isinstance(model, LlamaCppModel):
            draft.made["Ms-PoE"] = "off (in llama.cpp; --ms-poe on runs the file in transformers)"


def _reader(name: str, quick_start: bool, notify: Notify | None) -> Reader | SpanReader:
    """What reads evidence; loaded at the first question."""
    if name == PACKAGED_PART:
        return Reader(quick_start=quick_start, notify=notify)
    return SpanReader(name, notify=notify)


def _verifier(name: str, notify: Notify | None) -> AnyVerifier | None:
    """What says whether evidence supports a sentence; loaded at the first one."""
    return shipped_verifier() if name == PACKAGED_PART else NamedVerifier(name, notify=notify)


def _with_share(citation: Citation, responsibility: Responsibility | None) -> Citation:
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
