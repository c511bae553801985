"""Text in the encodings that people have on disk, with and without a mark."""

# ruff: noqa: RUF001 - texts in other scripts

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from indexing.documents import Document
from indexing.loaders.charset import clean, decode, one_line, read_text
from indexing.walk import Failure
from tests.reading import read

WESTERN = "The café’s menu — “très bon” — costs €5. Señor Núñez agreed in März."
LATIN = "Die Sitzung beginnt um zehn Uhr. Wir müssen das Budget für nächstes Jahr kürzen."
RUSSIAN = "Алиса: Мы должны сократить бюджет.\nБоб: Я не согласен.\nАлиса: Почему нет?"
JAPANESE = "会議を始めます。予算について話しましょう。\nこれは日本語のテキストです。"

ENCODED = [
    (WESTERN, "utf-8"),
    (WESTERN, "utf-8-sig"),
    (WESTERN, "utf-16"),
    (WESTERN, "utf-16-le"),
    (WESTERN, "utf-16-be"),
    (WESTERN, "utf-32"),
    (WESTERN, "cp1252"),
    (LATIN, "latin-1"),
    (RUSSIAN, "utf-8"),
    (RUSSIAN, "utf-16"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8_r"),
    (JAPANESE, "utf-8"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
]


def text_of(path: Path) -> str:
    (found,) = read(path)
    assert isinstance(found, Document), found
    return found.text


@pytest.mark.parametrize(("text", "encoding"), ENCODED)
def test_plain_text(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert text_of(path) == text


def test_utf16_with_the_mark_of_the_other_order(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(codecs.BOM_UTF16_BE + WESTERN.encode("utf-16-be"))
    assert text_of(path) == WESTERN


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1251", "shift_jis", "iso-8859-1"])
@pytest.mark.parametrize("meta", ['<meta charset="{}">', '<meta content="text/html; charset={}">'])
def test_html_says_its_encoding(encoding: str, meta: str, tmp_path: Path) -> None:
    words = {"cp1251": RUSSIAN.partition("\n")[0], "shift_jis": "会議", "iso-8859-1": "Café"}
    said = words.get(encoding, WESTERN)
    path = tmp_path / "a.html"
    path.write_bytes(f"<html>{meta.format(encoding)}<p>{said}</p>".encode(encoding))
    assert text_of(path) == said


@pytest.mark.parametrize("liar", ["utf-16", "utf-7", "base64", "no-such", "unicode_escape"])
def test_html_that_says_a_wrong_encoding_is_read_by_its_bytes(liar: str, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(f'<meta charset="{liar}"><p>{WESTERN}</p>', encoding="utf-8")
    assert text_of(path) == WESTERN


def test_one_damaged_byte_does_not_change_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((RUSSIAN + "\n").encode() * 3 + b"\xff" + WESTERN.encode())
    assert text_beside(path) == (RUSSIAN + "\n") * 3 + "\ufffd" + WESTERN


def test_captions_and_meetings_in_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_bytes(
        f"1\r\n00:00:01,000 --> 00:00:02,000\r\n{WESTERN}\r\n".encode("cp1252")
    )
    assert text_of(tmp_path / "a.srt") == WESTERN
    for number, encoding in enumerate(("utf-8-sig", "utf-16", "cp1252")):
        meeting = f'{{"meeting_transcripts": [{{"speaker": "É", "content": "{WESTERN}"}}]}}'
        for suffix in ("json", "jsonl"):
            path = tmp_path / f"{number}.{suffix}"
            path.write_bytes(meeting.encode(encoding))
            assert text_of(path) == f"É: {WESTERN}"


def test_newlines_become_line_feeds() -> None:
    assert clean("a\r\nb\rc\n\x0cd\x85e\u2028f\u2029g") == "a\nb\nc\n\nd\ne\nf\ng"


def test_what_cannot_be_in_a_text_is_shown() -> None:
    assert clean("\ufeffa\0b\ud83dc") == "a\ufffdb\ufffdc"
    assert clean("\ufeff\ufeffa") == "a"
    assert clean("Donau\u00addampf\u00adschiff") == "Donaudampfschiff"
    assert one_line("a\u202egnp\u2066\nb") == "agnp b"


@pytest.mark.parametrize("text", ["Müller", "The bridge über.", "5 € each", "ä", "São João é bom"])
def test_a_handful_of_letters_is_western(text: str) -> None:
    assert decode(Path("a.txt"), text.encode("cp1252")) == text


def remarks_of(path: Path) -> list[str]:
    found = read(path)
    return [one.reason for one in found if isinstance(one, Failure) and one.beside_text]


def text_beside(path: Path) -> str:
    (document, *_) = read(path)
    assert isinstance(document, Document)
    return document.text


EMOJI = "The café is open \U0001f600, the \U0001d11e clef too."


@pytest.mark.parametrize("suffix", ["txt", "md", "html", "srt", "json", "jsonl"])
def test_cesu_8_is_read_as_what_it_stands_for(suffix: str, tmp_path: Path) -> None:
    pairs = EMOJI.encode("utf-16-le")
    units = (pairs[at : at + 2] for at in range(0, len(pairs), 2))
    said = b"".join(
        unit.decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogatepass") for unit in units
    )
    around = {
        "srt": (b"1\n00:00:01,000 --> 00:00:02,000\n", b"\n"),
        "json": (b'{"meeting_transcripts": [{"speaker": "A", "content": "', b'"}]}'),
    }
    before, after = around.get(suffix, around["json"] if suffix == "jsonl" else (b"", b""))
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(before + said + after)
    assert text_of(path).removeprefix("A: ") == EMOJI


@pytest.mark.parametrize(
    ("other", "encoding"), [(WESTERN, "cp1252"), (LATIN, "cp1252"), (RUSSIAN, "cp1251")]
)
@pytest.mark.parametrize("suffix", ["txt", "md"])
def test_a_mixture_of_encodings_is_read_and_told(
    other: str, encoding: str, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{suffix}"
    first = "\n".join([WESTERN, LATIN, RUSSIAN])
    path.write_bytes(f"{first}\n".encode() + other.encode(encoding) + f"\n{first}".encode())
    assert text_beside(path) == f"{first}\n{other}\n{first}"
    (remark,) = remarks_of(path)
    lines = len([line for line in other.split("\n") if not line.isascii()])
    assert remark == f"mixes UTF-8 with another encoding, in lines ({lines}) that may be misread"


def test_damaged_bytes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((RUSSIAN + "\n").encode() * 3 + b"\xff" + WESTERN.encode() + b"\xc3")
    assert text_beside(path).count("\ufffd") == 2
    assert remarks_of(path) == ["has characters that are damaged (2, shown as \ufffd)"]


@pytest.mark.parametrize(("text", "encoding"), ENCODED)
def test_one_encoding_is_no_mixture(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert remarks_of(path) == []


def test_no_carriage_return_stays_in_a_text(tmp_path: Path) -> None:
    meeting = {"speaker": "A\r\nB", "content": "one\r\ntwo\rthree\x0cfour\u2028five"}
    said = json.dumps({"id": "a\nb", "meeting_transcripts": [meeting]})
    for name in ("a.json", "a.jsonl"):
        (tmp_path / name).write_text(said)
        assert text_of(tmp_path / name) == "A B: one\ntwo\nthree\nfour\nfive"
    (tmp_path / "a.html").write_text(
        "<pre>one&#13;two&#x2028;</pre><p>three&#13;&#10;four&#13;five</p>"
    )
    assert text_of(tmp_path / "a.html") == "one\ntwo\n\nthree four five"


def test_no_byte_order_mark_stays_before_a_speaker(tmp_path: Path) -> None:
    path = tmp_path / "meeting.json"
    spoken = [{"speaker": "\ufeff\ufeffAna", "content": "\ufeffThe probe fell."}]
    path.write_text(json.dumps({"meeting_transcripts": spoken}), encoding="utf-8")
    (document,) = read(path)
    assert isinstance(document, Document)
    assert document.text == clean(document.text) == "Ana: The probe fell."


def test_half_a_character_at_the_end_is_left_out(tmp_path: Path) -> None:
    """As of a file that is being written; alone it is a letter of another encoding."""
    path, text = tmp_path / "a.txt", "Grüße aus dem Süden, größer"
    for end in range(1, len(text.encode())):
        path.write_bytes(text.encode()[:end])
        assert text.startswith(read_text(path)) or end < 4
    path.write_bytes("un café".encode("cp1252"))
    assert read_text(path) == "un café"
