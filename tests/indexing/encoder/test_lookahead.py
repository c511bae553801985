"""Documents encoded elsewhere, ahead, come in order, each once, and never too many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from indexing.documents import Document, Passage
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.lookahead import AHEAD, Encoding, Lookahead, take_ahead
from indexing.encoder.pooling import EncodedDocument
from indexing.files import document

FINGERPRINT = Fingerprint("counted", "1", "none", 0, "mean", "float32", 1)


class Workers:
    """Workers whose vector of a text is its length; they begin at once and end when asked."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []

    def begin(self, one: Document, passages: Sequence[Passage]) -> Callable[[], Encoding]:
        self.begun.append(one.text)
        vector = np.array([len(one.text)], np.float32)

        def end() -> Encoding:
            self.ended.append(one.text)
            return Encoding(EncodedDocument(vector, vector[None], 1, 1), 3)

        return end


def texts(count: int) -> list[Document]:
    return [document("x" * (n + 1), name=f"{n}") for n in range(count)]


def test_documents_are_begun_ahead_in_order_and_each_once() -> None:
    workers, tokens = Workers(), list[int]()
    ahead = Lookahead(FINGERPRINT, workers.begin, lambda: 2)
    most, lengths = 0, list[float]()
    taken = take_ahead(
        texts(40), lambda one: ahead.expect(one, ()), has_room=lambda: ahead.has_room
    )
    for one in taken:
        most = max(most, len(workers.begun) - len(workers.ended))
        (encoded,) = ahead.encode([(one, ())], progress=tokens.append)
        lengths.append(float(encoded.vector[0]))
    assert lengths == [n + 1 for n in range(40)]
    assert workers.begun == workers.ended == [one.text for one in texts(40)]
    assert most == 2 * AHEAD and tokens == [3] * 40


def test_what_is_not_asked_for_is_let_go_and_what_was_not_expected_is_done() -> None:
    workers = Workers()
    ahead = Lookahead(FINGERPRINT, workers.begin, lambda: 1)
    first, second, third = texts(3)
    ahead.expect(first, (Passage(0, 1),))
    ahead.expect(first, (Passage(0, 1),))
    ahead.encode([(third, ()), (first, ())])  # in other passages than expected
    assert workers.begun == [first.text, third.text, first.text]
    ahead.expect(second, ())
    ahead.forget(second)
    assert workers.ended == [third.text, first.text] and ahead.has_room


def test_items_that_need_no_worker_are_not_gathered_without_end() -> None:
    ahead = take_ahead(iter(range(10_000)), lambda _: None, has_room=lambda: True)
    seen = list[int]()
    for number in ahead:
        seen.append(number)
    assert seen == list(range(10_000))
    taken = list[int]()
    endless = take_ahead(iter(range(10_000)), taken.append, has_room=lambda: True)
    assert next(endless) == 0 and len(taken) < 1000
