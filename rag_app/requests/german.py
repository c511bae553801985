"""German requests, translated to the English patterns by which requests are recognised."""

from __future__ import annotations

import re

from indexing.text.english import ORDINALS
from rag_app.requests.target import groups_of, pattern

_FORMS_OF_NOUNS = {
    "documents": "dokument dokumente dokumenten",
    "files": "datei dateien",
    "texts": "text texte texten",
    "meetings": "besprechung besprechungen sitzung sitzungen meeting meetings treffen",
    "transcripts": "protokoll protokolle protokollen transkript transkripte transkripten",
    "recordings": "aufnahme aufnahmen",
}
_NOUNS = {form: noun for noun, forms in _FORMS_OF_NOUNS.items() for form in forms.split()}
_NOUN = rf"(?P<noun{{}}>{'|'.join(sorted(_NOUNS, key=len, reverse=True))})"
_THE = r"(?:(?:der|die|das|dem|den|des|dieser?|diese[mns]|unsere[rmns]?|mein(?:e[rmns]?)?) )?"
_IN = r"(?:in|im|aus|bei|beim|von|vom|während|zu|zum|zur|auf|an)"
_NAME = rf"{_THE}(?P<name{{}}>.+?)"
_PHRASE = r"(?P<phrase{}>.+?)"
_HAVE = r"(?:hast du|haben sie|gibt es|habe ich|haben wir|sind (?:da|vorhanden))"
_WERE = r"(?:war|waren|ist|sind)"
_SPOKE = r"(?:sprach|sprachen|spricht|sprechen|redete|redeten|redet|reden)"
_PERSONS = r"(?:personen|leute|menschen|teilnehmer(?:innen)?|sprecher(?:innen)?)"
_SHORT = r"(?:kurze |knappe )?"
_DECIDED = r"(?:beschlossen|entschieden|vereinbart|festgelegt)"
_ACTIONS = r"(?:aufgaben|nächsten schritte|to-?dos|maßnahmen)"
_DECISIONS = r"(?:beschlüsse|entscheidungen|ergebnisse)"
_CONCLUSION = r"(?:fazit|schlussfolgerung(?:en)?|schluss)"
_READS = r"(?:ist|sind|lautet|lauten) (?:das|die|der)"
_MENTIONED = r"(?:erwähnt|genannt)"
_MENTION = r"(?:erwähnen|erwähnt|nennen|nennt|enthalten|enthält)"

_TELL = (
    r"(?:(?:(?:sage?|gib|geben|melden?|benachrichtigen?|informieren?|warnen?)(?: sie| es)*"
    r"(?: mir| uns| mich| dich| sich)?(?: bitte)?,? )?(?:bescheid,? )?)?"
    r"(?:wenn|sobald|falls|jedes mal,? wenn|immer,? wenn)"
)
_COMES_UP = r"(?:erwähnt|genannt|besprochen|angesprochen)"
_SHOW = r"(?:nenne|zeige?|liste)(?: mir)?"
_AT = r"(?:in|bei|im|beim|an)"

