"""Attribution: a sentence of an answer -> the verbatim quote that supports it, or none.

A sentence gets one of four marks (`generator.answer.Support`): quoted, supported, figure,
unsupported.

A sentence is verified by a quote of one to three neighbouring sentences that were shown to the
model when all of these hold:

- its numbers and names are in the quote (names also in its speaker or its document's title), in
  the same order; neither denies what the other states (`entailment_rules.find_contradiction`);
- `OVERLAP` of what it says, weighted by rarity, is in the quote, `ORDER` of that in the same order;
- their embeddings are closer than `SIMILARITY`, alone or, as an answer may say little without its
  question ("By 15 December."), each after what comes before it: the question, the sentence before
  the quote. Less than `SELF_CONTAINED` content words are compared only so, and closer than
  `SIMILARITY_WITH_QUESTION`.

Overlap is what decides; similarity only catches word salad. With four content words, overlap allows
one common word to be another one, and no rare one.

A sentence without a verified quote is supported when it says the question again with the words that
the reader finds (`restatement`), or when the verifier finds that one of the excerpts nearest to it
by words says it (`excerpt_support`); the rules on numbers, names and denials keep a veto
(`entailment_rules.find_veto`).

Else, where it names a picture that the model was shown, it cites that figure, unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from generator.answer import NOT_SAID, Citation, SentenceSupport
from generator.attribution.asked import is_only_asked, read_sentences
from generator.attribution.entailment_rules import (
    ParsedSentence,
    find_contradiction,
    order_agreement,
    overlap,
    parse_sentence,
    stems_of_names,
)
from generator.attribution.excerpt_support import ExcerptSupport
from generator.attribution.restatement import Restatements
from generator.attribution.verifier import AnyVerifier
from generator.evidence import Embed, Sentence, Span, evidence_sentences
from generator.prompt.pictures import NAMED, ShownFigure, beside_figure
from generator.reader.reading import AnyReader
from generator.scales.cosine_scale import PACKAGED, CosineScale
from indexing.cached_property import cached_property
from indexing.text.sentences import sentences
from indexing.text.terms import Rarity, content_stems, stem, topic_words

OVERLAP = 0.75
ORDER = 0.85
SIMILARITY = 0.5
UNVERIFIED_OVERLAP = 0.5
"""Overlap from which an unverified quote is still worth showing."""
SELF_CONTAINED = 3
SIMILARITY_WITH_QUESTION = 0.45

_MOST_SENTENCES = 3  # in a quote
_LONGEST_LABEL = 120  # characters
_BREAK = re.compile(r"\S|\n\n")
# How a sentence says that it is from the evidence, which adds nothing to what it states.
_REFERENCE = re.compile(
    r"\s*(?:(?:According to|Based on) (?:the|this) (?:provided |given )?(?:evidence|documents?|text"
    r"|passages?|excerpts?)(?: \d+)?,\s*"
    r"|The (?:provided )?(?:evidence|documents?)(?: from the documents?)?"
    r" (?:states?|says?|shows?|suggests?|indicates?) that\s+)",
    re.IGNORECASE,
)
_MOST_EMBEDDED = 6  # quotes compared by embedding for each sentence of an answer


@dataclass(frozen=True, slots=True)
class CandidateQuote:
    """One to three neighbouring sentences of one utterance or paragraph."""

    first: Sentence
    end: int  # one past the last character
    parsed: ParsedSentence  # what they say
    about: frozenset[str]  # stems of the speaker's name and the document's title
    before: str  # the sentence before them
    context: frozenset[str]  # stems of what they say, and of that sentence
    sentences: tuple[Sentence, ...] = ()
    following: str = ""  # the sentence after them

    @property
    def text(self) -> str:
        """The span itself."""
        return self.first.document.text[self.first.start : self.end]


@dataclass(frozen=True, slots=True)
class _Match:
    """A quote for a sentence."""

    quote: CandidateQuote
    overlap: float
    question_overlap: float
    entails: bool

    @property
    def rank(self) -> tuple[bool, float, float, int]:
        """Least for the best, before embeddings are compared."""
        return (not self.entails, -self.overlap, -self.question_overlap, len(self.quote.text))


class Citer:
    """Finds the quotes for the sentences of one answer, in order, and numbers them.

    The evidence is parsed when the first sentence is complete, so that nobody waits for it before
    the first word.

    Attributes:
        citations: By marker, ascending.
        sentences: Those of the answer so far, and what each rests on.
    """

    def __init__(  # noqa: PLR0913 - one keyword option each
        self,
        spans: Sequence[Span],  # the evidence in the prompt
        embed: Embed,  # texts to normalised vectors
        *,
        question: str = "",  # without it, answers of a few words are compared alone
        verifier: AnyVerifier | None = None,  # finds what is said in other words
        reader: AnyReader | None = None,  # finds the words with which a question is said again
        scale: CosineScale = PACKAGED,  # of the embeddings' cosines
        figures: Sequence[ShownFigure] = (),  # those that the model was shown, by number
    ) -> None:
        self._figures = figures
        self._spans, self._embed, self._question = spans, embed, question
        self._verifier, self._reader, self._scale = verifier, reader, scale
        self.citations: list[Citation] = []
        self.sentences: list[SentenceSupport] = []

    @property
    def unsupported(self) -> list[str]:
        """The sentences that neither a quote nor an excerpt supports."""
        return [each.text for each in self.sentences if each.support == "unsupported"]

    def cite(self, sentence: str) -> Citation | None:
        """The best quote or excerpt for a sentence, numbered in `citations`; None for none near.

        The sentence and what it rests on are added to `sentences`.
        """
        stated = _REFERENCE.sub("", sentence) or sentence
        shown = self._named(sentence)
        if shown is not None:
            stated = NAMED.sub("", stated)
        claim = parse_sentence(stated, ordinary=self._ordinary)
        best = self._best(stated, claim)
        if best is None or not best.verified:
            best = self._find_restated(claim) or self._find_excerpt(stated, claim) or best
        if shown is not None and (best is None or best.support == "unsupported"):
            best = beside_figure(*shown)
        citation = self._number(best) if best else None
        self.sentences.append(_support(sentence, citation))
        return citation

    def _named(self, sentence: str) -> tuple[int, ShownFigure] | None:
        """The first of the pictures that a sentence names, with its number."""
        numbers = (int(name[1]) for name in NAMED.finditer(sentence))
        known = (one for one in numbers if 0 < one <= len(self._figures))
        return next(((one, self._figures[one - 1]) for one in known), None)

    def _number(self, citation: Citation) -> Citation:
        """The citation with its marker: that of the same one before, or a new one."""
        for known in self.citations:
            if _place(known) == _place(citation):
                return known
        self.citations.append(replace(citation, marker=len(self.citations) + 1))
        return self.citations[-1]

    def _find_restated(self, claim: ParsedSentence) -> Citation | None:
        """The sentence with the words that a claim answers the question with."""
        return None if self._restatements is None else self._restatements.find(claim)

    @cached_property
    def _restatements(self) -> Restatements | None:
        if self._reader is None or not self._question:
            return None
        return Restatements(
            self._question, self._sentences, self._reader, self._rarity, self._ordinary
        )

    def _find_excerpt(self, sentence: str, claim: ParsedSentence) -> Citation | None:
        """The excerpt that says a sentence in other words."""
        if self._excerpts is None:
            return None
        return self._excerpts.find(sentence, claim, question=self._question)

    @cached_property
    def _excerpts(self) -> ExcerptSupport | None:
        if self._verifier is None:
            return None
        return ExcerptSupport(self._sentences, self._verifier, self._rarity, self._ordinary)

    @cached_property
    def _sentences(self) -> list[Sentence]:
        return evidence_sentences(self._spans)

    @cached_property
    def _ordinary(self) -> frozenset[str]:
        """Words that the evidence also writes in lower case, so that they are no names."""
        texts = (sentence.text.split() for sentence in self._sentences)
        return frozenset(word for text in texts for word in text if word.islower())

    @cached_property
    def _rarity(self) -> Rarity:
        return Rarity(map(content_stems, (sentence.text for sentence in self._sentences)))

    @cached_property
    def _quotes(self) -> list[CandidateQuote]:
        return list(_candidate_quotes(self._sentences, self._ordinary))

    @cached_property
    def _topic(self) -> list[str]:
        """Stems of what the question is about."""
        return [stem(word) for word in topic_words(self._question)]

    def _best(self, sentence: str, claim: ParsedSentence) -> Citation | None:
        """The verified quote with most overlap, else the nearest unverified one."""
        matches = sorted(self._matches(claim), key=lambda each: each.rank)[:_MOST_EMBEDDED]
        if not matches:
            return None
        texts = [sentence, *(each.quote.text for each in matches)]
        first: Citation | None = None
        for variant, threshold in self._variants(claim, texts, matches):
            citation = self._nearest(matches, variant, threshold)
            if citation.verified:
                return citation
            first = first or citation
        return first

    def _variants(
        self, claim: ParsedSentence, texts: list[str], matches: Sequence[_Match]
    ) -> Iterator[tuple[list[str], float]]:
        """The texts to embed, the sentence's first, and the least similarity of a verified one."""
        short = bool(self._topic) and len(claim.stems) < SELF_CONTAINED
        if not short:
            yield texts, SIMILARITY
        if self._topic:
            befores = [self._question, *(each.quote.before for each in matches)]
            longer = [f"{before} {text}" for before, text in zip(befores, texts, strict=True)]
            yield longer, SIMILARITY_WITH_QUESTION if short else SIMILARITY

    def _nearest(self, matches: Sequence[_Match], texts: list[str], threshold: float) -> Citation:
        """The quote that is verified, has most overlap and is closest, by the texts' embeddings."""
        vectors = self._embed(texts)
        cosines = self._scale.of_sentences(vectors[1:] @ vectors[0])
        return max(
            (
                _citation(each, float(cosine), threshold=threshold)
                for each, cosine in zip(matches, cosines, strict=True)
            ),
            key=lambda citation: (citation.verified, citation.overlap, citation.similarity),
        )

    def _matches(self, claim: ParsedSentence) -> Iterator[_Match]:
        """The quotes that share enough words with a sentence."""
        for quote in self._quotes:
            share = overlap(claim, quote.parsed, about=quote.about, rarity=self._rarity)
            if share >= UNVERIFIED_OVERLAP:
                topic = self._rarity.share(self._topic, quote.context)
                entails = _entails(claim, share, quote) and not self._only_asked(claim, quote)
                yield _Match(quote, share, topic, entails=entails)

    def _only_asked(self, claim: ParsedSentence, quote: CandidateQuote) -> bool:
        """Whether the quote asks what the claim states."""
        if "?" not in quote.text:
            return False
        return is_only_asked(
            claim,
            read_sentences(quote.sentences, ordinary=self._ordinary),
            following=quote.following,
            rarity=self._rarity,
        )


