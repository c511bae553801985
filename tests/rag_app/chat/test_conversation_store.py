"""Stored conversations: what is read back, and that only their key leads to them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path

import pytest

from generator.answer import NOT_SAID, Answer, Citation, ContextEntry, SentenceSupport, ShortAnswer
from indexing.errors import CorpusError, InvalidRequest
from rag_app.chat.conversation import Conversation, Exchange, from_json, to_json
from rag_app.chat.conversation_store import ConversationStore, is_key, login_key, new_key
from rag_app.chat.page import export

CITATION = Citation(1, "d1", "/a/b.vtt", "B", "", 3, 9, "quoted", "Ann", 61.5, None, True, 1.0, 0.9)
ANSWER = Answer(
    question="Why?",
    text="Ann: quoted [1]",
    citations=(CITATION,),
    short=ShortAnswer.within(CITATION, 5, 9, 0.8),
    probability=0.9,
    sentences=(
        SentenceSupport("Ann: quoted", "quoted", 1),
        SentenceSupport("A doubt.", "unsupported"),
    ),
    unsupported=("A doubt.",),
    context=(ContextEntry("d1", "B", 100, 40, 60),),
    seconds={"total": 0.5},
)
CLOSEST = replace(CITATION, verified=False, overlap=0.0, similarity=0.0)
WITHHELD = Answer("Who?", NOT_SAID, closest=(CLOSEST,), probability=0.1, abstained=True)
CONVERSATION = (
    Conversation.new()
    .followed_by(Exchange("Who?", "quote", ("d1",), "done", WITHHELD.text, WITHHELD))
    .followed_by(Exchange("Why?", "quote", ("d1",), "done", ANSWER.text, ANSWER))
)


def test_a_conversation_comes_back_as_it_was(tmp_path: Path) -> None:
    assert from_json(to_json(CONVERSATION)) == CONVERSATION
    store, key = ConversationStore(tmp_path), new_key()
    store.save(key, CONVERSATION)
    assert ConversationStore(tmp_path).get(key, CONVERSATION.id) == CONVERSATION
    assert store.all(key) == [CONVERSATION]


def test_only_its_owner_on_this_machine_reads_a_conversation(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "chats")
    before = os.umask(0)
    try:
        store.save(new_key(), CONVERSATION)
    finally:
        os.umask(before)
    paths = [store.folder, *store.folder.rglob("*")]
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o700, 0o700, 0o600]
    store.folder.chmod(0o755)  # as an earlier version left it
    store.save(new_key(), CONVERSATION)
    assert store.folder.stat().st_mode & 0o777 == 0o700


def test_what_was_under_way_when_the_server_ended_is_stopped(tmp_path: Path) -> None:
    store, key = ConversationStore(tmp_path), new_key()
    store.save(key, CONVERSATION.followed_by(Exchange("And?", state="writing", text="So fa")))
    saved = store.get(key, CONVERSATION.id)
    assert saved is not None
    assert [each.state for each in saved.exchanges] == ["done", "done", "stopped"]
    assert saved.exchanges[2].text == "So fa"


def test_a_conversation_of_an_earlier_version_is_read() -> None:
    values = json.loads(to_json(CONVERSATION))
    for exchange, stored in zip(values["exchanges"], CONVERSATION.exchanges, strict=True):
        if stored.answer is not None:  # whose attributes were written as they are
            exchange["answer"] = asdict(stored.answer)
            for name in ("short", "closest", "probability"):
                del exchange["answer"][name]
    earlier = from_json(json.dumps(values)).exchanges[1].answer
    assert earlier == replace(ANSWER, short=None, probability=None)


def test_another_key_finds_nothing_and_no_key_is_on_disk(tmp_path: Path) -> None:
    store, key = ConversationStore(tmp_path), new_key()
    store.save(key, CONVERSATION)
    assert store.get(new_key(), CONVERSATION.id) is None
    assert store.all(new_key()) == []
    for path in tmp_path.rglob("*"):
        assert key not in str(path) and (path.is_dir() or key not in path.read_text())


@pytest.mark.parametrize("key", ["", "../../etc", "a" * 21, "a" * 65, "ä" * 30, None, 7])
def test_what_is_no_key_is_refused(tmp_path: Path, key: object) -> None:
    assert not is_key(key)
    with pytest.raises((InvalidRequest, TypeError)):
        ConversationStore(tmp_path).all(key)  # type: ignore[arg-type]


@pytest.mark.parametrize("id_", ["", "../other", "0" * 15, "g" * 16, "0" * 16 + "/x"])
def test_an_id_is_no_path(tmp_path: Path, id_: str) -> None:
    with pytest.raises(InvalidRequest, match="no such conversation"):
        ConversationStore(tmp_path).save(new_key(), replace(CONVERSATION, id=id_))


def test_a_damaged_conversation_does_not_hide_the_others(tmp_path: Path) -> None:
    store, key = ConversationStore(tmp_path), new_key()
    store.save(key, CONVERSATION)
    (folder,) = tmp_path.iterdir()
    (folder / f"{'0' * 16}.json").write_text('{"id": 1}')
    (folder / f"{'1' * 16}.json").write_bytes(b"\xff\x00")
    assert store.all(key) == [CONVERSATION]
    with pytest.raises(InvalidRequest, match="cannot be read"):
        from_json('{"id": 1}')


def test_forgotten_is_gone(tmp_path: Path) -> None:
    store, key = ConversationStore(tmp_path), new_key()
    store.save(key, CONVERSATION)
    store.delete(key, CONVERSATION.id)
    assert store.all(key) == [] and not list(tmp_path.rglob("*.json"))


def test_no_room_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match="cannot be saved"):
        ConversationStore(tmp_path / "file").save(new_key(), CONVERSATION)


def test_json_export_has_every_citation() -> None:
    values = json.loads(export.as_text(CONVERSATION))
    withheld, exchange = values["exchanges"]
    assert withheld["answer"]["closest"][0]["quote"] == "quoted"
    assert exchange["answer"]["short"]["text"] == "oted"
    assert exchange["answer"]["citations"][0] | {} == {
        **exchange["answer"]["citations"][0],
        "quote": "quoted",
        "start": 3,
        "end": 9,
        "time": "00:01:01",
        "speaker": "Ann",
    }
    assert exchange["answer"]["unsupported"] == ["A doubt."]


def test_markdown_export_cites_and_stays_text() -> None:
    from markdown_it import MarkdownIt

    bad = "# <script>x</script> ![i](http://a.b/c) [l](javascript:x) *b* `c` http://a.b 1. | x"
    answer = replace(ANSWER, text=f"{bad} [1]", citations=(replace(CITATION, quote=bad),))
    chat = Conversation.new().followed_by(Exchange(bad, "quote", (), "done", answer.text, answer))
    text = export.markdown(chat)
    assert "characters 3-9" in text and "00:01:01 · Ann" in text and "Read 40 of 100" in text
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    for tag in ("<script", "<img", "<a ", "<em>", "<code>", "<ol>"):
        assert tag not in html
    assert html.count("&lt;script&gt;") == 4  # title, question, answer, quote


def rendered(answer: Answer) -> str:
    """The HTML of a conversation's Markdown."""
    from markdown_it import MarkdownIt

    chat = Conversation.new().followed_by(Exchange("?", "quote", (), "done", answer.text, answer))
    text = export.markdown(chat)
    return MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("It was  nine\no'clock.", "nine\no'clock"),
        ("<b>bad</b> *idea* & [1]", "*idea* & [1]"),
        ("**", "**"),
        ("a - b", "- b"),
        ("\u202eeht fo\u202c _yad_", "_yad_"),
        ("\u00a392", "\u00a392"),
        ("http://evil.invalid", "//evil"),
    ],
)
def test_the_short_answer_is_bold_in_markdown(quote: str, words: str) -> None:
    citation = replace(CITATION, start=100, end=100 + len(quote), quote=quote)
    start = 100 + quote.index(words)
    short = ShortAnswer.within(citation, start, start + len(words), 0.5)
    assert short is not None
    html = rendered(replace(ANSWER, text="-", citations=(citation,), short=short))
    ((bold),) = re.findall(r"<strong>(.*?)</strong>", html.partition("<blockquote>")[2])
    assert unescape(bold) == " ".join(words.split())
    line = f"Ann: {' '.join(quote.split())} [1]"
    html_line = rendered(replace(ANSWER, text=line, citations=(citation,), short=short))
    first, *_ = html_line.partition("<h2>?</h2>")[2].split("</p>")
    assert re.findall(r"<strong>(.*?)</strong>", first) == [bold, "[1]"]
    assert unescape(re.sub("<.*?>", "", first.replace("\n", ""))) == line
    assert f"\u201c{' '.join(quote.split())}\u201d" in unescape(re.sub("</?strong>", "", html))


