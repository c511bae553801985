"""Text in the encodings that people have on disk, with and without a mark."""

# ruff: noqa: RUF001 - texts in other scripts

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from indexing.documents import Document
from indexing.loaders.charset import clean
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
    assert text_of(path) == (RUSSIAN + "\n") * 3 + "\ufffd" + WESTERN


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
