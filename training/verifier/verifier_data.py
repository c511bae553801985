"""Sentences beside evidence, true and false ones, from questions on passages and from QMSum.

A group is what is learnt from together: a true sentence beside its evidence, the same sentence
changed, and the same sentence beside evidence that does not say it. Articles and meetings that
the reader was judged on (`training/reader`) are left out here too.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from changes import changes, names_in
from claims import paraphrase, report, statement

from generator.attribution.excerpt_support import LENGTH, Excerpt, excerpts
from generator.evidence import Span, evidence_sentences
from indexing.text.sentences import sentences
from indexing.text.terms import Rarity, content_stems
from rag_app.batch.qmsum import Meeting, meetings

HELD_OUT = 0.06  # share of each source's passages that is kept for judging
MEETINGS = 5  # every so many meetings, one is kept for judging
KINDS = ("reference", "asked", "said", "speech", "read")
SHARES = (0.4, 0.34, 0.12, 0.14, 0.35)  # of the groups, beside each other
NOISY = 0.5  # weight of "not said" where unmarked turns may say it after all

_WORD = re.compile(r"[a-z0-9]{4,}")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence beside evidence.

    Attributes:
        text: The sentence.
        bag: Texts of excerpts; true when one of them says it.
        true: Whether it is.
        wrong: Characters that were changed; None where that is not known.
        weight: Of its loss.
        kind: Where it comes from, or what was changed.
    """

    text: str
    bag: tuple[str, ...]
    true: bool
    wrong: tuple[tuple[int, int], ...] | None
    weight: float
    kind: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with questions; `group` is never divided between training and judging."""

    group: tuple[str, str]
    text: str
    questions: tuple[tuple[str, int, int], ...]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What the reader takes for the answer in a passage.

    Attributes:
        question: What is asked.
        text: The passage.
        start: First character of the words.
        end: One past the last.
        right: Whether they answer.
    """

    question: str
    text: str
    start: int
    end: int
    right: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """A sentence of a reference answer.

    Attributes:
        text: The sentence.
        question: What it answers.
        marked: Numbers of the excerpts with marked turns, best lexical match first.
        unmarked: Of the others.
    """

    text: str
    question: str
    marked: list[int]
    unmarked: list[int]


@dataclass(frozen=True, slots=True)
class MeetingText:
    """A meeting in excerpts, with the sentences of its reference answers."""

    excerpts: list[Excerpt]
    speakers: list[str]
    names: list[str]
    references: list[Reference]


# --- passages -------------------------------------------------------------------------------------