def _entails(claim: ParsedSentence, share: float, quote: CandidateQuote) -> bool:
    """Every condition of a verified quote except those of embeddings."""
    return (
        share >= OVERLAP
        and order_agreement(claim, quote.parsed) >= ORDER
        and find_contradiction(claim, quote.parsed, about=quote.about) is None
    )


def attribute(  # noqa: PLR0913 - one keyword option each
    answer: str,
    spans: Sequence[Span],
    embed: Embed,
    *,
    question: str = "",
    verifier: AnyVerifier | None = None,
    scale: CosineScale = PACKAGED,
) -> Citer:
    """The citations of a finished answer, and what each of its sentences rests on."""
    citer = Citer(spans, embed, question=question, verifier=verifier, scale=scale)
    for start, end in sentences(answer, 0, len(answer)):
        if answer[start:end] != NOT_SAID:
            citer.cite(answer[start:end])
    return citer


def _place(citation: Citation) -> tuple[str, int, int, str, str]:
    """Where a citation is, and what it is worth."""
    return citation.document, citation.start, citation.end, citation.support, citation.figure


def _support(sentence: str, citation: Citation | None) -> SentenceSupport:
    """What a sentence with this citation rests on."""
    if citation is None:
        return SentenceSupport(sentence, "unsupported")
    return SentenceSupport(sentence, citation.support, citation.marker)


