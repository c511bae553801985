"""Answers made of quotes: verbatim, on the question, without repetition, speaker named."""

from __future__ import annotations

from generator.evidence import Embed, Sentence, Span, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.quotes.quote_length import QuoteLength
from generator.extractive.quotes.selector import (
    build_citation,
    closest_quotes,
    format_quote,
    select_quotes,
)
from generator.extractive.ranking import answer_scores
from tests.generator.conftest import prose, span, transcript

MEETING = transcript(
    [
        ("Project Manager", "Good morning . {vocalsound} Okay ."),
        ("Project Manager", "How much may the remote control cost in the shops ?"),
        ("Marketing", "Twenty five Euro , not a cent more ."),
        ("Industrial Designer", "I want the case to be made of rubber . It feels soft ."),
        ("Marketing", "Hmm ."),
        ("User Interface", "Speech recognition is too expensive for us ."),
        ("Marketing", "People find rubber fashionable this year ."),
        ("Project Manager", "The weather is nice ; lunch is at noon ."),
        ("Industrial Designer", "I want the case to be made of rubber ."),
    ]
)


def ask(question: str, embed: Embed, *, length: QuoteLength | None = None) -> list[Sentence]:
    sentences = evidence_sentences([span(MEETING)])
    features = SentenceFeatures.of(question, sentences, WordVectors(embed))
    return select_quotes(features, length=length or QuoteLength())


def test_sentences_belong_to_one_utterance_and_leave_labels_out() -> None:
    sentences = evidence_sentences([span(MEETING)])
    for sentence in sentences:
        utterance = MEETING.utterance_at(sentence.start)
        assert utterance is not None
        assert utterance.text_start <= sentence.start < sentence.end <= utterance.end
        assert (sentence.speaker, sentence.time) == (utterance.speaker, utterance.time)
    joined = "".join(sentence.text for sentence in sentences)
    said = "".join(
        MEETING.text[utterance.text_start : utterance.end] for utterance in MEETING.utterances
    )
    assert "".join(joined.split()) == "".join(said.split())


def test_overlapping_passages_give_each_sentence_once() -> None:
    length = len(MEETING.text)
    spans = [Span(MEETING, 0, length, 2.0), Span(MEETING, MEETING.utterances[3].start, length, 1.0)]
    assert evidence_sentences(spans) == evidence_sentences(spans[:1])
    inside = (
        MEETING.utterances[2].text_start + 4
    )  # a passage that starts in the middle of an utterance
    first = evidence_sentences([Span(MEETING, inside, length, 1.0)])[0]
    assert (first.start, first.speaker) == (inside + 4, "Marketing") or first.start == inside


def test_the_reply_follows_its_question(embed: Embed) -> None:
    texts = [sentence.text for sentence in ask("What may the remote control cost?", embed)]
    assert "Twenty five Euro , not a cent more ." in texts


def test_named_speaker_comes_first(embed: Embed) -> None:
    one = QuoteLength(quotes=1)
    question = "What did the {} say about rubber?"
    assert ask(question.format("marketing"), embed, length=one)[0].speaker == "Marketing"
    best = ask(question.format("industrial designer"), embed, length=one)[0]
    assert best.speaker == "Industrial Designer"


def test_nothing_is_said_twice_and_fillers_are_left_out(embed: Embed) -> None:
    all_of_it = QuoteLength(quotes=50, words=1000, enough=1.1)
    texts = [sentence.text for sentence in ask("What about rubber?", embed, length=all_of_it)]
    assert len(texts) == len(set(texts))
    assert not {"Hmm .", "Okay .", "{vocalsound} Okay ."} & set(texts)


def test_the_best_quote_leads_and_the_length_holds(embed: Embed) -> None:
    short = QuoteLength(quotes=3, words=15, enough=1.1)
    sentences = evidence_sentences([span(MEETING)])
    features = SentenceFeatures.of("What about rubber cases?", sentences, WordVectors(embed))
    quotes = select_quotes(features, length=short)
    best = sentences[int(answer_scores(features).argmax())]
    assert quotes[0].start <= best.start < quotes[0].end
    assert 0 < len(quotes) <= 3
    assert sum(len(sentence.text.split()) for sentence in quotes[1:]) <= 15 * 1.25


def test_a_short_first_quote_goes_on_within_its_utterance(embed: Embed) -> None:
    meeting = transcript(
        [
            ("Ann", "When is the launch? I always forget."),
            ("Bob", "The launch moved. It is the ninth of May now. Nobody told the printers yet."),
            ("Cem", "The printers know."),
        ]
    )
    sentences = evidence_sentences([span(meeting)])
    features = SentenceFeatures.of("Who moved the launch?", sentences, WordVectors(embed))
    (first, *_) = select_quotes(features, length=QuoteLength(quotes=1))
    assert first.speaker == "Bob" and first.text.endswith("printers yet.")


