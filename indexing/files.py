"""Files and folders into documents. Nothing that a file holds can stop the files after it."""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Document, Extract
from indexing.errors import InvalidRequest, OtherKind, PartUnread, UnreadableFile
from indexing.loaders import LOADERS, Loader
from indexing.loaders.charset import clean, printable
from indexing.text import transcripts

MAX_BYTES = 100 * 1024 * 1024
TITLE = 300  # characters of a title that are kept
SUPPORTED = ", ".join(LOADERS)


@dataclass(frozen=True, slots=True)
class Failure:
    """A file, a folder or a part of a file that gave no document.

    Attributes:
        path: Which, as text that is safe to print.
        reason: What is wrong with it.
        remedy: What to do about it.
        other_kind: Whether the file is sound, and only not of the kind that is read under its
            ending.
        beside_text: Whether it is what the file holds beside its text, and the text was read.
    """

    path: str
    reason: str
    remedy: str
    other_kind: bool = False
    beside_text: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}; {self.remedy}"


# ---- which files ----


def walk(paths: Sequence[Path], *, skipped: Counter[str] | None = None) -> Iterator[Path | Failure]:
    """Every readable file under the paths once, resolved, in the order of names in each folder.

    What a person names is always yielded or reported. Inside of folders, hidden files and folders
    (so a corpus, too) and other kinds of files are skipped, and links that lead out of all
    the paths are reported instead of followed. Nothing is opened but folders.

    Args:
        paths: Files and folders.
        skipped: Counts the files of other kinds by suffix, for a caller that wants to tell.
    """
    counts: Counter[str] = Counter() if skipped is None else skipped
    real = {path: _resolved(path) for path in paths}
    roots = tuple(root for root in real.values() if isinstance(root, Path))
    seen: set[Path] = set()
    for path, root in real.items():
        if isinstance(root, Failure):
            yield root
        elif root.is_dir():
            yield from _under(path, root, roots, seen, counts)
        elif root not in seen:
            seen.add(root)
            yield _refused(root) or root


def _under(
    named: Path, root: Path, roots: tuple[Path, ...], seen: set[Path], counts: Counter[str]
) -> Iterator[Path | Failure]:
    """The files of one folder, depth first, and a failure when it holds none to read."""
    others = counts.total()
    empty = True
    pending = [root]
    while pending:
        here = _inside(pending.pop(), roots)
        if here is None:
            continue
        if isinstance(here, Failure):
            empty = False
            yield here
        elif here in seen:
            empty = False
        elif here.is_dir():
            seen.add(here)
            children = _children(here)
            if isinstance(children, Failure):
                empty = False
                yield children
            else:
                pending.extend(reversed(children))
        elif here.suffix.lower() not in LOADERS:
            counts[here.suffix.lower()] += 1
        else:
            seen.add(here)
            empty = False
            yield _refused(here) or here
    if empty:
        yield nothing_in(named, f"{counts.total() - others} of other kinds")


def nothing_in(folder: Path, what: str) -> Failure:
    """The report of a folder without a file to read, with what there is instead."""
    reason = f"holds no file that can be read ({what})"
    return Failure(_shown(folder), reason, f"add files that end in {SUPPORTED}")


def _inside(path: Path, roots: tuple[Path, ...]) -> Path | Failure | None:
    """The real path of what a folder lists; None for a dead or foreign link of another kind."""
    if not path.is_symlink():
        return path
    real = _resolved(path)
    ours = path.suffix.lower() in LOADERS
    if isinstance(real, Failure):
        return real if ours else None
    if any(real.is_relative_to(root) for root in roots):
        return real
    if not (ours or real.is_dir()):
        return None
    reason = f"is a link that leads out of the folder, to {_shown(real)}"
    return Failure(_shown(path), reason, "name the file or folder it leads to")


def _children(folder: Path) -> list[Path] | Failure:
    """What a folder lists, without hidden names, sorted."""
    try:
        return sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    except OSError as error:
        return _unreachable(folder, error)


def _resolved(path: Path) -> Path | Failure:
    """The real path of something that exists."""
    try:
        return path.resolve(strict=True)
    except FileNotFoundError:
        if path.is_symlink():
            return Failure(_shown(path), "is a link to something that is gone", "remove the link")
        return Failure(_shown(path), "does not exist", "check how the name is spelled")
    except OSError as error:
        return _unreachable(path, error)
    except ValueError:  # a NUL in it
        return Failure(_shown(path), "is no possible name", "check how the name is spelled")
    except RuntimeError:  # a loop of links, an OSError from Python 3.13 on
        return Failure(_shown(path), "is a link that leads back to itself", "remove the link")


def _unreachable(path: Path, error: OSError) -> Failure:
    remedy = (
        "give yourself the right to read it"
        if isinstance(error, PermissionError)
        else ("check the disk, and how the name is spelled")
    )
    return Failure(_shown(path), f"cannot be read ({error.strerror or error})", remedy)


