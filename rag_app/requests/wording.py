"""The wording of computed answers, in the language of the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexing.text.language import ENGLISH

GERMAN = "de"


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language says it."""

    # singular and plural of what is counted, by its English singular
    nouns: Mapping[str, tuple[str, str]]
    messages: Mapping[str, str]  # by their English; of a message that is not there, the English
    thousands: str  # what stands between thousands

    def say(self, message: str, /, **values: object) -> str:
        """A message, given in English with names in braces, filled in."""
        return self.messages.get(message, message).format(**values)

    def number(self, value: int) -> str:
        """A number as it is written: 1,000."""
        return f"{value:,}".replace(",", self.thousands)

    def count(self, number: int, noun: str) -> str:
        """A number of things: 1 document, 2 documents."""
        one, many = self.nouns.get(noun, (noun, f"{noun}s"))
        return f"{self.number(number)} {one if number == 1 else many}"


_ENGLISH = Wording(
    {
        "document among": ("document", "documents"),
        "transcript among": ("transcript", "transcripts"),
    },
    {},
    ",",
)
_GERMAN = Wording(
    {
        "document": ("Dokument", "Dokumente"),
        "transcript": ("Protokoll", "Protokolle"),
        "document among": ("Dokument", "Dokumenten"),
        "transcript among": ("Protokoll", "Protokollen"),
        "word": ("Wort", "Wörter"),
        "page": ("Seite", "Seiten"),
        "time": ("Mal", "Mal"),
        "utterance": ("Wortmeldung", "Wortmeldungen"),
        "speaker": ("Sprecher", "Sprecher"),
        "meeting": ("Besprechung", "Besprechungen"),
        "matter": ("Sache", "Sachen"),
    },
    {
        "and {number} more ({remedy})": "und {number} weitere ({remedy})",
        "rag-app list shows all": "alle zeigt rag-app list",
        "rag-app overview {id} shows all": "alle zeigt rag-app overview {id}",
        "name a document to count in it alone": "nennen Sie ein Dokument, um nur darin zu zählen",
        "ask for the speakers of one document": "fragen Sie nach den Sprechern eines Dokuments",
        "“{phrase}” is not mentioned there. Only these words were looked for, in all their "
        "forms.": "„{phrase}“ wird dort nicht erwähnt. Nur diese Wörter wurden gesucht, in allen "
        "ihren Formen.",
        "“{phrase}” is not mentioned in any of {among}. Only these words were looked for, in all "
        "their forms.": "„{phrase}“ wird in keinem von {among} erwähnt. Nur diese Wörter wurden "
        "gesucht, in allen ihren Formen.",
        "“{phrase}” is mentioned {times} in {number} of {among}:": "„{phrase}“ wird {times} in "
        "{number} von {among} erwähnt:",
        "{title}, {times}, first by {speaker}:": "{title}, {times}, zuerst von {speaker}:",
        "{title}, {times}, first:": "{title}, {times}, zuerst:",
        "1 person speaks in {title}; a transcript does not show who is silent:": "1 Person spricht "
        "in {title}; wer schweigt, zeigt ein Protokoll nicht:",
        "{number} people speak in {title}; a transcript does not show who is silent:": "{number} "
        "Personen sprechen in {title}; wer schweigt, zeigt ein Protokoll nicht:",
        "{name}, {share} of the words in {utterances}": "{name}, {share} der Wörter in "
        "{utterances}",
        "{name}, {share} of the words in {utterances}, first:": "{name}, {share} der Wörter in "
        "{utterances}, zuerst:",
        "{name}, in {documents}": "{name}, in {documents}",
        "{title}, in sentences that say so in so many words:": "{title}, in Sätzen, die es "
        "ausdrücklich sagen:",
        "The number, as it is said": "Die Zahl, wie sie gesagt wird",
        "About {number} places ({low} to {high}); {found} that may say it were found, {first} to "
        "{last} shown": "Etwa {number} Stellen ({low} bis {high}); {found} gefunden, die es "
        "vielleicht sagen, {first} bis {last} gezeigt",
        "Counted, as no place was found that says it: about {number} places ({low} to {high}); "
        "{found} that may say it were found, {first} to {last} shown": "Gezählt, da keine Stelle "
        "gefunden wurde, die es sagt: etwa {number} Stellen ({low} bis {high}); {found} gefunden, "
        "die es vielleicht sagen, {first} bis {last} gezeigt",
        "rag-app every shows all": "alle zeigt rag-app every",
        "Hello.": "Guten Tag.",
        "You are welcome.": "Gern geschehen.",
        "This is rag-app, a program that answers questions about documents.": "Dies ist rag-app, "
        "ein Programm, das Fragen zu Dokumenten beantwortet.",
        "An overview covers {most} documents at most, so that it has room for quotes of each; "
        "{documents} are too many at once.": "Eine Übersicht umfasst höchstens {most} Dokumente, "
        "damit sie Platz für Zitate aus jedem hat; {documents} auf einmal sind zu viele.",
        "There is no such document here to sum up.": "Hier gibt es kein solches Dokument, das "
        "zusammengefasst werden könnte.",
        "Answers in quotes hold no new texts, such as letters and translations.": "Antworten in "
        "Zitaten enthalten keine neuen Texte wie Briefe und Übersetzungen.",
        "rag-app answers with sentences of the documents, word for word, each with its place, so "
        "that you can check it; what no document says, it does not make up.": "rag-app antwortet "
        "mit Sätzen der Dokumente, Wort für Wort und jeder mit seiner Fundstelle, damit Sie es "
        "prüfen können; was in keinem Dokument steht, erfindet es nicht.",
        "There are no documents yet: add some, then ask.": "Es gibt noch keine Dokumente: fügen "
        "Sie welche hinzu, und fragen Sie dann.",
        " and {number} more": " und {number} weitere",
        "You can ask, for example:": "Sie können zum Beispiel fragen:",
        "Summarize {title}": "Fasse {title} zusammen",
        "Who spoke in {title}?": "Wer sprach in {title}?",
        "Which documents mention costs?": "Welche Dokumente erwähnen Kosten?",
        "What documents do you have?": "Welche Dokumente gibt es?",
        "Decided:": "Beschlossen:",
        "{title}, “{heading}”:": "{title}, „{heading}“:",
        "The section goes on for {words}.": "Der Abschnitt hat noch {words}.",
        "To do:": "Zu tun:",
        "To do, {details}:": "Zu tun, {details}:",
        "rag-app register shows all": "alle zeigt rag-app register",
        "{matters} of {meetings}, in sentences that say so in so many words:": "{matters} aus "
        "{meetings}, in Sätzen, die es ausdrücklich sagen:",
        "Decided": "Beschlossen",
        "To do": "Zu tun",
        "To be answered": "Zu klären",
        "open": "offen",
        "confirmed": "bestätigt",
        "changed": "geändert",
        "done": "erledigt",
        "dropped": "fallen gelassen",
        "said first": "zuerst gesagt",
        "no date": "ohne Datum",
        "{time} long": "{time} lang",
        "Speakers: {speakers}.": "Es sprechen: {speakers}.",
        "{number} more": "{number} weitere",
        "On {keywords}:": "Zu {keywords}:",
        "Each new place where “{phrase}” comes up is told here from now on, once.": "Jede neue "
        "Stelle, an der „{phrase}“ vorkommt, wird ab jetzt hier gemeldet, einmal.",
        "One answer tells nothing later. Ask the same in a conversation on the page (rag-app "
        "serve), or begin rag-app watch FOLDER --tell {shell}, or corpus.standing({python}) "
        "in Python: each new place is told once.": "Eine Antwort meldet später nichts. Fragen Sie "
        "dasselbe in einem Gespräch auf der Seite (rag-app serve), oder beginnen Sie rag-app watch "
        "ORDNER --tell {shell} oder corpus.standing({python}) in Python: jede neue Stelle "
        "wird einmal gemeldet.",
        "On {keywords} ({place}):": "Zu {keywords} ({place}):",
    },
    ".",
)
WORDINGS: Mapping[str, Wording] = {ENGLISH: _ENGLISH, GERMAN: _GERMAN}
"""By language."""