def test_a_quote_that_leads_into_a_list_goes_on_with_its_items(embed: Embed) -> None:
    text = (
        "Three conditions for the pilot:\n\n- a spare scanner\n- no Saturdays\n- a phone number\n"
    )
    sentences = evidence_sentences([span(prose(text + "\nThe weather was fine that day."))])
    features = SentenceFeatures.of(
        "What were the conditions for the pilot?", sentences, WordVectors(embed)
    )
    (first, *_) = select_quotes(features, length=QuoteLength(quotes=1))
    assert "a phone number" in first.text and "weather" not in first.text


def test_citations_are_the_document(embed: Embed) -> None:
    for marker, sentence in enumerate(ask("What about rubber?", embed), start=1):
        shown = format_quote(sentence, marker)
        citation = build_citation(sentence, marker, shown)
        assert MEETING.text[citation.start : citation.end] == citation.quote
        assert shown == f"{citation.speaker}: {citation.quote} [{marker}]"
        assert citation.verified
    assert not build_citation(sentence, 1, "Somebody: something else [1]").verified


def test_hard_wrapped_sentences_stay_verbatim_in_the_citation() -> None:
    document = prose("The tenant shall pay the\nrent on the first day\nof each month, in advance.")
    sentence = evidence_sentences([span(document)])[0]
    citation = build_citation(sentence, 1, format_quote(sentence, 1))
    assert citation.quote == document.text
    assert "\n" not in format_quote(sentence, 1)
    assert citation.verified


def test_no_sentence_with_content_is_still_an_answer(embed: Embed) -> None:
    sentences = evidence_sentences([span(prose("Okay. Yes. Hmm."))])
    features = SentenceFeatures.of("Is it okay?", sentences, WordVectors(embed))
    assert select_quotes(features, length=QuoteLength())


def test_sentences_in_a_row_are_one_quote(embed: Embed) -> None:
    document = transcript([("Ann", "We chose rubber. Rubber feels soft."), ("Bo", "I like tea.")])
    sentences = evidence_sentences([span(document)])
    features = SentenceFeatures.of("Why is rubber chosen?", sentences, WordVectors(embed))
    (quote,) = select_quotes(features, length=QuoteLength(words=6, enough=1.1))
    assert quote.text == "We chose rubber. Rubber feels soft."
    assert (quote.speaker, quote.utterance) == ("Ann", 0)
    paragraphs = evidence_sentences([span(prose("We chose rubber.\n\nRubber feels soft."))])
    apart = SentenceFeatures.of("Why is rubber chosen?", paragraphs, WordVectors(embed))
    assert len(select_quotes(apart, length=QuoteLength(enough=1.1))) == 2


def closest(said: list[tuple[str, str]], embed: Embed, *, most: int = 3) -> list[str]:
    """The closest quotes on rubber, numbered and supporting nothing."""
    sentences = evidence_sentences([span(transcript(said))]) if said else []
    features = SentenceFeatures.of("Who chose the rubber case?", sentences, WordVectors(embed))
    quotes = closest_quotes(features, most=most)
    assert [quote.marker for quote in quotes] == list(range(1, len(quotes) + 1))
    assert not any(quote.verified for quote in quotes)
    return [quote.quote for quote in quotes]


def test_the_closest_quotes_are_the_best_few_each_once(embed: Embed) -> None:
    tea = ("Ann", "Tea was served in the hall after lunch.")
    joined = ("Bo", "The rubber case was chosen. It feels soft.")
    assert closest([tea, joined], embed) == [joined[1], tea[1]]  # two sentences, one quote
    again = ("Cy", "The rubber case\nwas chosen.")
    found = closest([tea, again, ("Bo", "The rubber case was chosen.")], embed)
    assert len(found) == 2 and found[1] == tea[1]
    umbrella = ("Di", "Somebody left an umbrella near the door.")
    assert len(closest([tea, again, umbrella], embed, most=2)) == 2
    assert closest([], embed) == []


def test_part_of_a_name_names_its_only_bearer(embed: Embed) -> None:
    said = [(name, "The rubber case is soft.") for name in ("Ann Lee", "Bob Lee", "Cyd Day")]
    sentences = evidence_sentences([span(transcript(said))])
    for name, speaker in (("Cyd", "Cyd Day"), ("Bob Lee", "Bob Lee")):
        features = SentenceFeatures.of(f"What did {name} say?", sentences, WordVectors(embed))
        assert select_quotes(features, length=QuoteLength(quotes=1))[0].speaker == speaker


def test_a_time_is_quoted_when_asked_when(embed: Embed) -> None:
    document = prose("The bakery opens for customers soon. The bakery opens on Monday the ninth.")
    sentences = evidence_sentences([span(document)])
    features = SentenceFeatures.of("When does the bakery open?", sentences, WordVectors(embed))
    (quote,) = select_quotes(features, length=QuoteLength(quotes=1, words=5))
    assert quote.text == "The bakery opens on Monday the ninth."


def test_quotes_end_where_one_of_them_probably_answers(embed: Embed) -> None:
    question = "What is the case made of?"
    few, more = (
        ask(question, embed, length=QuoteLength(words=200, enough=share)) for share in (0.01, 0.95)
    )
    assert len(few) == 1
    assert len(more) > 1
    assert few[0] in more or any(each.start <= few[0].start < each.end for each in more)
