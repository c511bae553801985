"""How answers are made."""

from __future__ import annotations

from dataclasses import dataclass, field

from generator.answer import UNITS, EvidenceUnit, Mode
from generator.decoding.base import DecodingLimits, MarginalSettings
from generator.evidence_budget import PASSAGE_TOKENS, EvidenceBudget
from generator.extractive.conformal import check_share
from generator.extractive.quotes.quote_length import QuoteLength
from generator.lm.language_model import needs_internals
from generator.lm.ms_poe_policy import MS_POE
from generator.lm.sampling import Sampling
from generator.parts import Parts, reads_larger
from generator.prompt.arrangement import ARRANGEMENTS
from generator.prompt.worked_question import WorkedQuestion
from indexing.errors import InvalidRequest
from indexing.models.files import DEFAULT_GENERATOR
from indexing.models.server.server_name import is_remote

EVIDENCE_PASSAGES = 16
"""Passages of evidence, over all documents of an answer, where no larger reader reads."""

NO_REPEAT = 8
"""Tokens: a run of so many is written once in an answer, longer than names and set phrases."""

_MORE_PASSAGES = 24  # where a larger reader finds the answer in them


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """What model answers, how, and within which limits.

    Attributes:
        model: A packaged name, a folder, a `.gguf` file, a hub name, or `openai:BASE_URL#MODEL`.
        answer: "quote" for verbatim sentences only, "free" for a generated answer; None for what
            was measured to suit the model (`answer_mode.usual`).
        decoding: A key of `DECODINGS`; None for what suits the model (`usual_decoding`).
        max_new_tokens: Most tokens of a free answer.
        evidence: One of `UNITS`: whole documents, passages, or what suits the
            model. Whole documents are read by a language model, so a generated answer is given
            unless quotes are asked for.
        budget_tokens: Most tokens of a prompt; the model's window may allow fewer. None for 800 of
            passages where a CPU reads them, else 3,000, and for whole documents as many as window
            and memory hold.
        history_tokens: Most tokens that earlier turns of a conversation add to a prompt.
        length: How long a quote answer may be.
        answerable: Least probability that the documents answer, 0 to 1, below which the answer is
            that they do not say; 0 for always an answer, None for the calibrated threshold.
        withhold: Share of the answerable questions that may be withheld, such as 0.05: a threshold
            calibrated for the corpus and its models takes the place of `answerable` (`conformal`).
        sampling: How a free answer's tokens are chosen.
        marginal: How several passages make one answer, for the decodings that read them apart.
        ms_poe: One of `MS_POE`: when Ms-PoE is on.
        arrangement: The order of the evidence in one prompt, a key of `ARRANGEMENTS`.
        examples: Worked questions that a generated answer is to be like, in a prompt with all the
            evidence.
        sees: Whether the model, behind a server, is shown the figures beside the evidence.
        parts: The names of what reads, checks and orders evidence.
    """

    model: str = DEFAULT_GENERATOR
    answer: Mode | None = None
    decoding: str | None = None
    max_new_tokens: int = 200
    evidence: EvidenceUnit = "auto"
    budget_tokens: int | None = None
    history_tokens: int = 1000
    length: QuoteLength = field(default_factory=QuoteLength)
    answerable: float | None = None
    withhold: float | None = None
    sampling: Sampling = field(default_factory=lambda: Sampling(no_repeat=NO_REPEAT))
    marginal: MarginalSettings = field(default_factory=MarginalSettings)
    ms_poe: str = "calibrated"
    arrangement: str = "ends"
    examples: tuple[WorkedQuestion, ...] = ()
    sees: bool = False
    parts: Parts = field(default_factory=Parts)

    def __post_init__(self) -> None:
        if self.answer not in {"quote", "free", None}:
            raise InvalidRequest(f"no answer mode {self.answer!r}; use quote or free")
        if self.decoding is not None:
            _check_decoding(self.decoding)
        if self.evidence not in UNITS:
            raise InvalidRequest(f"no evidence {self.evidence!r}; use {', '.join(UNITS)}")
        if self.evidence == "documents" and self.decoding not in {None, "concat"}:
            raise InvalidRequest(
                f"{self.decoding} reads no whole documents; use --decoding concat, or "
                "--evidence passages"
            )
        if self.ms_poe not in MS_POE:
            raise InvalidRequest(f"no setting {self.ms_poe!r} of Ms-PoE; use {', '.join(MS_POE)}")
        if self.arrangement not in ARRANGEMENTS:
            raise InvalidRequest(
                f"no arrangement {self.arrangement!r}; use {', '.join(ARRANGEMENTS)}"
            )
        if is_remote(self.model):
            self._refuse_internals()
        elif self.sees:
            raise InvalidRequest(
                "figures are shown to models behind servers only; name one, openai:BASE_URL#MODEL, "
                "or leave out --sees"
            )
        self._check_abstention()
        if self.history_tokens < 0:
            raise InvalidRequest("history_tokens must be at least 0")
        if min(self.max_new_tokens, self.passage_tokens) < 1:
            raise InvalidRequest("max_new_tokens and budget_tokens must be at least 1")

    def _check_abstention(self) -> None:
        """Raises InvalidRequest where a threshold is none, or there are two."""
        if self.answerable is not None and not 0 <= self.answerable <= 1:
            raise InvalidRequest(
                f"{self.answerable} is no probability; abstain below a number from 0 to 1"
            )
        if self.withhold is not None:
            check_share(self.withhold)
            if self.answerable is not None:
                raise InvalidRequest("abstain below a probability, or withhold a share; not both")

    def _refuse_internals(self) -> None:
        """Raises InvalidRequest where a server's model would have to show its inside."""
        if self.ms_poe == "on":
            raise needs_internals("Ms-PoE", self.model, "--ms-poe off")
        if self.decoding not in {None, "concat"}:
            raise needs_internals(str(self.decoding), self.model, "--decoding concat")

    @property
    def passages(self) -> int:
        """Passages of evidence, over all documents of an answer, that are read for quotes."""
        return _MORE_PASSAGES if reads_larger(self.parts.reader) else EVIDENCE_PASSAGES

    @property
    def needs_inside(self) -> str:
        """What of these settings needs the inside of a model; "" for nothing."""
        if self.ms_poe == "on":
            return "Ms-PoE"
        return "" if self.usual_decoding == "concat" else self.usual_decoding

    @property
    def usual_decoding(self) -> str:
        """The decoding asked for, else what suits the model and the evidence."""
        return self.decoding_of(self.evidence)

    def decoding_of(self, evidence: EvidenceUnit) -> str:
        """The decoding asked for, else "quotes" for the packaged model, which reads no more.

        Whole documents, and other models' evidence, are read in one prompt.
        """
        short = self.model == DEFAULT_GENERATOR and evidence != "documents"
        return self.decoding or ("quotes" if short else "concat")

    @property
    def passage_tokens(self) -> int:
        """Most tokens of a prompt with passages."""
        return PASSAGE_TOKENS if self.budget_tokens is None else self.budget_tokens

    def limits(self, budget: EvidenceBudget) -> DecodingLimits:
        """How much a model reads and writes."""
        return DecodingLimits(
            budget.tokens,
            self.max_new_tokens,
            self.sampling,
            self.marginal,
            self.history_tokens,
            self.arrangement,
            budget.documents,
            examples=self.examples,
        )


def _check_decoding(name: str) -> None:
    """Raises InvalidRequest where there is no such way of decoding."""
    from generator.decoding import DECODINGS

    if name not in DECODINGS:
        raise InvalidRequest(f"no decoding {name!r}; use {', '.join(DECODINGS)}")
