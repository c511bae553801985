"""Late interaction at sentence and passage granularity.

Each sentence of a query looks for its best passage in a document, and the document gets the sum:
ColBERT's MaxSim (Khattab and Zaharia, SIGIR 2020) with sentences for query tokens and passages for
document tokens. A long query about several things is then answered by the document that holds
passages on all of them, not by the one with a single passage that resembles the whole.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


def sum_of_best(scores: FloatArray, starts: npt.NDArray[np.int64]) -> FloatArray:
    """MaxSim: for each document (documents,), the sum over sentences of the best passage.

    Scores are (sentences, passages), those of one document side by side from its start on; -inf for
    passages that do not count, and for a document that has no others.
    """
    best = np.maximum.reduceat(scores, starts, axis=1)
    return np.asarray(best.sum(axis=0), np.float32)


def moving_average(
    scores: FloatArray, starts: npt.NDArray[np.int64], owner: npt.NDArray[np.int64], *, reach: int
) -> FloatArray:
    """Each passage's mean score (q, passages) with so many neighbours on either side.

    Talk on one subject goes on over several passages, some of which never name it. Those beyond the
    document count as 0.
    """
    count = scores.shape[1]
    total = np.zeros((len(scores), count + 1), np.float64)
    np.cumsum(scores, axis=1, out=total[:, 1:])
    place = np.arange(count)
    first = np.maximum(place - reach, starts[owner])
    last = np.minimum(place + reach + 1, np.append(starts[1:], count)[owner])
    return np.asarray((total[:, last] - total[:, first]) / (2 * reach + 1), np.float32)