def _candidate_quotes(
    evidence: Sequence[Sentence], ordinary: frozenset[str]
) -> Iterator[CandidateQuote]:
    """Every run of up to three neighbouring sentences of one utterance or paragraph."""
    for i, first in enumerate(evidence):
        about = stems_of_names(first.speaker or "", first.document.title)
        before = evidence[i - 1].text if i and _gap(evidence[i - 1], first) is not None else ""
        for j, last in enumerate(evidence[i : i + _MOST_SENTENCES], start=i):
            if j > i and not _follows(evidence[j - 1], last):
                break
            text = first.document.text[first.start : last.end]
            context = frozenset(content_stems(f"{before} {text}"))
            parsed = parse_sentence(text, ordinary=ordinary)
            run = tuple(evidence[i : j + 1])
            near = j + 1 < len(evidence) and _gap(last, evidence[j + 1]) is not None
            following = evidence[j + 1].text if near else ""
            yield CandidateQuote(first, last.end, parsed, about, before, context, run, following)


def _follows(one: Sentence, other: Sentence) -> bool:
    """Whether the second follows the first in one utterance or paragraph."""
    between = _gap(one, other)
    return between is not None and one.utterance == other.utterance and not _BREAK.search(between)


def _gap(one: Sentence, other: Sentence) -> str | None:
    """What stands between two sentences, at most a speaker's label; None where more does."""
    if one.document.id != other.document.id or not 0 <= other.start - one.end <= _LONGEST_LABEL:
        return None
    return one.document.text[one.end : other.start]


def _citation(match: _Match, similarity: float, *, threshold: float) -> Citation:
    return replace(
        match.quote.first.cited(end=match.quote.end),
        verified=match.entails and similarity >= threshold,
        overlap=match.overlap,
        similarity=similarity,
    )