_ALL = (
    r"(?:alle[rsmn]?(?: (?P<noun{}>besprechungen|sitzungen|meetings|protokollen?|transkripten?"
    r"|dokumenten?|dateien|texten?))?)"
)
_FORMS: dict[str, tuple[str, ...]] = {
    "hello": (
        r"(?:hallo|hi|hey|servus|moin|grüezi|grüß (?:gott|dich)|guten (?:morgen|tag|abend))"
        r"(?: zusammen)?",
        r"wie geht(?:'s| es (?:dir|ihnen))",
    ),
    "thanks": (
        r"(?:vielen |besten |herzlichen |tausend )?(?:dank|danke)(?: (?:schön|sehr|dir|ihnen))?",
        r"dankeschön|(?:auf wiedersehen|tschüss?)",
    ),
    "who are you": (
        r"(?:wer|was) (?:bist du|sind sie)",
        r"wie (?:heißt du|heißen sie)|was ist das(?: hier)? für ein programm",
        r"(?:bist du|sind sie) (?:ein(?:e)? )?(?:mensch|roboter|maschine|programm|ki|bot)",
    ),
    "what can you do": (
        r"was (?:kannst du|können sie)(?: alles| für (?:mich|uns))*(?: tun| machen)?",
        r"wie (?:kannst du|können sie) (?:mir|uns) helfen",
        r"(?:wobei|womit) (?:kannst du|können sie) (?:mir|uns) helfen|hilfe|hilf mir",
        r"was kann ich hier (?:tun|machen)",
    ),
    "summarize all {noun}": (
        rf"(?:fasse?|fassen sie)(?: mir| uns)? {_ALL}(?: kurz)? zusammen",
        rf"(?:(?:gib|geben sie|schreibe?|mache?|erstelle?)(?: mir| uns)? )?(?:eine[n]? |die )?"
        rf"{_SHORT}(?:zusammenfassung|übersicht|überblick) (?:von|über|zu)?\s*{_ALL}",
        rf"{_ALL}(?: kurz)? zusammenfassen",
    ),
    "write a letter": (
        r"(?:schreibe?|verfasse|entwirf|erstelle?)(?: mir| uns)? (?:eine?n? )?(?:\w+ )?(?:e-?mail"
        r"|brief|gedicht|aufsatz|artikel|geschichte|präsentation|rede|bericht)(?: .+)?",
        r"übersetze? .+",
    ),
    "what {noun} do you have": (rf"welche {_NOUN} {_HAVE}",),
    "how many {noun} do you have": (rf"wie ?viele {_NOUN} {_HAVE}",),
    "list all {noun}": (
        rf"{_SHOW} (?:alle |die |alle die )?{_NOUN}(?: auf| an)?",
        rf"(?:liste|übersicht) (?:aller|der) {_NOUN}",
    ),
    "what can i ask": (r"was kann ich (?:dich |sie )?fragen",),
    "who spoke the most in {name}": (
        rf"wer hat {_AT} {_NAME} am (?:meisten|längsten) (?:gesprochen|geredet)",
        rf"wer {_SPOKE} am (?:meisten|längsten) {_AT} {_NAME}",
        rf"wer {_SPOKE} {_AT} {_NAME} am (?:meisten|längsten)",
    ),
    "who was at {name}": (
        rf"wer {_WERE} (?:alles )?{_AT} {_NAME}(?: dabei| anwesend| da)?",
        rf"wer (?:alles )?{_SPOKE} (?:alles )?{_AT} {_NAME}",
        rf"wer nahm (?:alles )?{_AT} {_NAME} teil",
        rf"wer hat (?:alles )?{_AT} {_NAME} (?:teilgenommen|mitgemacht|gesprochen)",
        rf"wer (?:alles )?{_AT} {_NAME} (?:dabei war|anwesend war|war)",
    ),
    "how many people were in {name}": (
        rf"wie ?viele {_PERSONS} (?:{_WERE}|{_SPOKE}) {_AT} {_NAME}",
    ),
    "list the speakers of {name}": (
        rf"{_SHOW} (?:alle |die )?{_PERSONS} (?:in|von|aus|bei) {_NAME}(?: auf)?",
    ),
    "list the speakers": (
        rf"{_SHOW} (?:alle |die )?sprecher(?:innen)?(?: auf)?",
        r"welche sprecher(?:innen)? gibt es",
    ),
    "summarize {name}": (
        rf"(?:fasse?|fassen sie)(?: mir| uns)? {_NAME}(?: kurz)? zusammen",
        rf"{_NAME}(?: kurz)? zusammenfassen",
        rf"(?:(?:gib|geben sie|schreibe?|mache?)(?: mir| uns)? )?(?:eine[n]? |die )?{_SHORT}"
        rf"(?:zusammenfassung|übersicht|überblick) (?:von|vom|über|zu|zum|zur|der|des) {_NAME}",
    ),
    "what is {name} about": (rf"(?:worum|um was) (?:geht|ging) es {_AT} {_NAME}",),
    "what was discussed in {name}": (
        rf"(?:was|worüber) wurde {_IN} {_NAME} (?:besprochen|gesprochen|diskutiert|gesagt)",
    ),
    "what are the main topics of {name}": (
        rf"was {_WERE} die (?:themen|wichtigsten (?:punkte|themen)) (?:von|in|im|aus) {_NAME}",
    ),
    "what is the conclusion of {name}": (
        rf"(?:was|wie) {_READS} {_CONCLUSION} (?:von|vom|aus|in|der|des) {_NAME}",
    ),
    "what is the conclusion": (rf"(?:was|wie) {_READS} {_CONCLUSION}",),
    "what was decided in {name}": (
        rf"was wurde {_IN} {_NAME} {_DECIDED}",
        rf"was (?:haben|hat) (?:sie|wir|alle|das team|die gruppe) {_IN} {_NAME} {_DECIDED}",
    ),
    "what decisions were made in {name}": (
        rf"welche {_DECISIONS} (?:gab es|gibt es|wurden|fielen) {_IN} {_NAME}"
        r"(?: getroffen| gefasst)?",
    ),
    "what actions were agreed in {name}": (
        rf"welche {_ACTIONS} (?:gab es|gibt es|wurden|stehen) {_IN} {_NAME}"
        r"(?: verteilt| vereinbart)?",
    ),
    "what are the actions of {name}": (
        rf"(?:was sind die|nenne die|liste die) {_ACTIONS} (?:aus|von|in) {_NAME}",
    ),
    "what are all the action items assigned to {name}": (
        rf"(?:welche|was sind|{_SHOW})(?: alle)?(?: die)?(?: offenen)? {_ACTIONS}"
        rf" (?:hat|von|für) {_NAME}(?: übernommen| zugesagt| noch)?(?: auf)?",
        rf"was (?:muss|soll|sollte) {_NAME} (?:noch )?(?:tun|machen|erledigen)",
        rf"was hat {_NAME} (?:übernommen|zugesagt|versprochen)",
    ),
    "what are all the decisions": (
        rf"(?:{_SHOW} )?(?:alle |sämtliche ){_DECISIONS}(?: auf)?(?: (?:in|aus|von) {_ALL})?",
        rf"welche {_DECISIONS} (?:gab es|gibt es|wurden (?:gefasst|getroffen))(?: in {_ALL})?",
    ),
    "what are all the actions": (rf"(?:{_SHOW} )?(?:alle |sämtliche ){_ACTIONS}(?: auf)?",),
    "what is still open": (
        r"was ist (?:noch|weiterhin) (?:offen|ungeklärt)",
        rf"(?:welche|{_SHOW} (?:alle )?(?:die )?) ?offenen (?:punkte|aufgaben)(?: gibt es| auf)?",
    ),
    "which questions are open": (
        rf"(?:welche|{_SHOW} (?:alle )?(?:die )?) ?(?:offenen )?fragen(?: (?:sind|gibt es))?"
        r"(?: noch)?(?: offen| ungeklärt)(?: auf)?",
        r"welche offenen fragen gibt es(?: noch)?",
    ),
    "tell me when {phrase} comes up": (
        rf"{_TELL} {_PHRASE} (?:zur sprache kommt|aufkommt|{_COMES_UP} (?:wird|werden))",
        rf"{_TELL} (?:jemand|wer|man) (?:über |von )?{_PHRASE} (?:spricht|redet|erwähnt|nennt)",
    ),
    "every time {phrase}": (
        rf"(?:{_SHOW} )?(?:jedes mal|alle male|alle (?:fund)?stellen|jede stelle),?"
        rf"(?: (?:als|wo|da|an (?:denen|der)|in (?:denen|der)|zu[mr]?|über))? {_PHRASE}",
    ),
    "how often did we {phrase}": (
        rf"wie (?:oft|häufig) (?:haben wir|hat (?:das team|der vorstand))"
        rf" {_PHRASE}",
    ),
    "which {noun} mention {phrase}": (
        rf"welche[sr]? {_NOUN} {_MENTION} {_PHRASE}",
        rf"(?:in )?(?:welche[mnrs]?|wie ?vielen?) {_NOUN} (?:wird|werden|wurde) {_PHRASE} "
        rf"{_MENTIONED}",
    ),
    "how often is {phrase} mentioned": (
        rf"wie oft (?:wird|werden|wurde) {_PHRASE}(?: {_AT} {_NAME})? {_MENTIONED}",
    ),
    "where is {phrase} mentioned": (
        rf"wo (?:wird|werden|wurde) {_PHRASE}(?: {_AT} {_NAME})? {_MENTIONED}",
    ),
}
"""Forms of requests, by what they are in English."""

