"""Questions whose evidence can be put anywhere among other text: does its place decide the answer?

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
from rag_app.datasets.facts import Fact, facts, names
from rag_app.datasets.haystack import Haystack, haystack, plant

PASSAGE_WORDS = 80
SENTENCE_WORDS = 20
PARTS = 6
_MOST_BYTES = 1 << 30

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, its evidence, and what stands around that.

    Attributes:
        kind: A key of `KINDS`.
        question: As it is asked.
        lead: How the answer begins, up to the part that is to be known.
        answer: That part.
        gold: The text that holds it.
        around: The other texts, in order.
        joined: Whether all texts are lines of one document, or each is a document.
    """

    kind: str
    question: str
    lead: str
    answer: str
    gold: str
    around: tuple[str, ...]
    joined: bool

    def texts(self, place: float) -> list[str]:
        """The texts with the gold one at a place, 0 before all others, 1 after them."""
        at = round(place * len(self.around))
        return [*self.around[:at], self.gold, *self.around[at:]]

    def prompt(self, chat: Chat, place: float) -> Prompt:
        """What the model reads: the question stands before and after the evidence, as always."""
        texts = self.texts(place)
        shown = ["\n".join(texts)] if self.joined else texts
        return build_in_order(self.question, self._spans(shown), chat=chat)

    def evidence(self, place: float) -> Evidence:
        """The texts for a decoding that reads passages apart; none is thought better than another.

        Lines of one document are dealt into `PARTS` stretches of about equally many.
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
    """What probes are made of.

    Attributes:
        hay: Text to hide things in.
        size: Tokens of a text.
        length: About how many tokens of evidence each probe has.
        seed: Equal seeds give equal probes; other seeds give other names, facts and text.
    """

    hay: Haystack
    size: Count
    length: int
    seed: int = 0


def make(kind: str, count: int, material: Material) -> list[Probe]:
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


def _passkeys(count: int, material: Material, rng: random.Random) -> Iterator[Probe]:
    for name in names(count, rng):
        key = _number(rng)
        around = _filled(lambda: _stretch(material.hay, SENTENCE_WORDS, rng), material)
        gold = f"The pass key of {name} is {key}. Remember it: {key} is the pass key."
        lead = f"The pass key of {name} is"
        yield Probe("passkey", f"What is the pass key of {name}?", lead, key, gold, around, True)


def _pairs(count: int, material: Material, rng: random.Random) -> Iterator[Probe]:
    for _ in range(count):
        key, *others = names(1600, rng)
        rest, value = iter(others), _number(rng)
        around = _filled(lambda: f"{next(rest)}: {_number(rng)}", material)  # noqa: B023
        question = f"Which number stands beside the name {key}?"
        yield Probe("kv", question, f"{key}:", value, f"{key}: {value}", around, True)


def _documents(count: int, material: Material, rng: random.Random) -> Iterator[Probe]:
    """Passages that each hide a fact; the others are of the same kinds, about somebody else."""
    for fact in rng.sample(facts(), count):
        others = [one for one in facts() if one != fact]
        rng.shuffle(others)
        rest = iter(others)
        around = _filled(lambda: _hiding(next(rest), material.hay, rng), material)  # noqa: B023
        lead = fact.sentence[: fact.sentence.rindex(fact.answer)].rstrip()
        gold = _hiding(fact, material.hay, rng)
        yield Probe("qa", fact.question, lead, fact.answer, gold, around, False)


KINDS = {"passkey": _passkeys, "kv": _pairs, "qa": _documents}
"""How probes of each kind are made."""


def read_pairs(path: Path, count: int) -> list[Probe]:
    """Probes from the published key-value files, the pair asked for taken out of its place.

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
    made: list[Probe] = []
    for number, line in enumerate((line for line in lines if line.strip()), start=1):
        if len(made) == count:
            break
        made.append(_published(line, path, number))
    if not made:
        raise UnreadableFile(path, "holds no key-value records", "name a JSON lines file of them")
    return made


def _published(line: str, path: Path, number: int) -> Probe:
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
    around = tuple(f'"{k}": "{v}"' for k, v in pairs if k != key)
    question = f'What is the value of the key "{key}"?'
    return Probe("kv", question, f'"{key}": "', value, f'"{key}": "{value}"', around, True)


def text_of(corpus: Path | None) -> Haystack:
    """The text of a corpus, or of the sample documents that come with the source.

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


def _filled(make_one: Callable[[], str], material: Material) -> tuple[str, ...]:
    """As many texts as the length holds, at least one; fewer where there are no more."""
    texts = [make_one()]
    used = material.size(texts[0])
    while used <= material.length:
        try:
            texts.append(make_one())
        except StopIteration:
            return tuple(texts)
        used += material.size(texts[-1])
    return tuple(texts[:-1] or texts)


def _stretch(hay: Haystack, words: int, rng: random.Random) -> str:
    """Some words of the haystack in a row, on one line."""
    return " ".join(hay.cut(rng.randrange(len(hay.spans)), words).split())


def _hiding(fact: Fact, hay: Haystack, rng: random.Random) -> str:
    """A passage with a fact in it."""
    text = plant(_stretch(hay, PASSAGE_WORDS, rng), fact.sentence, rng.random())
    return " ".join(text.split())


def _number(rng: random.Random) -> str:
    return str(rng.randint(10_000, 99_999))
