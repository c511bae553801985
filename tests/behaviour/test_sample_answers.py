"""What leads the answers to questions of the sample documents, some of which led with other words.

They were looked at while the rules were made, so they show that nothing is lost again, and no more.
`LOST` is what the reader of 2026-11-26 lost of them, for four more in a hundred where nobody looked
(docs/notebook/benchmarks.md, folders of strangers).
"""

from __future__ import annotations

import pytest

from rag_app.corpus.corpus import Corpus

LEADS = {
    # Facts that later meetings changed.
    "When is the launch of Heron now?": "The launch stays on Monday the eleventh of May",
    "Which company supplies the nitrate probes after everything that happened?": "Brackendale",
    "What happened to the weight limit of 210 grams?": "two hundred and twenty-five grams",
    "When did the notice to Brackendale take effect?": "the eleventh of November",
    "Was the deposit repaid within the time that the agreement allows?": "twenty Working Days",
    # The quotes stood in the order of their documents.
    "How common are copying errors, according to Yusuf and according to the Trust?": "one in fifty",
    "How many people tested the brass cap with cold hands, and how many failed to close it?": (
        "Twenty-two of twenty-two closed it"
    ),
    "What single measure would have prevented the loss of data on Shoreline?": "Action 8",
    # Short quotes go on, labels and heads do not lead, rows are told with their columns.
    "How much per mile can I claim for driving my own car?": "45p a mile",
    "How many interviews did Greta hold before the second meeting?": "fourteen interviews",
    "How many mink were caught on the rafts?": "21 in all",
    "May notice of termination be emailed?": "may not be given by fax or by electronic mail",
    "May staff take diluted calibration standards home?": "Do not take calibration standards home",
    "What does Edmund do for a living?": "Edmund is a dentist",
    "For how long from delivery is a probe under warranty?": "eighteen months",
    "In what year was the Ellmere Rivers Trust founded?": "1988",
    "How many ledgers were there at the grandmother's death?": "twenty-seven",
    "Who edited the state of the river report?": "Rosalind Achebe",
    # Misspelled, and at the end of a long message.
    "What was the real cuase of the drifitng probes?": "a slipping fan belt",
    f"{'Good morning to all of you. I have been away since the summer. ' * 12}I am to write the "
    "minutes of the last year. In what year was the Ellmere Rivers Trust founded?": "1988",
}


LOST = {
    "How much is a leak of trade secrets capped at under the supply agreement?": "£250,000",
    "What made the team move the release to May?": "five weeks for changing the tool",
    "How do people get stored readings out of the meter in the final design?": "a drive over USB",
    "Who suggested engraving the winter reminder in the brass?": "Inside the cap!",
}


@pytest.mark.parametrize("question", LEADS)
def test_the_right_words_lead(samples_corpus: Corpus, question: str) -> None:
    answer = samples_corpus.ask(question, mode="quote")
    assert LEADS[question] in " ".join(answer.citations[0].quote.split())


@pytest.mark.xfail(reason="lost since 2026-11-26", strict=True)
@pytest.mark.parametrize("question", LOST)
def test_the_right_words_would_lead(samples_corpus: Corpus, question: str) -> None:
    answer = samples_corpus.ask(question, mode="quote")
    assert LOST[question] in " ".join(answer.citations[0].quote.split())


def test_what_is_cut_off_does_not_lead(samples_corpus: Corpus) -> None:
    answer = samples_corpus.ask("How many test units failed in the field trial?", mode="quote")
    assert not answer.citations[0].quote.rstrip().endswith("...")


def test_earlier_statements_follow_the_latest(samples_corpus: Corpus) -> None:
    answer = samples_corpus.ask("When is the launch of Heron now?", mode="quote")
    titles = dict.fromkeys(one.title[:7] for one in answer.citations)
    assert [*titles][:3] == ["heron-6", "heron-5", "heron-4"]
    days = [one.day for one in answer.citations]
    assert days == sorted(days, reverse=True)