def _refused(path: Path) -> Failure | None:
    """Why a path cannot be a file to read, by its kind and name alone; None when it can."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return _unreachable(path, error)
    if not stat.S_ISREG(mode):
        return Failure(_shown(path), "is not a regular file", "name a file or a folder")
    if path.suffix.lower() not in LOADERS:
        kind = f"ends in {_shown(path.suffix)}" if path.suffix else "has no ending"
        return Failure(_shown(path), f"{kind}, which no loader reads", f"use one of {SUPPORTED}")
    if printable(str(path)) != str(path):
        return Failure(_shown(path), "has a name that is not valid UTF-8", "rename it")
    return None


def _shown(path: object) -> str:
    """A path as text that no terminal stumbles over."""
    text = str(path)
    return (
        text
        if text.isprintable()
        else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    )


# ---- what is in them ----


def read(path: Path, *, max_bytes: int = MAX_BYTES) -> list[Document | Failure]:
    """The documents of one file, and a failure for each part of it that gave none.

    Never raises for what is wrong with the file, and never returns an empty list.

    Args:
        path: A file.
        max_bytes: A larger file is refused.
    """
    file = _resolved(path)
    if isinstance(file, Failure):
        return [file]
    refusal = _refused(file) or _wrong_size(file, max_bytes)
    if refusal is not None:
        return [refusal]
    loader = LOADERS[file.suffix.lower()]
    results = [_document_or_failure(file, loader, each) for each in _extracts(file, loader)]
    return results or [Failure(_shown(file), "holds no document", "remove it")]


def document(text: str, *, name: str, title: str | None = None) -> Document:
    """A document of text that never was a file; a transcript is recognised.

    Args:
        text: The text. Its newlines become line feeds; NUL and lone surrogates become U+FFFD.
        name: Stands for the path: text of the same name replaces this one.
        title: The name to show; `name` when not given.

    Raises:
        InvalidRequest: The text or the name is blank.
    """
    text, name = clean(text), printable(name)
    if not text.strip() or not name.strip():
        raise InvalidRequest("a document needs a name and some text; one of them is blank")
    extract = Extract(
        text, title=printable(title or name), utterances=transcripts.find_utterances(text)
    )
    return _document(name, "text", extract)


def _wrong_size(file: Path, max_bytes: int) -> Failure | None:
    try:
        size = file.stat().st_size
    except OSError as error:
        return _unreachable(file, error)
    if size == 0:
        return Failure(_shown(file), "is empty", "remove it, or fetch it again")
    if size <= max_bytes:
        return None
    mib = 1024 * 1024
    reason = f"is {size / mib:,.1f} MiB, over the limit of {max_bytes / mib:,.1f} MiB"
    return Failure(
        _shown(file), reason, f"split it, or allow it with --max-file-mb {size // mib + 1}"
    )


def _extracts(file: Path, loader: Loader) -> Iterator[Extract | UnreadableFile]:
    """What the loader gives, with every way in which it can break turned into a reason.

    The libraries below it meet damaged files with any exception there is, so all are caught here
    and nowhere else.
    """
    try:
        yield from loader.load(file)
    except UnreadableFile as error:
        yield error
    except MemoryError:
        yield UnreadableFile(file, "needs more memory than there is", "split it")
    except RecursionError:
        yield UnreadableFile(file, "is nested too deeply", "save its text as .txt")
    except OSError as error:
        failure = _unreachable(file, error)
        yield UnreadableFile(file, failure.reason, failure.remedy)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        reason = f"is damaged: it cannot be read as {loader.format} ({said})"
        yield UnreadableFile(file, reason, "open it in its own program and save it again")


def _document_or_failure(
    file: Path, loader: Loader, extract: Extract | UnreadableFile
) -> Document | Failure:
    if isinstance(extract, UnreadableFile):
        return Failure(
            _shown(file),
            printable(extract.reason),
            extract.remedy,
            other_kind=isinstance(extract, OtherKind),
            beside_text=isinstance(extract, PartUnread),
        )
    if not extract.text.strip():
        part = f" in {extract.part}" if extract.part else ""
        return Failure(_shown(file), f"holds no text{part}", "remove it, or fetch it again")
    return _document(file.as_posix(), loader.format, extract)


def _document(path: str, kind: str, extract: Extract) -> Document:
    """The extract with its identity."""
    key = f"{path}\0{extract.part}".encode("utf-8", "surrogateescape")
    return Document(
        id=hashlib.sha256(key).hexdigest()[:12],
        path=path,
        part=extract.part,
        title=extract.title[:TITLE],
        format=kind,
        digest=_digest(extract),
        text=extract.text,
        utterances=extract.utterances,
        pages=extract.pages,
        breaks=extract.breaks,
    )


def _digest(extract: Extract) -> str:
    """SHA-256 of text, utterances and pages as canonical JSON, in hexadecimal.

    Not of the title, which is often the file's name: a renamed file is the same document.
    """
    utterances = [
        [utterance.start, utterance.end, utterance.text_start, utterance.speaker, utterance.time]
        for utterance in extract.utterances
    ]
    pages = [[page.start, page.end, page.number] for page in extract.pages]
    whole = [extract.text, utterances, pages]
    canonical = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