def test_bold_that_markdown_would_not_see_is_left_out() -> None:
    """Two asterisks between a letter and a bracket are no bold (CommonMark 6.2)."""
    citation = replace(CITATION, start=100, end=107, quote="f(x)=2y")
    for start, end in ((101, 104), (103, 105), (101, 105)):
        short = ShortAnswer.within(citation, start, end, 0.5)
        html = rendered(replace(ANSWER, text="-", citations=(citation,), short=short))
        assert "\u201cf(x)=2y\u201d" in html.replace("<strong>", "").replace("</strong>", "")


def test_closest_passages_in_markdown_are_no_citations() -> None:
    html = rendered(WITHHELD)
    assert "Closest passages (related, but not an answer):" in html
    assert "\u201cquoted\u201d" in html and "characters 3-9" in html
    assert "[1]" not in html and "may not support" not in html


def test_markdown_export_sets_its_markers_apart_from_a_document_s_own() -> None:
    answer = replace(ANSWER, text="Ann: as [2] shows [1] [1]", citations=(CITATION,))
    chat = Conversation.new().followed_by(
        Exchange("Why?", "quote", (), "done", answer.text, answer)
    )
    text = export.markdown(chat)
    assert "Ann: as \\[2\\] shows \\[1\\] **\\[1\\]**\n" in text
    assert "> \\[1\\] B" in text


