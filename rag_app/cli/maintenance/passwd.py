"""`rag-app passwd`: the file of logins for `rag-app serve --auth-file`, with hashed passwords."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexing.errors import InputError, InvalidRequest
from rag_app.cli.option_types import AnyFile
from rag_app.cli.terminal import count_noun, say
from rag_app.output_file import PRIVATE, put_in_place, writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_app.chat.web.logins import Login


@click.command()
@click.argument("file", type=AnyFile)
@click.argument("user", required=False)
@click.option("--remove", is_flag=True, help="Remove the user from the file.")
@click.option("--hash", "hashes", is_flag=True, help="Hash the passwords that stand in plain text.")
def passwd(file: Path, user: str | None, remove: bool, hashes: bool) -> None:
    """Set the password of USER in FILE, the logins of `rag-app serve --auth-file FILE`.

    The password is asked for, or read from standard input; the file holds its scrypt hash. A server
    that runs knows the change when it is started again. The first person in the file may choose the
    model.
    """
    if hashes == (user is not None) or (remove and user is None):
        raise InvalidRequest("name a user, or use --hash alone: rag-app passwd FILE USER")
    lines = _lines(file)
    if user is None:
        changed, message = _hashed(lines)
    elif remove:
        changed, message = _without(lines, user)
    else:
        changed, message = _with(lines, user, _asked(user))
    _write(file, changed)
    say(message)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8").splitlines() if file.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({error}); check that it is yours") from error


def _login(line: str) -> Login | None:
    """The login of a line; None for a comment or a blank line."""
    from rag_app.chat.web.logins import Logins

    text = line.strip()
    return Logins.parse(text).people[0] if text and not text.startswith("#") else None


def _hashed(lines: Sequence[str]) -> tuple[list[str], str]:
    from rag_app.chat.web.passwords import HashedPassword

    changed, count = [*lines], 0
    for at, login in enumerate(map(_login, lines)):
        if login is not None and isinstance(login.password, str):
            changed[at] = f"{login.user}:{HashedPassword.of(login.password).text}"
            count += 1
    return changed, f"{count_noun(count, 'password')} hashed"


def _without(lines: Sequence[str], user: str) -> tuple[list[str], str]:
    kept = [line for line in lines if (login := _login(line)) is None or login.user != user]
    if len(kept) == len(lines):
        raise InvalidRequest(f"there is no user {user} in the file; look at its lines")
    return kept, f"{user} removed"


def _with(lines: Sequence[str], user: str, password: str) -> tuple[list[str], str]:
    from rag_app.chat.web.logins import NAME_RULE, is_user_name
    from rag_app.chat.web.passwords import HashedPassword

    if not is_user_name(user) or ":" in user or user.startswith("#"):
        raise InvalidRequest(f"{user!r} is no name for a login; {NAME_RULE}, and no colon in it")
    line = f"{user}:{HashedPassword.of(password).text}"
    logins = enumerate(map(_login, lines))
    places = [at for at, login in logins if login is not None and login.user == user]
    changed = [*lines]
    if places:
        changed[places[0]] = line
        return changed, f"password of {user} changed"
    return [*changed, line], f"{user} added"


def _asked(user: str) -> str:
    """The password, from a terminal twice, else a line of standard input."""
    if sys.stdin.isatty():
        password = str(
            click.prompt(f"Password of {user}", hide_input=True, confirmation_prompt=True)
        )
    else:
        password = sys.stdin.readline().rstrip("\n")
    if not password:
        raise InvalidRequest("the password is empty; give one")
    return password


def _write(file: Path, lines: Sequence[str]) -> None:
    """Replace the file at once; only its owner may read it."""
    with writable(file, "name another place"):
        put_in_place(file, "".join(f"{line}\n" for line in lines), mode=PRIVATE)