def load_passages(path: Path) -> tuple[list[Passage], list[Passage]]:
    """Those to train on, those to judge on; titles are divided as for the reader."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    kept = held_titles(records)
    parts: tuple[list[Passage], list[Passage]] = ([], [])
    for record in records:
        asked = tuple(
            (one["question"], *one["answers"][0]) for one in record["questions"] if one["answers"]
        )
        words = frozenset(_WORD.findall(record["text"].lower()))
        group = passage_group(record)
        parts[group in kept].append(Passage(group, record["text"], asked, words))
    return parts


def load_answers(path: Path) -> list[ReadAnswer]:
    """What `read_answers.py` wrote."""
    with path.open(encoding="utf-8") as file:
        return [ReadAnswer(**json.loads(line)) for line in file]


def passage_group(record: dict[str, Any]) -> tuple[str, str]:
    """Source and title of a passage; where titles say nothing, its beginning."""
    same = record["source"] == "squadshifts-reddit"
    return record["source"], record["text"][:80] if same else record["title"]


def held_titles(records: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    """The titles to judge on, by `passage_group`."""
    sizes = Counter(passage_group(record) for record in records)
    kept: set[tuple[str, str]] = set()
    for source in sorted({source for source, _ in sizes}):
        groups = sorted(group for group in sizes if group[0] == source)
        random.Random(source).shuffle(groups)
        share = 2 * HELD_OUT if source == "squad2-half" else HELD_OUT
        wanted = share * sum(sizes[group] for group in groups)
        while wanted > 0:
            kept.add(groups[0])
            wanted -= sizes[groups.pop(0)]
    return kept


class PassageClaims:
    """Groups of claims from passages, and from what the reader takes for answers in them."""

    def __init__(self, passages: Sequence[Passage], answers: Sequence[ReadAnswer] = ()) -> None:
        self.passages = passages
        self._right: dict[str, list[ReadAnswer]] = defaultdict(list)
        for one in answers:
            if one.right:
                self._right[one.text].append(one)
        self._wrong = [one for one in answers if not one.right and self._right[one.text]]
        self._near: dict[str, list[int]] = defaultdict(list)
        for number, passage in enumerate(passages):
            self._near[self._key(passage)].append(number)
        self._names = {
            key: [name for number in numbers for name in sorted(self._names_of(number))]
            for key, numbers in self._near.items()
        }

    @property
    def has_read(self) -> bool:
        """Whether there are words that the reader chose."""
        return bool(self._wrong)

    def _key(self, passage: Passage) -> str:
        source, title = passage.group
        return source if source in {"squadshifts-reddit", "nq-open"} else f"{source} {title}"

    def _names_of(self, number: int) -> set[str]:
        text = self.passages[number].text
        return {text[a:b] for a, b in names_in(text)}

    def asked(self, rng: random.Random) -> list[Claim]:
        """A question with its answer, as a statement where a rule makes one."""
        passage = self._drawn(rng)
        question, start, end = rng.choice(passage.questions)
        answer = passage.text[start:end]
        text = statement(question, answer)
        kind = "statement" if text else "question and answer"
        text = text or f"{question} {answer}"
        crop = _crop(passage.text, start, end, rng)
        false = self._other_answer(passage, question, answer, rng) if kind != "statement" else None
        return self._group(text, crop, passage, answer, kind, rng, false)

    def read(self, rng: random.Random) -> list[Claim]:
        """A question with the words that the reader chose: right ones, then wrong ones."""
        wrong = rng.choice(self._wrong)
        return [
            self._of_reader(rng.choice(self._right[wrong.text]), rng),
            self._of_reader(wrong, rng),
        ]

    @staticmethod
    def _of_reader(one: ReadAnswer, rng: random.Random) -> Claim:
        text = f"{one.question} {one.text[one.start : one.end]}"
        crop = _crop(one.text, one.start, one.end, rng)
        return Claim(text, (crop,), one.right, () if one.right else None, 1.0, "reader's words")

    def _other_answer(
        self, passage: Passage, question: str, answer: str, rng: random.Random
    ) -> tuple[str, tuple[int, int]] | None:
        """The question with what answers another one on the same passage."""
        others = [passage.text[a:b] for _, a, b in passage.questions]
        others += [passage.text[a:b] for a, b in names_in(passage.text)]
        digit = answer[:1].isdigit()
        fitting = [
            one
            for one in others
            if one[:1].isdigit() == digit
            and one.lower() not in answer.lower()
            and answer.lower() not in one.lower()
            and not set(_WORD.findall(one.lower())) & set(_WORD.findall(answer.lower()))
        ]
        if not fitting:
            return None
        text = f"{question} {rng.choice(fitting)}"
        return text, (len(question) + 1, len(text))

    def said(self, rng: random.Random) -> list[Claim]:
        """A sentence of a passage, changed in its words only."""
        passage = self._drawn(rng)
        if "reddit" in passage.group[0] and rng.random() < 0.5:
            passage = self._drawn(rng)
        places = [
            place
            for place in sentences(passage.text, 0, len(passage.text))
            if 40 < place[1] - place[0] < 260 and passage.text[place[1] - 1] != "?"
        ]
        if not places:
            return []
        start, end = rng.choice(places)
        text = paraphrase(passage.text[start:end], rng)
        crop = _crop(passage.text, start, end, rng)
        without = passage.text[:start] + passage.text[end:]
        found = self._group(text, crop, passage, "", "sentence", rng)
        if len(without) > 150 and rng.random() < 0.6:
            at = min(start, len(without) - 1)
            found.append(Claim(text, (_crop(without, at, at, rng),), False, None, 1.0, "left out"))
        return found

    def _group(
        self,
        text: str,
        crop: str,
        passage: Passage,
        answer: str,
        kind: str,
        rng: random.Random,
        false: tuple[str, tuple[int, int]] | None = None,
    ) -> list[Claim]:
        found = [Claim(text, (crop,), True, (), 1.0, kind)]
        within = [crop[a:b] for a, b in names_in(crop)]
        names = within if within and rng.random() < 0.6 else self._names[self._key(passage)]
        made = changes(text, rng, others=names)
        if kind == "question and answer":
            made = [one for one in made if one.kind != "negation"]
        if false and rng.random() < 0.7:
            found.append(Claim(false[0], (crop,), False, (false[1],), 1.0, "other answer"))
        elif made:
            one = made[0]
            found.append(Claim(one.text, (crop,), False, one.spans, 1.0, one.kind))
        if rng.random() < 0.5:
            other = self._nearest(passage, text, answer, rng)
            if other:
                found.append(Claim(text, (other,), False, None, 1.0, "other passage"))
        return found

    def _nearest(self, passage: Passage, text: str, answer: str, rng: random.Random) -> str | None:
        """Of passages of the same kind, one that shares words but lacks the answer."""
        numbers = self._near[self._key(passage)]
        drawn = [self.passages[i] for i in rng.sample(numbers, min(60, len(numbers)))]
        words = set(_WORD.findall(text.lower()))
        drawn = [one for one in drawn if one.text != passage.text]
        if answer:
            drawn = [one for one in drawn if answer.lower() not in one.text.lower()]
        if not drawn:
            return None
        best = max(drawn, key=lambda one: len(words & one.words))
        shared = words & best.words
        at = max((best.text.lower().find(word) for word in shared), default=0)
        return _crop(best.text, at, at, rng)

    def _drawn(self, rng: random.Random) -> Passage:
        while True:
            passage = rng.choice(self.passages)
            if passage.questions:
                return passage


def _crop(text: str, start: int, end: int, rng: random.Random) -> str:
    """Whole sentences around some characters, about as long as an excerpt."""
    limit = rng.choice((250, 400, LENGTH))
    places = sentences(text, 0, len(text)) or [(0, len(text))]
    low = next((i for i, (_, b) in enumerate(places) if b > start), len(places) - 1)
    high = low
    while high + 1 < len(places) and places[high][1] < end:
        high += 1
    while True:
        sides = []
        if low > 0 and places[high][1] - places[low - 1][0] <= limit:
            sides.append(-1)
        if high + 1 < len(places) and places[high + 1][1] - places[low][0] <= limit:
            sides.append(1)
        if not sides:
            return text[places[low][0] : places[high][1]]
        if rng.choice(sides) < 0:
            low -= 1
        else:
            high += 1


# --- meetings -------------------------------------------------------------------------------------


def load_meetings(path: Path, *, held: bool) -> list[MeetingText]:
    """Those to judge on (every fifth), or those to train on."""
    return [
        _meeting(meeting)
        for number, meeting in enumerate(meetings(path))
        if (number % MEETINGS == MEETINGS - 1) == held
    ]


def _meeting(meeting: Meeting) -> MeetingText:
    document = meeting.document
    found = excerpts(evidence_sentences([Span(document, 0, len(document.text), 1.0)]))
    stems = [frozenset(content_stems(each.text)) for each in found]
    rarity = Rarity(stems)
    starts = {utterance.start: i for i, utterance in enumerate(document.utterances)}
    turns = [
        {starts[one.utterance] for one in each.sentences if one.utterance is not None}
        for each in found
    ]
    references = []
    for question in meeting.specific:
        marked = set(question.utterances)
        if not marked:
            continue
        for start, end in sentences(question.answer, 0, len(question.answer)):
            text = question.answer[start:end].strip()
            own = content_stems(text)
            if len(own) < 3:
                continue
            order = sorted(range(len(found)), key=lambda i: -rarity.share(own, stems[i]))
            within = [i for i in order if turns[i] & marked]
            references.append(
                Reference(text, question.text, within, [i for i in order if not turns[i] & marked])
            )
    speakers = sorted({each.speaker for each in document.utterances if each.speaker})
    texts = " ".join(one.text for one in references)
    names = sorted({texts[a:b] for a, b in names_in(texts, speakers)} | set(speakers))
    return MeetingText(found, speakers, names, references)


class MeetingClaims:
    """Groups of claims from meetings."""

    def __init__(self, held: Sequence[MeetingText]) -> None:
        self.meetings = [each for each in held if each.references]
        self._all = [(m, r) for m in self.meetings for r in m.references if r.marked]

    def references(self, seed: int) -> Iterator[list[Claim]]:
        """Every sentence of the references once, in random order."""
        rng = random.Random(seed)
        order = rng.sample(self._all, len(self._all))
        for meeting, reference in order:
            yield self.reference(meeting, reference, rng)

    def reference(
        self, meeting: MeetingText, reference: Reference, rng: random.Random
    ) -> list[Claim]:
        """A sentence beside its marked turns; changed; beside unmarked turns; elsewhere."""
        texts = [each.text for each in meeting.excerpts]
        best = list(reference.marked[:1])
        if rng.random() < 0.5:
            best += rng.sample(reference.marked[1:5], min(1, len(reference.marked[1:5])))
        bag = tuple(texts[i] for i in best)
        found = [Claim(reference.text, bag, True, (), 1.0, "reference")]
        made = changes(reference.text, rng, known=meeting.speakers, others=meeting.names)
        for one in made[:1]:
            found.append(Claim(one.text, bag[:1], False, one.spans, 1.0, one.kind))
        if reference.unmarked and rng.random() < 0.4:
            at = reference.unmarked[min(int(rng.expovariate(0.5)), len(reference.unmarked) - 1)]
            found.append(Claim(reference.text, (texts[at],), False, None, NOISY, "unmarked"))
        if rng.random() < 0.15:
            other, false = rng.choice(self._all)
            if other is not meeting:
                wrong = other.excerpts[rng.choice(false.marked[:3])].text
                found.append(Claim(reference.text, (wrong,), False, None, 1.0, "other meeting"))
        return found

    def said(self, rng: random.Random) -> list[Claim]:
        """What somebody says, as reported speech; said by another; changed; elsewhere."""
        meeting = rng.choice(self.meetings)
        at = rng.randrange(len(meeting.excerpts))
        excerpt = meeting.excerpts[at]
        spoken = [
            one
            for one in excerpt.sentences
            if one.speaker and 45 < len(one.text) < 240 and not one.text.rstrip().endswith("?")
        ]
        if not spoken:
            return []
        one = rng.choice(spoken)
        speaker = one.speaker or ""
        text = report(speaker, paraphrase(one.text, rng), rng)
        found = [Claim(text, (excerpt.text,), True, (), 1.0, "speech")]
        others = sorted({each.speaker for each in excerpt.sentences if each.speaker} - {speaker})
        others = others or [each for each in meeting.speakers if each != speaker]
        made = changes(text, rng, known=meeting.speakers, others=meeting.names)
        if others and rng.random() < 0.6:
            new = rng.choice(others)
            false = text.replace(speaker, new, 1)
            start = false.find(new)
            span = ((start, start + len(new)),)
            found.append(Claim(false, (excerpt.text,), False, span, 1.0, "speaker"))
        elif made:
            one_change = made[0]
            found.append(
                Claim(
                    one_change.text, (excerpt.text,), False, one_change.spans, 1.0, one_change.kind
                )
            )
        if rng.random() < 0.3:
            near = meeting.excerpts[(at + rng.choice((-2, -1, 1, 2))) % len(meeting.excerpts)]
            if one not in near.sentences:
                found.append(Claim(text, (near.text,), False, None, 1.0, "beside"))
        return found


def groups(
    passages: PassageClaims, held: MeetingClaims, seed: int
) -> Iterator[tuple[str, list[Claim]]]:
    """Groups without end: references, questions, sentences, speech."""
    rng = random.Random(seed)
    shares = [
        share if kind != "read" or passages.has_read else 0.0
        for kind, share in zip(KINDS, SHARES, strict=True)
    ]
    turn = 0
    source = held.references(seed)
    while True:
        kind = rng.choices(KINDS, shares)[0]
        if kind == "reference":
            group = next(source, None)
            if group is None:
                turn += 1
                source = held.references(seed + turn)
                continue
        elif kind == "asked":
            group = passages.asked(rng)
        elif kind == "read":
            group = passages.read(rng)
        elif kind == "said":
            group = passages.said(rng)
        else:
            group = held.said(rng)
        if group:
            yield kind, group
