"""The files under the paths that a person names. Only folders are opened."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from indexing.errors import UnreadableFile
from indexing.loaders import LOADERS, PICTURES
from indexing.loaders.charset import printable
from indexing.message import N_

SUPPORTED = ", ".join(LOADERS)
IN_FOLDERS = ", ".join(suffix for suffix in LOADERS if suffix not in PICTURES)
SHOWN = 1000  # characters of a path in a message

CORPUS_FILE = "corpus.sqlite"
"""The file by which the folder of a corpus is known."""
ALIAS_FILE = "aliases.json"
"""The file in it that holds names with their other spellings."""

_LOCKS = frozenset({"write.lock", "write.lock.holder", "write.tickets", "index.lock"})
OF_A_CORPUS = _LOCKS | {
    ALIAS_FILE,
    CORPUS_FILE,
    f"{CORPUS_FILE}-shm",
    f"{CORPUS_FILE}-wal",
    "uploads",
}
"""What the folder of a corpus shows beside hidden names; its uploads are in the corpus already."""

_GONE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))


@dataclass(frozen=True, slots=True)
class Failure:
    """A file, a folder or a part of a file that gave no document."""

    path: str  # which, as text that is safe to print
    reason: str  # what is wrong with it
    remedy: str  # what to do about it
    # whether the file is sound, and only not of the kind that is read under its ending
    other_kind: bool = False
    # whether it is what the file holds beside its text, and the text was read
    beside_text: bool = False

    def __str__(self) -> str:
        return str(UnreadableFile(self.path, self.reason, self.remedy))


def walk(
    paths: Sequence[Path], *, skipped: Counter[str] | None = None, pictures: bool = False
) -> Iterator[Path | Failure]:
    """Every readable file under the paths once, resolved, in the order of names in each folder.

    What a person names is always yielded or reported. Inside of folders, hidden files and folders,
    what a corpus is made of, and other kinds of files are skipped, and links that lead out of all
    the paths are reported instead of followed, as is what may not be entered.

    Args:
        paths: Files and folders.
        skipped: Counts the files of other kinds by suffix, for a caller that wants to tell.
        pictures: Whether pictures in folders are among the files to read; named ones are.
    """
    counts: Counter[str] = Counter() if skipped is None else skipped
    real = {path: resolved(path) for path in paths}
    roots = tuple(root for root in real.values() if isinstance(root, Path))
    seen: set[Path] = set()
    suffixes = LOADERS.keys() if pictures else LOADERS.keys() - PICTURES
    scope = _Scope(roots, suffixes)
    for path, root in real.items():
        if isinstance(root, Failure):
            yield root
        elif is_folder(root):
            yield from _under(path, root, scope, seen, counts)
        elif root not in seen:
            seen.add(root)
            yield refusal(root) or root


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where links may lead, and what is read in folders."""

    roots: tuple[Path, ...]
    suffixes: Set[str]


def _under(
    named: Path, root: Path, scope: _Scope, seen: set[Path], counts: Counter[str]
) -> Iterator[Path | Failure]:
    """The files of one folder, depth first, and a failure when it holds none to read."""
    others = counts.total()
    empty = True
    pending = [(root, False)]
    while pending:
        path, regular = pending.pop()
        here = path if regular else _inside(path, scope)
        if here is None:
            continue
        if isinstance(here, Failure):
            empty = False
            yield here
        elif here in seen:
            empty = False
        elif not regular and is_folder(here):
            seen.add(here)
            children = _children(here)
            if isinstance(children, Failure):
                empty = False
                yield children
            else:
                pending.extend(reversed(children))
        elif here.suffix.lower() not in scope.suffixes:
            counts[here.suffix.lower()] += 1
        else:
            seen.add(here)
            empty = False
            yield (_misnamed(here) if regular else refusal(here)) or here
    if empty:
        yield nothing_in(named, f"{counts.total() - others} of other kinds")


def nothing_in(folder: Path, what: str) -> Failure:
    """The report of a folder without a file to read, with what there is instead."""
    reason = N_("holds no file that can be read (%(error)s)", error=what)
    remedy = N_(
        "add files that end in %(suffixes)s, or read pictures with --ocr rapidocr",
        suffixes=IN_FOLDERS,
    )
    return Failure(shown(folder), reason, remedy)


