"""Documents that a question names by a name in their titles: "the Apache license" of Apache-2.0.

A name that most titles have tells none of them apart. Words that are no names are what documents
are about: the budget that holds now need not stand in the one that is called so.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from generator.evidence import Vectors
from generator.extractive.features import SentenceFeatures
from indexing.text.terms import stem, words

_JOINED = re.compile(r"[-_]+")
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'-]+")  # but for the first word


def titles_named(features: SentenceFeatures) -> Vectors:
    """(n,) how many names in each sentence's title the question has; of rare ones alone.

    Those count that at most half of the titles in the evidence have.
    """
    documents = {one.document.id: one.document for one in features.sentences}
    titles = {
        id_: {stem(word, features.language) for word in words(_JOINED.sub(" ", document.title))}
        for id_, document in documents.items()
    }
    shared = Counter(word for title in titles.values() for word in title)
    names = words(" ".join(_NAME.findall(features.question)))
    asked = {stem(name, features.language) for name in names}
    telling = {name for name in asked if 2 * shared[name] <= len(titles)}
    named = {id_: len(telling & title) for id_, title in titles.items()}
    return np.array([named[one.document.id] for one in features.sentences], np.float32)
