"""Bytes to text: which encoding a file is in, and text that is safe to count characters in.

The order is: byte order mark, UTF-8 (also CESU-8, its form in old databases), UTF-8 mixed
with another encoding, UTF-8 with a rare damaged byte, cp1252 where there are but a few letters to
guess by, then a guess by charset-normalizer among the encodings that people still have on disk. A
guess is only taken when the whole file decodes without an error. What is damaged or mixed is told
(`remarks`).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders.magic import refuse_other_kind
from indexing.message import N_

# What a guess may be. Where two score the same, the earlier one wins.
CANDIDATES = (
    "cp1252", "cp1251", "cp932", "euc_jp", "gb18030", "big5", "euc_kr", "koi8_r",
    "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
)  # fmt: skip
# What a file may declare that is read as a wider encoding, as browsers do (WHATWG Encoding, 4.2).
ALIASES = {"iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932", "gb2312": "gb18030"}
DECLARABLE = {codecs.lookup(name).name for name in CANDIDATES} | {"utf-8", "iso8859-15"}

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE = 64 * 1024  # bytes that a guess looks at
CONTROL_SHARE = 0.03  # more control characters than this is not text

# Those of them with one byte a character: what strays into a UTF-8 file is decoded by these.
SINGLE_BYTE = ("cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254", "cp1255", "cp1257")
MIXED = 3  # runs beyond ASCII that must be UTF-8 before a file counts as UTF-8 mixed with another

FEW = 5  # letters beyond ASCII, by which hardly an encoding can be told from another

_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
# A small letter of cp1252 or what goes with it, alone: no remnant of a damaged UTF-8 character.
_LETTER = re.compile(rb"[\xdf-\xef\xf1-\xf6\xf8-\xfc\x80\x85\x91-\x97\xab\xbb\xc4\xd6\xdc]")
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_NEWLINES = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BREAKS = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # which make what follows read backwards
_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1b") + b"\x7f"

SAVE_AS_UTF8 = N_("open it in a text editor and save it as UTF-8")


def read_text(path: Path) -> str:
    """The text of a file that should be plain text, ready for counting characters.

    Raises:
        UnreadableFile: It is of another kind, binary, or in no encoding that can be recognised.
    """
    data = path.read_bytes()
    refuse_other_kind(path, data, "text")
    return clean(decode(path, data))


def decode(path: Path, data: bytes, *, declared: str | None = None) -> str:
    """Bytes as text, newlines untouched.

    Args:
        path: Named in the error.
        data: The whole file.
        declared: What the file says about itself, such as an HTML `charset`; tried after a mark.

    Raises:
        UnreadableFile: The bytes are binary or in no encoding that can be recognised.
    """
    text = _marked(path, data)
    if text is not None:
        return text
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if b"\0" in data or controls > CONTROL_SHARE * len(data):
        raise UnreadableFile(
            path, N_("is binary, not text"), N_("remove it, or convert it to text first")
        )
    text = (
        _declared(data, declared)
        or utf8(data)
        or _mixed(data)
        or _damaged_utf8(data)
        or _few_letters(data)
        or _guess(data, CANDIDATES)
    )
    if text is None:
        raise UnreadableFile(path, N_("is in no encoding that can be recognised"), SAVE_AS_UTF8)
    return text


def clean(text: str) -> str:
    """Newlines as line feeds; no NUL, no lone surrogate, no leading byte order mark.

    What cannot stay becomes U+FFFD, so that nothing disappears unseen. Soft hyphens, which nobody
    sees and which would part words, do disappear.
    """
    return printable(_NEWLINES.sub("\n", text).lstrip("\ufeff").replace("\u00ad", ""))


def printable(text: str) -> str:
    """The same number of characters, with NUL and lone surrogates as U+FFFD."""
    return _UNSAFE.sub("\ufffd", text) if _UNSAFE.search(text) else text


def one_line(text: str) -> str:
    """A name in one line, such as a speaker or a title: line breaks become spaces.

    A leading byte order mark is removed, for a text may begin with the name, and so are characters
    that change the direction of what follows it.
    """
    return _BREAKS.sub(" ", _DIRECTIONS.sub("", printable(text.lstrip("\ufeff"))))


def _marked(path: Path, data: bytes) -> str | None:
    """Text with a byte order mark, or UTF-16 that lost it; None when neither."""
    codec = next((codec for mark, codec in MARKS if data.startswith(mark)), None) or _wide(data)
    if codec is None:
        return None
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        if codec == "utf-8-sig":
            rest = data.removeprefix(codecs.BOM_UTF8)
            return utf8(rest) or _damaged_utf8(rest)
        reason = N_("is %(encoding)s but damaged or cut short", encoding=codec.upper())
        raise UnreadableFile(path, reason, N_("copy it again, or save it as UTF-8")) from None


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of Western text is NUL and the others never are."""
    head = data[:4096]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even == 0 and odd > len(head) // 4:
        return "utf-16-le"
    if odd == 0 and even > len(head) // 4:
        return "utf-16-be"
    return None