def _inside(path: Path, scope: _Scope) -> Path | Failure | None:
    """The real path of what a folder lists; None for a dead or foreign link of another kind."""
    try:
        is_link = stat.S_ISLNK(path.lstat().st_mode)
    except OSError as error:  # it may have gone since the folder was listed
        return None if isinstance(error, FileNotFoundError) else unreachable(path, error)
    if not is_link:
        return path
    real = resolved(path)
    ours = path.suffix.lower() in scope.suffixes
    if isinstance(real, Failure):
        return real if ours else None
    if any(real.is_relative_to(root) for root in scope.roots):
        return real
    if not (ours or is_folder(real)):
        return None
    reason = N_("is a link that leads out of the folder, to %(path)s", path=shown(real))
    return Failure(shown(path), reason, N_("name the file or folder it leads to"))


def _children(folder: Path) -> list[tuple[Path, bool]] | Failure:
    """What a folder lists, without hidden names, sorted; a failure when it may not be entered.

    Each with whether it is surely a regular file, which the list says and nobody needs to look.
    What makes a folder a corpus is left out.
    """
    try:
        with os.scandir(folder) as entries:
            listed = [
                (each.name, each.is_file(follow_symlinks=False))
                for each in entries
                if not each.name.startswith(".")
            ]
        if any(name == CORPUS_FILE for name, _ in listed):
            listed = [each for each in listed if each[0] not in OF_A_CORPUS]
        children = [(folder / name, regular) for name, regular in sorted(listed)]
        if children:
            children[0][0].lstat()
    except FileNotFoundError:  # between listing and now
        return []
    except OSError as error:
        return unreachable(folder, error)
    return children


def resolved(path: Path) -> Path | Failure:
    """The real path of something that exists."""
    try:
        return path.resolve(strict=True)
    except FileNotFoundError:
        if _is_link(path):
            return Failure(
                shown(path), N_("is a link to something that is gone"), N_("remove the link")
            )
        return Failure(shown(path), N_("does not exist"), N_("check how the name is spelled"))
    except OSError as error:
        return unreachable(path, error)
    except ValueError:  # a NUL in it
        return Failure(shown(path), N_("is no possible name"), N_("check how the name is spelled"))
    except RuntimeError:  # a loop of links, an OSError from Python 3.13 on
        return Failure(
            shown(path), N_("is a link that leads back to itself"), N_("remove the link")
        )


def unreachable(path: Path, error: OSError) -> Failure:
    """The report of what the system does not let us look at."""
    refused = UnreadableFile.by_system(path, error)
    return Failure(shown(path), refused.reason, refused.remedy)


def refusal(path: Path) -> Failure | None:
    """Why a path cannot be a file to read, by its kind and name alone; None when it can."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return unreachable(path, error)
    if not stat.S_ISREG(mode):
        return Failure(shown(path), N_("is not a regular file"), N_("name a file or a folder"))
    return _misnamed(path)


def _misnamed(path: Path) -> Failure | None:
    """Why a regular file cannot be one to read, by its name alone."""
    if path.suffix.lower() not in LOADERS:
        ending = N_("ends in %(suffix)s", suffix=shown(path.suffix))
        kind = ending if path.suffix else N_("has no ending")
        reason = N_("%(kind)s, which no loader reads", kind=kind)
        return Failure(shown(path), reason, N_("use one of %(suffixes)s", suffixes=SUPPORTED))
    if printable(str(path)) != str(path):
        return Failure(shown(path), N_("has a name that is not valid UTF-8"), N_("rename it"))
    return None


def is_folder(path: Path) -> bool:
    """Whether it is a folder; what may not be looked at is none."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def is_gone(path: str) -> bool:
    """Whether a file is no longer where it was.

    What never was a file is not gone, and neither is one whose folder may not be entered.
    """
    if not Path(path).is_absolute():
        return False
    try:
        Path(path).stat()
    except OSError as error:
        return error.errno in _GONE
    except ValueError:
        return False
    return False


def shown(path: object) -> str:
    """A path as text that no terminal stumbles over, without the middle of a very long one."""
    text = str(path)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}...{text[-SHOWN // 4 :]}"


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return False
