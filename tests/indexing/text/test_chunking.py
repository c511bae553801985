"""Passages cover every word once, in order, in bounds, and begin where a reader would begin."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexing.documents import Document, Page, Utterance
from indexing.errors import InvalidRequest
from indexing.files import document
from indexing.text.chunking import LONG, count_words, split


def made(
    text: str,
    utterances: tuple[Utterance, ...] = (),
    breaks: tuple[int, ...] = (),
    pages: tuple[Page, ...] = (),
) -> Document:
    return Document("0" * 12, "p", "", "t", "text", "d", text, utterances, pages, breaks)


def meeting(spoken: Sequence[tuple[str, str, float | None]]) -> Document:
    lines, utterances, at = [], [], 0
    for speaker, words, start in spoken:
        line = f"{speaker}: {words}"
        said = at + len(speaker) + 2
        utterances.append(Utterance(at, at + len(line), said, speaker or None, start))
        lines.append(line)
        at += len(line) + 1
    return made("\n".join(lines), tuple(utterances))


def sentence(words: int) -> str:
    """A sentence of so many words."""
    return " ".join(["Words", *["more"] * (words - 2), "follow."][-words:])


def sizes(of: Document) -> list[int]:
    return [len(of.text[each.start : each.end].split()) for each in split(of)]


def check(of: Document, words: int = 150, longest: int = 200) -> None:
    """Every word once, in order, none cut, none over the longest."""
    at = 0
    for passage in split(of, words=words, longest=longest):
        assert of.text[at : passage.start].strip() == ""
        assert at <= passage.start < passage.end <= len(of.text)
        inside = of.text[passage.start : passage.end]
        assert inside == inside.strip()
        assert count_words(inside) <= longest
        at = passage.end
    assert of.text[at:].strip() == ""


spoken_words = st.lists(
    st.sampled_from(
        ["ok", "yes.", "so", "we", "cut?", "it,", "\n", "-", "Mr.", "No.", "…", "café"]
    ),
    max_size=400,
).map(" ".join)
meetings = st.lists(
    st.tuples(st.sampled_from(["Al", "Bo", "PhD C", ""]), spoken_words, st.none() | st.just(5.0)),
    max_size=12,
).map(meeting)


@settings(max_examples=80, deadline=None)
@given(meetings)
def test_every_word_of_a_meeting_once(of: Document) -> None:
    check(of)
    found = [of.text[each.start : each.end].split() for each in split(of)]
    assert [word for words in found for word in words] == of.text.split()


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400), st.integers(1, 20), st.integers(0, 10))
def test_any_text_and_any_size(text: str, words: int, more: int) -> None:
    check(made(text), words, words + more)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 45), min_size=12, max_size=80))
def test_sizes_stay_in_bounds_where_sentences_allow(lengths: list[int]) -> None:
    of = made(" ".join(sentence(count) for count in lengths))
    possible = {0}  # numbers of words after which a passage may end when all keep to the bounds
    for end in accumulate(lengths):
        if any(100 <= end - start <= 200 for start in possible):
            possible.add(end)
    if sum(lengths) in possible:
        assert all(100 <= size <= 200 for size in sizes(of))


def test_short_turns_are_put_together_whole() -> None:
    of = meeting([("Al", sentence(18), None)] * 60)
    starts = {utterance.start for utterance in of.utterances}
    assert all(passage.start in starts for passage in split(of))
    assert all(100 <= size <= 200 for size in sizes(of))


def test_a_long_turn_is_cut_at_sentences() -> None:
    of = meeting([("Al", " ".join([sentence(30)] * 20), None)])
    passages = split(of)
    assert len(passages) == 4
    assert all(of.text[each.end - 1] == "." for each in passages)
    assert all(of.text[each.start] == "W" for each in passages[1:])
    assert all(each.speakers == ("Al",) for each in passages)


def test_a_run_on_sentence_is_cut_between_words() -> None:
    of = made("word " * 1000)
    assert all(100 <= size <= 200 for size in sizes(of))
    check(of)


def test_a_last_short_piece_is_balanced() -> None:
    assert sorted(sizes(made(" ".join([sentence(10)] * 21)))) == [100, 110]
    assert sorted(sizes(made(" ".join([sentence(10)] * 35)))) in (
        [170, 180],
        [150, 200],
        [160, 190],
    )
    assert sizes(made(sentence(7))) == [7]
    assert sizes(made("  \n ")) == []


def test_a_word_without_end_is_cut() -> None:
    of = made("before " + "x" * 50_000 + " after")
    assert count_words(of.text) == 502
    assert "".join(of.text[each.start : each.end] for each in split(of)) == of.text


def test_headings_and_paragraphs_begin_passages() -> None:
    sections = [f"# Part {n}\n\n{sentence(60)}\n\n{sentence(60)}" for n in range(5)]
    text = "\n\n".join(sections)
    starts = tuple(text.index(f"# Part {n}") for n in range(5))
    assert tuple(each.start for each in split(made(text, breaks=starts))) == starts
    text = "\n\n".join(" ".join([sentence(20)] * 6) for _ in range(6))
    paragraphs = [0] + [at + 2 for at in range(len(text)) if text.startswith("\n\n", at)]
    assert [each.start for each in split(made(text))] == paragraphs


def test_a_heading_is_never_the_end_of_a_passage() -> None:
    parts = [f"# Part {n}\n\n## Section {n}\n\n{sentence(40 + 37 * n % 90)}" for n in range(30)]
    text = "\n\n".join(parts)
    starts = tuple(at for at in range(len(text)) if text.startswith(("# ", "## "), at))
    starts = tuple(at for at in starts if at == 0 or text[at - 1] == "\n")
    assert len(starts) == 60
    for passage in split(made(text, breaks=starts)):
        assert text[passage.end - 1] == "."
        assert "#" not in text[passage.start : passage.end].rpartition("\n")[2]


def test_a_document_of_many_sentences_is_in_bounds() -> None:
    of = meeting([("Al", "So it is. " * (1 + n % 7), None) for n in range(9_000)])
    assert all(100 <= size <= 200 for size in sizes(of))
    check(of)


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    text = "か\u3099" * 2000  # a kana and its combining mark
    passages = split(made(text))
    assert len(passages) >= 5
    assert "".join(text[each.start : each.end] for each in passages) == text
    assert all(text[each.start] == "か" for each in passages)
    text = "日本語の文章です。" * 200
    assert all(text[each.end - 1] == "。" for each in split(made(text)))


def test_speakers_time_and_page() -> None:
    of = meeting(
        [
            ("Al", "well", None),
            ("Bo", sentence(60), 7.5),
            ("Al", sentence(50), 9.0),
            ("Cy", "", 9.5),
        ]
    )
    (passage,) = split(of)
    assert passage.speakers == ("Bo", "Al")
    assert passage.time == 7.5
    assert passage.page is None
    first, second = sentence(120), sentence(130)
    text = f"{first}\n{second}"
    pages = (
        Page(0, len(first), 1),
        Page(len(first), len(first), 2),
        Page(len(first) + 1, len(text), 3),
    )
    paged = split(made(text, breaks=(0, len(first) + 1), pages=pages))
    assert [each.page for each in paged] == [1, 3]


def test_words_before_between_and_after_turns_are_kept() -> None:
    text = "A preface here.\n\nAl: Hi.\n\n# Item 2\n\nBo: Ho.\n\nThe end."
    utterances = tuple(
        Utterance(text.index(line), text.index(line) + len(line), text.index(line) + 4, line[:2])
        for line in ("Al: Hi.", "Bo: Ho.")
    )
    of = made(text, utterances)
    check(of)
    assert [(each.start, each.end) for each in split(of)] == [(0, len(text))]


@pytest.mark.parametrize(("words", "longest"), [(0, 10), (-1, 200), (20, 10)])
def test_impossible_sizes_are_refused(words: int, longest: int) -> None:
    with pytest.raises(InvalidRequest, match="impossible"):
        split(made("x"), words=words, longest=longest)


def test_brute_force_finds_nothing_cheaper() -> None:
    """The grouping against every possible grouping of a few sentences."""
    from itertools import combinations, pairwise

    from indexing.text.chunking import COST, Place, _misfits

    lengths = [5, 9, 3, 8, 2, 7, 6, 4, 9]
    of = made(" ".join(sentence(count) for count in lengths))
    misfits = _misfits(12, 16)

    def cost(cuts: tuple[int, ...]) -> float:
        bounds = [0, *cuts, len(lengths)]
        counts = [sum(lengths[a:b]) for a, b in pairwise(bounds)]
        if max(counts) > 16:
            return float("inf")
        return sum(misfits[count] for count in counts) + COST[Place.SENTENCE] * len(cuts)

    every = (c for size in range(9) for c in combinations(range(1, 9), size))
    found = [count_words(of.text[p.start : p.end]) for p in split(of, words=12, longest=16)]
    ends = [sum(found[: n + 1]) for n in range(len(found) - 1)]
    cuts = tuple(next(n for n in range(1, 9) if sum(lengths[:n]) == end) for end in ends)
    assert cost(cuts) == pytest.approx(min(cost(each) for each in every))


def test_time_grows_with_length_only() -> None:
    spoken = [("Alice", sentence(14) + " " + sentence(9), None)] * 20_000  # 2.3 million characters
    of = meeting(spoken)
    begun = time.process_time()
    passages = split(of)
    assert time.process_time() - begun < 15  # takes about one second
    assert len(passages) > 2000


def test_text_without_a_file_can_be_split() -> None:
    of = document("Alice: Hi there.\nBob: Hello.\nAlice: Bye.", name="chat")
    (passage,) = split(of)
    assert passage.speakers == ("Alice", "Bob")


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_300_000,
        "Before. " + "iVBORw0KGgo" * 100_000 + " After.",
        "A word" + " " * 500_000 + "and another" + "\n" * 100_000 + "and a third.",
        "a" + "\u0301" * 200_000,
        "\u6771" + "\u0301" * 200_000,
        "word, " * 30 + "y" * 90_000 + ", word" * 400,
    ],
    ids=["letters", "base64", "blanks", "marks", "marks on an ideograph", "mixture"],
)
def test_no_passage_is_without_a_limit_of_characters(text: str) -> None:
    of = made(text)
    passages = split(of)
    assert all(passage.end - passage.start <= 200 * LONG for passage in passages)
    covered = "".join("".join(of.text[p.start : p.end].split()) for p in passages)
    assert covered == "".join(of.text.split())
    assert all(count_words(of.text[p.start : p.end]) <= 200 for p in passages)
