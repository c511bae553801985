"""Asked again in other orders: what agrees, what has changed, and that the model is as before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generator.answer import Answer, Citation, Mode
from generator.evidence import Embed
from generator.generator import Generator
from generator.lm.calibration_record import CalibrationRecord, save_record
from generator.lm.causal_lm import CausalModel
from generator.lm.ms_poe_policy import MsPoEPolicy, apply_policy, choose_policy, describe
from generator.ms_poe.method import MsPoE
from generator.ms_poe.position_method import active_settings
from generator.position_check import AGREE, agreement, check, compare, is_changed
from generator.prompt.arrangement import ARRANGEMENTS
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from tests.generator.conftest import hit, prose, transcript

MEETING = transcript(
    [
        ("Anna", "The budget was cut to 350,000 pounds because two sponsors left in May."),
        ("Ben", "So we drop the rubber case and keep the plastic one."),
    ]
)
REPORT = prose("The ferry sails at nine. Its captain is Joan Reyes.")
NOTE = prose("The harbour was dredged last winter, and the pier was painted.", name="note")
HITS = [hit(MEETING, score=3.0), hit(REPORT, score=2.0), hit(NOTE, score=1.0)]
LOOKUP = {each.id: each for each in (MEETING, REPORT, NOTE)}.__getitem__
REQUEST = AskRequest("Why was the budget cut?")
ANYWAY = replace(REQUEST, abstain=False)
RETRIEVAL = Retrieval(HITS, LOOKUP)
SHORT = GeneratorSettings(decoding="concat", max_new_tokens=12)


@pytest.fixture(autouse=True)
def _no_verdicts(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_APP_DATA", str(tmp_path))


def said(text: str, *quoted: tuple[int, int], abstained: bool = False) -> Answer:
    citations = tuple(
        Citation(n, "a", "/a", "A", "", start, end, "", verified=True)
        for n, (start, end) in enumerate(quoted, start=1)
    )
    mode: Mode = "quote" if quoted else "free"
    return Answer("q", text, citations=citations, abstained=abstained, mode=mode)


def test_agreement_of_free_answers_is_f1_of_their_words() -> None:
    one, other = said("The launch is in May. [1]"), said("the LAUNCH, in June [unsupported]")
    assert agreement(one, other) == pytest.approx(2 * 3 / (5 + 4))
    assert agreement(one, one) == 1.0
    assert agreement(one, said("Nothing else")) == 0.0


def test_agreement_of_quotes_is_f1_of_their_characters() -> None:
    one, other = said("x", (0, 10), (20, 30)), said("y", (5, 10))
    assert agreement(one, other) == pytest.approx(2 * 5 / 25)
    assert agreement(one, said("y", (20, 30), (0, 10))) == 1.0


def test_an_answer_that_turns_into_silence_has_changed() -> None:
    one, none = said("The launch is in May."), said("The documents do not say.", abstained=True)
    assert (agreement(one, none), agreement(none, none)) == (0.0, 1.0)
    assert is_changed(one, none, 1.0)
    assert not is_changed(none, none, agreement(none, none))
    found = compare(one, [("best-last", "off", one), ("best-first", "off", none)])
    assert (found.stable, found.agreement) == (False, 0.5)
    assert [each["changed"] for each in found.as_json()["variants"]] == [False, True]  # type: ignore[index, union-attr, call-overload]


def test_orders_of_one_prompt_hold_the_same_spans() -> None:
    class Placed:
        def __init__(self, score: float) -> None:
            self.score = score

    placed = [Placed(score) for score in (5.0, 3.0, 1.0, 2.0, 4.0)]
    orders = {
        name: [each.score for each in arrange(placed)]  # type: ignore[arg-type]
        for name, arrange in ARRANGEMENTS.items()
    }
    assert orders == {
        "ends": [5, 3, 1, 2, 4],
        "best-first": [5, 4, 3, 2, 1],
        "best-last": [1, 2, 3, 4, 5],
        "best-within": [2, 4, 5, 3, 1],
    }


def test_a_free_answer_is_asked_in_every_order_and_under_ms_poe(
    embed: Embed, tiny_model: CausalModel
) -> None:
    generator = Generator(replace(SHORT, answer="free"), embed=embed, load=lambda: tiny_model)
    usual = generator.answer(ANYWAY, RETRIEVAL)
    steps: list[tuple[int, int]] = []
    found = check(generator, ANYWAY, RETRIEVAL, usual, progress=lambda *at: steps.append(at))
    orders = [one.order for one in found.variants]
    assert orders == ["best-first", "best-last", "best-within", "ends"]
    assert steps == [(n, 4) for n in range(5)]
    assert [one.positions.split(" ")[0] for one in found.variants] == ["off"] * 3 + ["ms-poe"]
    for one in found.variants:
        assert one.agreement == pytest.approx(agreement(usual, one.answer))
        assert one.changed == (one.agreement < AGREE)
    by_hand = Generator(
        replace(SHORT, answer="free", arrangement="best-last"), embed=embed, load=lambda: tiny_model
    ).answer(ANYWAY, RETRIEVAL)
    assert found.variants[1].answer.text == by_hand.text
    assert active_settings(tiny_model.model) is None
    again = generator.answer(ANYWAY, RETRIEVAL)
    assert again.text == usual.text


def test_ranked_quotes_do_not_depend_on_the_order(embed: Embed) -> None:
    def never() -> CausalModel:
        raise AssertionError("the language model was asked for")

    generator = Generator(SHORT, embed=embed, load=never)
    usual = generator.answer(REQUEST, RETRIEVAL)
    assert usual.citations
    found = check(generator, REQUEST, RETRIEVAL, usual)
    assert [(one.order, one.agreement) for one in found.variants] == [("reversed", 1.0)]
    assert found.stable


def test_a_check_where_ms_poe_is_on_turns_it_off_and_on_again(
    embed: Embed, tiny_model: CausalModel
) -> None:
    method = MsPoE(r_min=1.1, r_max=1.1, order="uniform")
    save_record(CalibrationRecord(tiny_model.name, tiny_model.revision, method, "it helps"))
    generator = Generator(replace(SHORT, answer="free"), embed=embed, load=lambda: tiny_model)
    usual = generator.answer(ANYWAY, RETRIEVAL)
    assert usual.configuration["Ms-PoE"] == f"{describe(method)} (calibrated: it helps)"
    assert active_settings(tiny_model.model) == method
    found = check(generator, ANYWAY, RETRIEVAL, usual)
    as_usual = usual.configuration["Ms-PoE"]
    assert [one.positions for one in found.variants] == [as_usual] * 3 + ["off (as asked)"]
    assert active_settings(tiny_model.model) == method
    generator.close()
    assert active_settings(tiny_model.model) is None
    assert generator.answer(ANYWAY, RETRIEVAL).text == usual.text
    generator.close()


def test_what_a_setting_means(tiny_model: CausalModel) -> None:
    assert choose_policy("calibrated", tiny_model).method is None
    assert "never calibrated" in str(choose_policy("calibrated", tiny_model))
    assert choose_policy("on", tiny_model).method == MsPoE()
    tried = MsPoE(r_min=1.0, r_max=1.1, order="calibrated", places=((0.0, 1.0),) * 4)
    save_record(
        CalibrationRecord(tiny_model.name, tiny_model.revision, None, "no place gains", {}, tried)
    )
    assert choose_policy("on", tiny_model).method == tried
    assert str(choose_policy("calibrated", tiny_model)) == "off (calibrated: no place gains)"
    assert str(choose_policy("off", tiny_model)) == "off (as asked)"
    with pytest.raises(InvalidRequest, match="calibrated, on, off"):
        choose_policy("yes", tiny_model)
    with pytest.raises(InvalidRequest, match="calibrated, on, off"):
        GeneratorSettings(ms_poe="yes")
    with pytest.raises(InvalidRequest, match="best-within"):
        GeneratorSettings(arrangement="middle")
    with pytest.raises(InvalidRequest, match="--ms-poe off"):
        GeneratorSettings(model="openai:http://localhost:1/v1#m", ms_poe="on")


def test_a_model_that_somebody_else_changed_is_left_alone(tiny_model: CausalModel) -> None:
    with (
        MsPoE(order="uniform")(tiny_model),
        pytest.raises(InvalidRequest, match="somebody else"),
        apply_policy(MsPoEPolicy(None, ""), tiny_model),
    ):
        pass