_PATTERNS = [(pattern(*forms), english) for english, forms in _FORMS.items()]
_OPENING = re.compile(
    r"^(?:(?:bitte|hallo|kannst du|können sie|könntest du|könnten sie|kann ich|sag(?:e|en sie)? mir"
    r"|weißt du|ich (?:möchte|will) wissen|mir|uns)[\s,:]+)+",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[\s,]*(?:\bbitte|\bdanke)?[\s?!.]*$", re.IGNORECASE)
_PHRASE_ARTICLE = re.compile(
    r"^(?:der|die|das|den|dem|ein(?:e[nmrs]?)?|das wort)\s+", re.IGNORECASE
)
_BEGINNINGS = (
    "erst",
    "zweit",
    "dritt",
    "viert",
    "fünft",
    "sechst",
    "siebt",
    "acht",
    "neunt",
    "zehnt",
)
_ORDINAL = re.compile(
    rf"\b(?P<ordinal>{'|'.join(_BEGINNINGS)})e[nmrs]? (?:besprechung|sitzung|meeting|treffen)\b",
    re.IGNORECASE,
)


def in_english(question: str) -> str:
    """The English form of a request in German; "" where it is none that is known.

    Names of documents and the words whose mentions are asked for stay as they are.
    """
    line = " ".join(question.split())
    bare = _CLOSING.sub("", _OPENING.sub("", line)) or line.strip(" ?!.,")
    for expression, english in _PATTERNS:
        if groups := groups_of(expression, bare):
            return _filled_in(english, groups)
    return ""


def _filled_in(english: str, groups: dict[str, str]) -> str:
    noun = _NOUNS.get(groups.get("noun", "").lower(), "")
    phrase = _PHRASE_ARTICLE.sub("", groups.get("phrase", ""))
    name = _ORDINAL.sub(_english_ordinal, groups.get("name", ""))
    filled = english.format(noun=noun, phrase=phrase, name=name)
    return f"{filled} in {name}" if name and "{phrase}" in english else filled


def _english_ordinal(match: re.Match[str]) -> str:
    return f"the {ORDINALS[_BEGINNINGS.index(match['ordinal'].lower())]} meeting"