def test_a_login_has_conversations_of_its_own_and_takes_over_those_of_a_browser(
    tmp_path: Path,
) -> None:
    store, key = ConversationStore(tmp_path), new_key()
    ann, bob = login_key("ann"), login_key("bob")
    assert not is_key(ann)  # so that no browser can send it
    store.save(key, CONVERSATION)
    before = store.state(store.name(ann))
    store.take_over(key, ann)
    assert store.all(ann) == [CONVERSATION] and not store.all(key) and not store.all(bob)
    assert store.state(store.name(ann)) != before
    store.take_over(key, bob)  # there is nothing left
    assert store.all(ann) == [CONVERSATION] and not store.all(bob)
    other = Conversation.new().followed_by(CONVERSATION.exchanges[0])
    store.save(key, other)
    store.take_over(key, ann)
    assert {each.id for each in store.all(ann)} == {CONVERSATION.id, other.id}
    assert store.state("../secret") is store.state("0" * 32) is None


def test_names_pins_and_ratings_are_kept_where_the_conversation_is(tmp_path: Path) -> None:
    store, key = ConversationStore(tmp_path), new_key()
    first, second = CONVERSATION, replace(Conversation.new(), exchanges=CONVERSATION.exchanges)
    store.save(key, first)
    file = next(tmp_path.rglob(f"{first.id}.json"))
    os.utime(file, (1, 1))
    store.save(key, second)
    named = first.named("  Budget\n talks ").rated(1, "down")
    store.save(key, named, in_place=True)
    assert [one.title for one in store.all(key)] == [second.title, "Budget talks"]
    assert store.all(key)[1].exchanges[1].rating == "down" and file.stat().st_mtime == 1
    store.save(key, replace(named, pinned=True), in_place=True)
    assert [one.id for one in store.all(key)] == [first.id, second.id]
    assert named.named("").title == first.title and "why?" in named.words


def test_the_pinned_one_is_not_deleted_with_the_oldest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.chat.conversation_store.MAX_CONVERSATIONS", 2)
    store, key = ConversationStore(tmp_path), new_key()
    ids = []
    for number in range(5):
        one = replace(Conversation.new(), pinned=number == 0)
        store.save(key, one)
        os.utime(next(tmp_path.rglob(f"{one.id}.json")), (number, number))
        ids.append(one.id)
    left = {one.id for one in store.all(key)}
    assert ids[0] in left and ids[1] not in left and ids[4] in left


def test_a_conversation_from_before_names_and_ratings_is_read(tmp_path: Path) -> None:
    values = json.loads(to_json(CONVERSATION))
    for name in ("name", "pinned"):
        del values[name]
    for exchange in values["exchanges"]:
        for name in ("length", "rating"):
            del exchange[name]
    assert from_json(json.dumps(values)) == CONVERSATION
