"""Probes: questions whose evidence can be placed anywhere among distractors.

After Liu et al., "Lost in the Middle" (arXiv 2307.03172): key-value pairs (section 3) and several
documents (section 2), and a pass key (Mohtashami & Jaggi, arXiv 2305.16300, section 4.2). Names and
facts are our own, the text around them comes from sample documents or from a person's corpus.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from generator.evidence import Evidence, Span
from generator.prompt.builder import Prompt, build_in_order
from generator.prompt.chat_template import Chat
from indexing.errors import InvalidRequest, UnreadableFile
from indexing.files import document
from rag_app.laboratory.datasets.facts import Fact, facts, names
from rag_app.laboratory.datasets.haystack import Haystack, haystack, plant

PASSAGE_WORDS = 80
SENTENCE_WORDS = 20
PARTS = 6
_MOST_BYTES = 1 << 30

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, its evidence, and distractors.

    Attributes:
        kind: A key of `KINDS`.
        question: Its text.
        lead: The beginning of the answer sentence, given to the model.
        answer: The rest, which the model must know.
        gold: The text that holds it.
        distractors: The other texts, in order.
        joined: Whether all texts are lines of one document, or each is a document.
    """

    kind: str
    question: str
    lead: str
    answer: str
    gold: str
    distractors: tuple[str, ...]
    joined: bool

    def texts(self, place: float) -> list[str]:
        """The texts with the gold one at a place: 0 before all distractors, 1 after them."""
        at = round(place * len(self.distractors))
        return [*self.distractors[:at], self.gold, *self.distractors[at:]]

    def prompt(self, chat: Chat, place: float) -> Prompt:
        """The prompt of the concat decoding."""
        texts = self.texts(place)
        documents = ["\n".join(texts)] if self.joined else texts
        return build_in_order(self.question, self._spans(documents), chat=chat)

    def evidence(self, place: float) -> Evidence:
        """The texts as passages of equal score, for decodings over single passages.

        Lines of one document are split into `PARTS` passages of about equal length.
        """
        texts = self.texts(place)
        if self.joined:
            parts = min(PARTS, len(texts))
            cuts = [len(texts) * number // parts for number in range(parts + 1)]
            texts = ["\n".join(texts[start:end]) for start, end in pairwise(cuts)]
        spans = tuple(self._spans(texts))
        return Evidence(spans, spans)

    def _spans(self, texts: Sequence[str]) -> list[Span]:
        documents = [
            document(text, name=f"{self.kind}/{number}", title=f"Document {number}")
            for number, text in enumerate(texts, start=1)
        ]
        return [Span(one, 0, len(one.text), 1.0) for one in documents]


def places(count: int) -> tuple[float, ...]:
    """Evenly spaced places from the first to the last."""
    return tuple(number / (count - 1) for number in range(count))


@dataclass(frozen=True, slots=True)
class Material:
    """The material of probes.

    Attributes:
        hay: Source of distractors.
        size: Counts the tokens of a text.
        length: About how many tokens of evidence each probe has.
        seed: Equal seeds give equal probes; other seeds, other names, facts and text.
    """

    hay: Haystack
    size: Count
    length: int
    seed: int = 0


def make_probes(kind: str, count: int, material: Material) -> list[Probe]:
    """Probes of one kind, at most 144.

    Raises:
        InvalidRequest: An unknown kind, or too many.
    """
    if kind not in KINDS:
        raise InvalidRequest(f"no probe {kind!r}; use {', '.join(KINDS)}")
    if not 1 <= count <= len(facts()):
        raise InvalidRequest(f"between 1 and {len(facts())} questions can be made, not {count}")
    seed = f"probe {kind} {material.length} {material.seed}"
    return list(KINDS[kind](count, material, random.Random(seed)))  # noqa: S311 - not a secret


def _make_passkeys(count: int, material: Material, rng: random.Random) -> Iterator[Probe]:
    for name in names(count, rng):
        key = _number(rng)
        distractors = _fill(lambda: _excerpt(material.hay, SENTENCE_WORDS, rng), material)
        gold = f"The pass key of {name} is {key}. Remember it: {key} is the pass key."
        lead = f"The pass key of {name} is"
        yield Probe(
            "passkey", f"What is the pass key of {name}?", lead, key, gold, distractors, True
        )


def _make_key_values(count: int, material: Material, rng: random.Random) -> Iterator[Probe]:
    for _ in range(count):
        key, *others = names(1600, rng)
        rest, value = iter(others), _number(rng)
        distractors = _fill(lambda: f"{next(rest)}: {_number(rng)}", material)  # noqa: B023
        question = f"Which number stands beside the name {key}?"
        yield Probe("kv", question, f"{key}:", value, f"{key}: {value}", distractors, True)


def _make_documents(count: int, material: Material, rng: random.Random) -> Iterator[Probe]:
    """Passages that each hold a fact; distractors hold other facts of the same kinds."""
    for fact in rng.sample(facts(), count):
        others = [one for one in facts() if one != fact]
        rng.shuffle(others)
        rest = iter(others)
        distractors = _fill(lambda: _hide(next(rest), material.hay, rng), material)  # noqa: B023
        lead = fact.sentence[: fact.sentence.rindex(fact.answer)].rstrip()
        gold = _hide(fact, material.hay, rng)
        yield Probe("qa", fact.question, lead, fact.answer, gold, distractors, False)


KINDS = {"passkey": _make_passkeys, "kv": _make_key_values, "qa": _make_documents}
"""A function for each kind of probe."""


def read_key_values(path: Path, count: int) -> list[Probe]:
    """Probes from the published key-value files; the pair asked for is the gold text.

    Args:
        path: JSON lines, each `{"ordered_kv_records": [[k, v], ...], "key": k, "value": v}`.
        count: Most of them.

    Raises:
        UnreadableFile: Not such a file.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableFile(path, "is larger than 1 GB", "take fewer lines")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(path, "cannot be read as text", "name a JSON lines file") from error
    probes: list[Probe] = []
    for number, line in enumerate((line for line in lines if line.strip()), start=1):
        if len(probes) == count:
            break
        probes.append(_parse_record(line, path, number))
    if not probes:
        raise UnreadableFile(path, "holds no key-value records", "name a JSON lines file of them")
    return probes


def _parse_record(line: str, path: Path, number: int) -> Probe:
    try:
        record = json.loads(line)
        key, value = record["key"], record["value"]
        pairs = [(str(k), str(v)) for k, v in record["ordered_kv_records"]]
        if not (isinstance(key, str) and isinstance(value, str) and (key, value) in pairs):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableFile(
            path,
            f"record {number} is no key-value record",
            'each needs "ordered_kv_records" with the pair of "key" and "value" among them',
        ) from error
    distractors = tuple(f'"{k}": "{v}"' for k, v in pairs if k != key)
    question = f'What is the value of the key "{key}"?'
    return Probe("kv", question, f'"{key}": "', value, f'"{key}": "{value}"', distractors, True)


def corpus_haystack(corpus: Path | None) -> Haystack:
    """The text of a corpus as a haystack; without a corpus, of the sample documents.

    Raises:
        CorpusNotFound: There is no corpus in the folder.
        InvalidRequest: It is empty, or there are no samples here.
    """
    if corpus is None:
        return haystack(None)
    from rag_app.corpus.corpus import Corpus

    with Corpus(corpus) as opened:
        texts = [opened.document(entry.id).text for entry in opened.documents()]
    if not texts:
        raise InvalidRequest(f"{corpus}: holds no document; index some, or name another corpus")
    return Haystack.of(texts)


def _fill(make_one: Callable[[], str], material: Material) -> tuple[str, ...]:
    """As many texts as fit `material.length` tokens, at least one; fewer when they run out."""
    texts = [make_one()]
    used = material.size(texts[0])
    while used <= material.length:
        try:
            texts.append(make_one())
        except StopIteration:
            return tuple(texts)
        used += material.size(texts[-1])
    return tuple(texts[:-1] or texts)


def _excerpt(hay: Haystack, words: int, rng: random.Random) -> str:
    """So many consecutive words of the haystack, on one line."""
    return " ".join(hay.cut(rng.randrange(len(hay.spans)), words).split())


def _hide(fact: Fact, hay: Haystack, rng: random.Random) -> str:
    """A passage that holds a fact."""
    text = plant(_excerpt(hay, PASSAGE_WORDS, rng), fact.sentence, rng.random())
    return " ".join(text.split())


def _number(rng: random.Random) -> str:
    return str(rng.randint(10_000, 99_999))