def _declared(data: bytes, name: str | None) -> str | None:
    """Text in the encoding that the file names, if that is one we know and it holds."""
    try:
        codec = codecs.lookup(name or "").name
        codec = ALIASES.get(codec, codec)
        return data.decode(codec) if codec in DECLARABLE else None
    except (LookupError, UnicodeDecodeError):
        return None


def utf8(data: bytes) -> str | None:
    """UTF-8 or CESU-8, in which a character beyond the first 65,536 is a pair of surrogates.

    Half a character at the end, as of a file that is being written, is left out, unless it is the
    only one beyond ASCII.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and not data[: error.start].isascii():
            return data[: error.start].decode("utf-8")
        if not _SURROGATE.search(data):
            return None
    try:
        pairs = data.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
        return pairs.decode("utf-16-le", "replace")
    except UnicodeDecodeError:
        return None


def _damaged_utf8(data: bytes) -> str | None:
    """UTF-8 with a rare damaged byte: one in twenty of its characters beyond ASCII, at most."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    sound = len(text) - len(text.encode("ascii", "ignore")) - broken
    return text if sound >= 20 * broken else None


def _mixed(data: bytes) -> str | None:
    """UTF-8 with words in another encoding: files put together from several, or edited in both.

    Each run of bytes beyond ASCII is UTF-8 as a whole, or all of the other encoding. Where most are
    UTF-8, the file is such a mixture, for hardly a run of another encoding is UTF-8 by chance.
    """
    runs = [match.group() for match in _BEYOND_ASCII.finditer(data)]
    strays = [run for run in runs if _is_stray(run)]
    others = sum(map(len, runs)) - sum(map(len, strays))
    if len(runs) - len(strays) < MIXED or others < sum(map(len, strays)):
        return None
    if _damaged_utf8(data) is not None and not all(map(_LETTER.fullmatch, strays)):
        return None
    letters = sum(map(len, strays)) <= 2 * len(strays)  # alone within words, as in Western ones
    single_byte = None if letters else _guess(b"\n".join(strays), SINGLE_BYTE)
    text = single_byte or b"\n".join(strays).decode("cp1252", "replace")
    decoded = iter(text.split("\n"))
    return "".join(
        next(decoded) if _is_stray(piece) else piece.decode("utf-8")
        for piece in re.split(rb"([\x80-\xff]+)", data)
    )


def _few_letters(data: bytes) -> str | None:
    """Western text with a handful of letters beyond ASCII, each alone: too few to guess by."""
    runs = [match.group() for match in _BEYOND_ASCII.finditer(data)]
    return data.decode("cp1252") if len(runs) <= FEW and all(map(_LETTER.fullmatch, runs)) else None


def _is_stray(run: bytes) -> bool:
    try:
        run.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def remarks(path: Path) -> Iterator[PartUnread]:
    """What is doubtful in the text that `decode` gives for a file."""
    data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if utf8(data) is not None or any(data.startswith(mark) for mark, _ in MARKS) or _wide(data):
        return
    if _mixed(data) is not None:
        lines = sum(utf8(line) is None for line in data.split(b"\n"))
        reason = N_(
            "mixes UTF-8 with another encoding, in lines (%(lines)s) that may be misread",
            lines=lines,
        )
        yield PartUnread(path, reason, SAVE_AS_UTF8)
    elif (text := _damaged_utf8(data)) is not None:
        broken = text.count("\ufffd")
        reason = N_("has characters that are damaged (%(count)s, shown as �)", count=broken)
        yield PartUnread(path, reason, SAVE_AS_UTF8)


def _guess(data: bytes, candidates: Sequence[str]) -> str | None:
    """The most plausible encoding in which every byte means something."""
    from charset_normalizer import from_bytes

    telling = b"\n".join(line for line in data.splitlines() if not line.isascii())
    matches = list(from_bytes(telling[:SAMPLE], cp_isolation=list(candidates)))
    matches.sort(key=lambda match: (match.chaos, -match.coherence, _rank(match.encoding)))
    for match in matches:
        try:
            return data.decode(match.encoding)
        except UnicodeDecodeError:
            continue
    return None


def _rank(encoding: str) -> int:
    return CANDIDATES.index(encoding) if encoding in CANDIDATES else len(CANDIDATES)
