"""Which language a text is in, and the words and stems of that language.

Function words tell: they are a third of any running text, and hardly any of them is one in two
languages. A text in none of these languages counts as English, whose rules do little harm. (A
library that knows more languages was tried: docs/notebook/experiments.md.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from indexing.text.english import STOP_WORDS

ENGLISH = "en"

_SAMPLE = 6_000  # characters of a text that are looked at
_LEAST = 5  # function words of another language that a text must have
_MARGIN = 1.5  # times as many of them as English ones
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    Attributes:
        code: Of ISO 639-1.
        stemmer: Snowball's name for it.
        stop_words: Words that say nothing of what a sentence is about, those of questions included.
        capitalised_nouns: Whether nouns begin with a capital, so that a capital makes no name.
        dotted_ordinals: Whether "25." is the twenty-fifth, so that a stop there ends no sentence.
    """

    code: str
    stemmer: str
    stop_words: frozenset[str]
    capitalised_nouns: bool = False
    dotted_ordinals: bool = False


def _language(code: str, stemmer: str, words: str) -> Language:
    return Language(code, stemmer, frozenset(words.split()), code == "de", code == "de")


LANGUAGES = {
    each.code: each
    for each in (
        Language(ENGLISH, "english", STOP_WORDS),
        _language(
            "de",
            "german",
            """
            aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes
            auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den denn der
            deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch
            ein eine einem einen einer eines er es etwas euch euer eure für gegen gewesen hab habe
            haben hat hatte hatten hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im
            in ist ja jede jedem jeden jeder jedes jener kann kein keine keinem keinen keiner können
            könnte machen man manche mein meine mich mir mit muss musste nach nicht nichts noch nun
            nur ob oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so
            solche soll sollte sondern sonst über um und uns unser unsere unter viel viele vom von
            vor während wann war waren warum was weg weil weiter welche welchem welchen welcher
            welches wem wen wenn wer werde werden weshalb wessen wie wieder wieso wieviel will wir
            wird wirst wo wodurch wofür woher wohin womit woran worauf woraus worin worüber wovon
            wozu wurde wurden zu zum zur zwar zwischen gibt heißt""",
        ),
        _language(
            "fr",
            "french",
            """
            ai au aux avec avait avoir c car ce cela celle celui ces cet cette comme comment combien
            d dans de des donc dont du elle elles en est et été être eu fait il ils j je l la le les
            leur leurs lequel laquelle lui m ma mais me même mes moi mon n ne nos notre nous on ont
            ou où par pas pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se
            ses si son sont sur ta te tes toi ton tu un une vos votre vous y étaient était""",
        ),
        _language(
            "es",
            "spanish",
            """
            a al algo como cómo con cual cuál cuales cuáles cuando cuándo cuanto cuánto cuanta
            cuánta cuántos cuántas de del desde donde dónde dos e el él ella ellas ellos en entre
            era es esa ese eso esta está están estas este esto estos fue fueron ha han hasta hay la
            las le les lo los más me mi mientras muy nada ni no nos o para pero por porque porqué
            que qué quien quién quienes quiénes se según ser si sí sin sobre son su sus también te
            tiene todo tu un una uno unos y ya""",
        ),
        _language(
            "it",
            "italian",
            """
            a ad agli ai al alla alle allo anche c che chi ci come con cosa cui da dagli dai dal
            dalla dalle degli dei del dell della delle dello di dove e è ed era erano essere fu gli
            ha hanno i il in io l la le lei li lo loro lui ma mi nei nel nella nelle non o per
            perché più quale quali quando quanta quante quanti quanto quella quelle quello questa
            queste questi questo se si sia sono su sua sue sugli sui sul sulla suo un una uno""",
        ),
        _language(
            "nl",
            "dutch",
            """
            aan al alles als bij dan dat de der deze die dit doch doen door dus een en er ge geen
            had heb hebben heeft hem het hier hij hoe hoeveel hun iets ik in is ja je kan kunnen
            maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook
            op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want
            waren was wat welke werd wezen wie wil worden wordt zal ze zelf zich zij zijn zo zonder
            zou""",
        ),
        _language(
            "pt",
            "portuguese",
            """
            a à ao aos as às até com como da das de dela dele deles depois do dos e é ela elas ele
            eles em entre era essa esse esta está este eu foi foram há isso isto já lhe mais mas me
            mesmo meu minha muito na nas nem no nos não o onde os ou para pela pelas pelo pelos por
            porque porquê qual quais quando quanto quanta quantos quem que são se sem ser seu seus
            só sua suas também te tem têm um uma você""",
        ),
    )
}


def language_of(text: str) -> str:
    """The code of the language that a text is in, "en" in doubt."""
    return _language_of(text[:_SAMPLE])


def language_of_question(question: str, among: Collection[str]) -> str:
    """The code of the language of a question, which is too short to be sure.

    Args:
        question: A sentence or a few words.
        among: The languages of what is asked; one of them, or English. Where the words do not
            tell, it is the first of them.
    """
    words = _WORD.findall(question.lower())
    codes = dict.fromkeys((*among, ENGLISH))
    counts = {code: sum(word in LANGUAGES[code].stop_words for word in words) for code in codes}
    return max(counts, key=lambda code: counts[code])


@lru_cache(maxsize=4096)
def _language_of(sample: str) -> str:
    words = _WORD.findall(sample.lower())
    counts = {
        code: sum(word in language.stop_words for word in words)
        for code, language in LANGUAGES.items()
    }
    best = max(counts, key=lambda code: counts[code])
    sure = counts[best] >= _LEAST and counts[best] > _MARGIN * counts[ENGLISH]
    return best if sure else ENGLISH


def stems(words: Sequence[str], language: str = ENGLISH) -> list[str]:
    """The Snowball stem of each word; words are in lower case."""
    from Stemmer import Stemmer

    stemmed: list[str] = Stemmer(LANGUAGES[language].stemmer, 0).stemWords(words)
    return stemmed
