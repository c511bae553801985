"""English: its stemmer, stop words, question words, and words of numbers, dates and documents.

The sets of stop words differ on purpose: indexes on disk and fitted weights rest on each.
"""

from __future__ import annotations

_FUNCTION_WORDS = """
    a an and are as at be but by for if in into is it no not of on or such that the their then there
    these they this to was will with"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Lucene's (standard analyser): few, as what they drop is lost to an index of BM25."""

_STOP_WORDS = """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could did do does doing down during each either few for from
    further had has have having he her here hers herself him himself his how i if in into is it
    its itself just let me more most my myself no nor not now of off on once only or other our
    ours ourselves out over own same shall she should so some such than that the their theirs
    them themselves then there these they this those through to too under until up very was we
    were what when where whether which while who whom whose why will with would you your yours
    yourself yourselves s t d ll m re ve"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that say nothing of what a sentence is about: more, as sentences are short."""

_FILLERS = """
    ah alright anyway basically cuz er erm gonna guess hey hm hmm huh kay kind know like mean
    mhm mm mmm nah nope oh ok okay really right so sort sure thing things think uh uhm um wanna
    well wow yeah yep yes yup"""
FILLERS = frozenset(_FILLERS.split())
"""Words of spoken language that say nothing at all."""

_LINKING_WORDS = """
    accordingly additionally afterwards also although altogether apart based because besides
    consequently conversely currently despite due eventually finally following furthermore
    generally given hence however importantly including indeed initially instead lastly later
    likewise meanwhile moreover nevertheless nonetheless notably originally otherwise overall
    particularly previously rather regarding regardless similarly since specifically still
    subsequently therefore though throughout thus together ultimately unfortunately unless
    unlike upon whereas whilst within without yet"""
LINKING_WORDS = frozenset(_LINKING_WORDS.split())
"""Words that begin a written sentence with a capital and are no names."""

_REQUEST_WORDS = """
    according describe discuss discussed discussion discussions explain give group meeting
    mention mentioned opinion opinions please said say summarize summary talk talked talking
    team tell think thought"""
REQUEST_WORDS = frozenset(_REQUEST_WORDS.split())
"""Words by which one asks of documents, and which say nothing of what is asked about."""

_QUESTION_WORDS = """
    what who whom whose why how when where which did do does done is are was were has have
    had can could would should you i we they he she me us them his her our your my its
    about from during also so than more some any been being"""
QUESTION_WORDS = REQUEST_WORDS | frozenset(_QUESTION_WORDS.split())
"""Words of questions. Spoken language is full of them, so a passage with several is no evidence."""

_UNITS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen"""
UNITS = tuple(_UNITS.split())
"""By value, 0 to 19."""

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
TENS = {word: 10 * i for i, word in enumerate(_TENS.split(), start=2)}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9}

_ORDINALS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"""
ORDINALS = tuple(_ORDINALS.split())
"""By value, from 1."""

_MONTHS = "January February March April May June July August September October November December"
MONTHS = tuple(_MONTHS.split())

_DOCUMENT_WORDS = """
    agreement article book chapter contract document file guide handbook interview interviews letter
    manual memo minutes notes paper postmortem report specification story summary transcript"""
DOCUMENT_WORDS = frozenset(_DOCUMENT_WORDS.split())
"""Words for kinds of documents, as names of documents end with."""

_MEETING_WORDS = """
    call conversation debate discussion hearing interview lecture meeting recording seminar session
    transcript workshop"""
MEETING_WORDS = frozenset(_MEETING_WORDS.split())
"""Words for kinds of documents in which people speak."""
