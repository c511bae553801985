"""Evidence and a language model in, a generated answer out: streamed, marked and cited."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from generator.answer import Citation, Event, EvidenceUnit, Responsibility
from generator.answer_form import AS_ASKED, LENGTHS, SENTENCES_ONLY
from generator.attribution.citer import Citer
from generator.attribution.markers import insert_markers
from generator.attribution.named_verifier import NamedVerifier
from generator.attribution.verifier import AnyVerifier
from generator.decoding import DECODINGS
from generator.decoding.base import DecodingRun
from generator.decoding.concat import ask_server, concat
from generator.draft import Draft
from generator.engine import describe_engine
from generator.evidence import Embed, Evidence, Span
from generator.evidence_budget import choose_budget, passage_tokens
from generator.extractive.evidence_order import best_stretches
from generator.extractive.features import SentenceFeatures
from generator.extractive.quotes.selector import select_quotes
from generator.lm.any_model import AnyModel
from generator.lm.causal_lm import CausalModel
from generator.lm.gguf.llama_cpp import LlamaCppModel
from generator.lm.ms_poe_policy import MsPoEPolicy
from generator.lm.server.openai_server import RemoteModel
from generator.prompt.builder import Instruction
from generator.prompt.document_cut import describe_parts
from generator.prompt.follow_up import Turn
from generator.prompt.ledger import count_words, ledger
from generator.prompt.pictures import PictureLookup, describe_figures
from generator.reader.reading import AnyReader
from generator.scales.cosine_scale import CosineScale
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from indexing.models.files import DEFAULT_GENERATOR

SURE = 0.5
"""Probability that the documents answer, from which a model is not told how to say that they do
not: a small one says so of every third question that they answer."""


@dataclass(frozen=True, slots=True)
class FreeAnswer:
    """What generates an answer."""

    model: AnyModel
    positions: MsPoEPolicy | None  # None where they cannot be seen
    settings: GeneratorSettings
    embed: Embed
    scale: CosineScale
    verifier: AnyVerifier | None
    reader: AnyReader
    unit: EvidenceUnit

    def events(
        self,
        draft: Draft,
        evidence: Evidence,
        features: SentenceFeatures,
        picture: PictureLookup,
        stop: threading.Event | None,
    ) -> Iterator[Event]:
        """First the ledger, then the text in pieces; the draft takes all else.

        Raises:
            InvalidRequest: The question is too long for the model, or the decoding reads no whole
                documents.
        """
        decoding, model = self.settings.decoding_of(self.unit), self.model
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
        self._note_settings(draft, decoding)
        draft.lap("load")
        run = self._decode(draft, decoding, evidence, picture, stop)
        sees = self.settings.sees
        if figures := describe_figures(run.spans, run.figures, run.refused, sees=sees):
            draft.configuration["figures"] = figures
        citer = Citer(
            run.spans,
            self.embed,
            question=draft.request.query,
            verifier=self.verifier,
            reader=self.reader,
            scale=self.scale,
            figures=run.figures,
        )
        yield draft.context(run.context)
        with closing(run.pieces) as pieces:
            for text in insert_markers(pieces, citer):
                yield draft.text(text)
        if isinstance(self.verifier, NamedVerifier):
            draft.configuration["verifier"] = self.verifier.described
        run.remember(Turn(draft.request.question, draft.written))
        if isinstance(model, CausalModel):
            draft.configuration["single tokens"] = model.decode_step.engine()
        draft.responsibility = run.responsibility()
        draft.citations = [_with_share(each, draft.responsibility) for each in citer.citations]
        draft.sentences = tuple(citer.sentences)
        draft.lap("write")

    def _only_quotes(self, evidence: Evidence, features: SentenceFeatures) -> Evidence:
        """Evidence that consists of the quotes which would answer by themselves."""
        quotes = select_quotes(features, length=self.settings.length)
        spans = (Span(each.document, each.start, each.end, each.score) for each in quotes)
        return Evidence(tuple(spans), evidence.whole)

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
        unit = self.unit
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
        told = Instruction(refusal=not sure, direct=model.name != DEFAULT_GENERATOR)
        limits = replace(settings.limits(budget), instruction=told, picture=seen, stop=stop)
        if isinstance(model, RemoteModel):
            run = ask_server(model, request, evidence, limits)
        elif isinstance(model, LlamaCppModel):
            run = concat(model, request, evidence, limits)
        else:
            run = DECODINGS[decoding](model, request, evidence, limits)
        if decoding == "concat":
            draft.configuration["budget"] = str(budget)
        if budget.documents:
            draft.configuration["shown"] = describe_parts(run.context)
        return run

    def _note_settings(self, draft: Draft, decoding: str) -> None:
        noted, model = draft.configuration, self.model
        if speaker := draft.request.where.speaker:
            who = speaker.replace("|", " or ")
            noted["shown"] = f"of the passages, what {who} says"
        draft.model = noted["model"] = model.name
        noted["engine"] = describe_engine(model, self.settings)
        noted["Ms-PoE"] = str(self.positions)
        if isinstance(model, RemoteModel):
            noted["Ms-PoE"] = "off (behind a server; it needs the inside of a model)"
        elif isinstance(model, LlamaCppModel):
            noted["Ms-PoE"] = "off (in llama.cpp; --ms-poe on runs the file in transformers)"
        noted["temperature"] = str(self.settings.sampling)
        noted["decoding"] = draft.decoding = decoding
        if draft.request.form != "usual":
            noted["form"] = SENTENCES_ONLY if decoding == "quotes" else AS_ASKED
        if decoding in {"concat", "quotes"}:
            noted["evidence"] = self.settings.arrangement


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
