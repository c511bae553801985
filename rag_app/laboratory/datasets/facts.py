"""Invented names and facts to hide in documents; none is from a published benchmark.

A fact is about one trade in one place, and every trade is paired with every kind of fact once, so
a question names its fact without giving away the answer.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


TRADES = _split(
    "clockmaker|beekeeper|ferryman|glassblower|lamplighter|bookbinder|saddler|cartographer|"
    "chimney-sweep|apothecary|bell-founder|gardener|stonemason|weaver|cheesemonger|locksmith|"
    "piano-tuner|signwriter|baker|cooper|falconer|milliner|organist|shepherd"
)

PLACES = _split(
    "Harrow Bridge|Copper Hill|Saltmarsh Lane|Nine Elms|Whistling Ford|Candle Row|Old Tannery|"
    "Thistle Bay|Crooked Steps|Maple Wharf|Sparrow Gate|Lantern Hollow|Quarry End|Willow Locks|"
    "Barley Cross|Gull Point|Mossy Well|Pepper Street|Owl Chapel|Tin Harbour|Foxglove Green|"
    "Ember Square|Juniper Mill|Kettle Falls"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of fact: its sentence, its question, and an answer for each trade."""

    sentence: str
    question: str
    answers: tuple[str, ...]


PATTERNS = (
    Pattern(
        "The {trade} of {place} keeps a spare key inside {answer}.",
        "Where does the {trade} of {place} keep a spare key?",
        _split(
            "a hollow pear|the blue teapot|a stuffed owl|an empty birdcage|the third drawer|"
            "a rubber boot|a loaf of rye|the cracked bell|a violin case|the pickle jar|"
            "a globe of the moon|the coal bucket|a straw hat|the dictionary|a watering can|"
            "the cuckoo clock|a jar of buttons|the piano stool|a snow globe|the butter dish|"
            "an old football|the sugar tin|a brass horn|the sewing box"
        ),
    ),
    Pattern(
        "From a retired sailor the {trade} of {place} learned {answer}.",
        "What did the {trade} of {place} learn from a retired sailor?",
        _split(
            "to juggle oranges|to whistle in Portuguese|to read the stars|to carve spoons|"
            "to play the accordion|to tie forty knots|to bake ginger bread|to box with both hands|"
            "to speak backwards|to sew sails|to dance the hornpipe|to mend nets|"
            "to walk on a rope|to throw his voice|to play chess blindfold|to tame parrots|"
            "to paint miniatures|to cook seaweed|to forecast fog|to hold his breath|"
            "to sharpen razors|to sing in thirds|to swim under ice|to write in mirror script"
        ),
    ),
    Pattern(
        "On rainy Thursdays the {trade} of {place} eats nothing but {answer}.",
        "What does the {trade} of {place} eat on rainy Thursdays?",
        _split(
            "pickled plums|cold porridge|roast chestnuts|lemon curd|smoked eel|turnip soup|"
            "burnt toast|candied violets|sour cherries|goat cheese|boiled eggs|mint jelly|"
            "onion rings|black olives|rice pudding|dried figs|fried mushrooms|celery hearts|"
            "marzipan|oyster stew|walnut bread|pumpkin pie|red cabbage|apricot jam"
        ),
    ),
    Pattern(
        "At the harvest fair the {trade} of {place} once won {answer}.",
        "What did the {trade} of {place} once win at the harvest fair?",
        _split(
            "a silver trombone|two white geese|a rowing boat|a barrel of cider|a painted wagon|"
            "the largest marrow|a velvet armchair|a box of fireworks|a bronze weathercock|"
            "a dozen umbrellas|a map of Iceland|a three-legged donkey|a marble chessboard|"
            "a sack of nutmeg|a grandfather clock|a unicycle|a wax portrait|a leather trunk|"
            "a telescope|an ivory comb|a pair of stilts|a tin whistle|a crystal bowl|"
            "a sheepskin coat"
        ),
    ),
    Pattern(
        "The dog that belongs to the {trade} of {place} answers to the name {answer}.",
        "What is the name of the dog that belongs to the {trade} of {place}?",
        _split(
            "Admiral|Biscuit|Cinder|Domino|Eclipse|Fiddle|Gravy|Hazelnut|Inkwell|Jasper|Kipper|"
            "Lantern|Marmalade|Nimbus|Orbit|Pudding|Quicksilver|Rascal|Sixpence|Turnip|Umber|"
            "Velvet|Waffle|Zeppelin"
        ),
    ),
    Pattern(
        "Before midsummer the {trade} of {place} paints every door {answer}.",
        "Which colour does the {trade} of {place} paint every door before midsummer?",
        _split(
            "turquoise|crimson|mustard yellow|pale lilac|bottle green|salmon pink|charcoal grey|"
            "burnt orange|ivory white|midnight blue|olive|scarlet|lavender|chestnut brown|"
            "canary yellow|slate|emerald|coral|plum|sky blue|copper red|jet black|cream|"
            "indigo"
        ),
    ),
)

FIRST_NAMES = _split(
    "Ada|Bruno|Clara|Dorian|Edith|Felix|Greta|Hugo|Irma|Jonas|Klara|Leopold|Mina|Nestor|Odile|"
    "Piers|Quentin|Rosa|Silas|Tilda|Ulrich|Vera|Wilbur|Xenia|Yorick|Zelda|Anselm|Beatrix|Casper|"
    "Delia|Emeric|Flora|Gideon|Hester|Ivo|Jocasta|Kasimir|Lavinia|Magnus|Nerys"
)

SURNAMES = _split(
    "Abernathy|Blackwood|Carmody|Dunmore|Ellery|Fairweather|Goldfinch|Hawthorne|Ingram|Jessop|"
    "Kestrel|Lockhart|Merriman|Nightingale|Oakshott|Pemberton|Quillfeather|Ravenscroft|Sandoval|"
    "Thackeray|Underhill|Vandermeer|Whitlock|Yarrow|Zimmer|Ashdown|Birtwhistle|Cavendish|Drummond|"
    "Eastlake|Farrow|Greenhalgh|Holloway|Ironside|Jellicoe|Kirkbride|Longbottom|Marchbanks|"
    "Northcott|Ormerod"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence to hide, the question that it answers, and the words of it that are the answer."""

    sentence: str
    question: str
    answer: str


def facts() -> list[Fact]:
    """All facts, 144, in a fixed order that alternates their kinds."""
    result = []
    for number, trade in enumerate(TRADES):
        for kind, pattern in enumerate(PATTERNS):
            place = PLACES[(number + 5 * kind) % len(PLACES)]
            answer = pattern.answers[(number + 7 * kind) % len(pattern.answers)]
            result.append(
                Fact(
                    pattern.sentence.format(trade=trade, place=place, answer=answer),
                    pattern.question.format(trade=trade, place=place),
                    answer,
                )
            )
    return result


def names(count: int, rng: random.Random) -> list[str]:
    """Distinct full names, at most 1,600; first names and surnames recur."""
    return [
        f"{first} {last}" for first, last in rng.sample(list(product(FIRST_NAMES, SURNAMES)), count)
    ]
