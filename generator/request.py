"""A question and its options, as they travel from the user interface to the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from generator.answer import UNITS, EvidenceUnit, Mode, ReadAs
from generator.answer_form import FORMS, LENGTHS, Form, Length
from generator.evidence import Lookup
from generator.prompt.follow_up import Turn, question_within, standalone_question
from generator.prompt.pictures import PictureLookup
from indexing.documents import Hit
from indexing.errors import InvalidRequest
from indexing.filter import Filter
from indexing.message import N_
from indexing.text.aliases import NO_ALIASES, Aliases
from indexing.text.vocabulary import without_surrogates

EVIDENCE_DOCUMENTS = 12
"""Documents that evidence is taken from, unless a request says otherwise."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question and how to answer it.

    Attributes:
        question: As asked, without surrounding white space.
        mode: "quote" for verbatim sentences only, "free" for a generated answer; None for what was
            measured to suit the model.
        k: Documents to take evidence from, at most.
        where: Limits by document, path, speaker, date and participants.
        history: The conversation so far, oldest turn first.
        abstain_below: Least probability that the documents answer, 0 to 1, below which the answer
            is that they do not say; 0 for always an answer, None for the settings' threshold.
        read_as: "auto" to answer requests such as "Who attended meeting-2?" from the store, and to
            limit a question to the documents that it names; "question" to look it up as it is.
        evidence: Whether a language model reads whole documents or passages; None for the
            settings' choice.
        length: How long the answer may be, a key of `LENGTHS`.
        form: In what form it is given, a key of `FORMS`.
        subject: The question without the documents that it names, misspelled words corrected; ""
            for itself.
        aliases: Other spellings of names, which the corpus puts in: they are read as the names.
        abstain: Whether evidence below the threshold is answered by "The documents do not say."
        query: The standalone question: its subject, the question in a long message, or completed
            from the history where it leans on it ("And who disagreed?"). This is what is searched
            for and what a model is asked.

    Raises:
        InvalidRequest: The question is empty, the mode, `read_as` or history none, k is below
            1, `abstain_below` no probability, `evidence` none of `UNITS`, `length` none of
            `LENGTHS`, or `form` none of `FORMS`.
    """

    question: str
    mode: Mode | None = None
    k: int = EVIDENCE_DOCUMENTS
    where: Filter = field(default_factory=Filter)
    history: tuple[Turn, ...] = ()
    abstain: bool = True
    abstain_below: float | None = None
    read_as: ReadAs = "auto"
    evidence: EvidenceUnit | None = None
    length: Length = "usual"
    form: Form = "usual"
    subject: str = ""
    aliases: Aliases = NO_ALIASES
    query: str = field(init=False)

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise InvalidRequest(N_("the question is empty; ask something"))
        for name, value, kinds in (
            ("mode", self.mode, (None, *get_args(Mode))),
            ("reading", self.read_as, get_args(ReadAs)),
        ):
            if value not in kinds:
                raise InvalidRequest(f"no {name} {value!r}; use {', '.join(filter(None, kinds))}")
        if not all(isinstance(each, Turn) for each in self.history):
            raise InvalidRequest("the history is none; give turns, each with question and answer")
        if self.k < 1:
            raise InvalidRequest(f"{self.k} documents cannot be found; ask for 1 or more")
        if self.abstain_below is not None and not 0 <= self.abstain_below <= 1:
            raise InvalidRequest(
                f"{self.abstain_below} is no probability; abstain below a number from 0 to 1"
            )
        if self.evidence not in {None, *UNITS}:
            raise InvalidRequest(f"no evidence {self.evidence!r}; use {', '.join(UNITS)}")
        if self.length not in LENGTHS:
            raise InvalidRequest(f"no length {self.length!r}; use {', '.join(LENGTHS)}")
        if self.form not in FORMS:
            raise InvalidRequest(f"no form {self.form!r}; use {', '.join(FORMS)}")
        object.__setattr__(self, "question", without_surrogates(self.question).strip())
        turns = (
            Turn(without_surrogates(each.question), without_surrogates(each.answer))
            for each in self.history
        )
        object.__setattr__(self, "history", tuple(turns))
        asked, words = question_within(self.subject or self.question)
        whole = f"{asked} ({' '.join(words)})" if words else asked
        object.__setattr__(self, "query", standalone_question(whole, self.history))

    @property
    def asked(self) -> str:
        """The question in what was asked, without the documents that it names."""
        return question_within(self.subject or self.question)[0]

    @property
    def instructed(self) -> str:
        """The standalone question, and in what form a language model is to answer it."""
        return f"{self.query}\n{FORMS[self.form]}".strip()


def no_picture(_document: str, _key: str) -> bytes:
    """The lookup where no figures are kept, as on the workers of a cluster: each is refused."""
    return b""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was retrieved for a request."""

    hits: Sequence[Hit]  # documents with their passages, best first
    document: Lookup  # gives a hit's document by its id
    seconds: float | None = None  # how long the search took; None where there was none
    picture: PictureLookup = no_picture  # gives the data of a figure of a hit's document
