"""Passwords are kept as scrypt hashes, and a file in plain text can be moved to them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rag_app.chat.web.logins import Logins
from rag_app.chat.web.passwords import HashedPassword
from rag_app.cli.main import main


def run(*words: str, given: str = "") -> Result:
    return CliRunner().invoke(main, ["passwd", *words], input=given)


def test_a_hash_is_of_its_password_alone_and_never_twice_the_same() -> None:
    one, two = HashedPassword.of("päss:word"), HashedPassword.of("päss:word")
    assert one.text != two.text and "word" not in one.text
    assert one.matches("päss:word".encode()) and two.matches("päss:word".encode())
    assert not one.matches(b"pass:word") and not one.matches(b"")
    assert HashedPassword.parse(one.text) == one


def test_the_hash_is_scrypts() -> None:
    """A test vector of RFC 7914, section 12, with its parameters."""
    digest = bytes.fromhex(
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    )
    salt, text = (base64.b64encode(one).decode().rstrip("=") for one in (b"SodiumChloride", digest))
    hashed = HashedPassword.parse(f"$scrypt$ln=14,r=8,p=1${salt}${text}")
    assert hashed is not None and hashed.matches(b"pleaseletmein")
    assert not hashed.matches(b"pleaseletmeout")


@pytest.mark.parametrize(
    "text",
    ["secret", "$scrypt$", "$scrypt$ln=30,r=8,p=1$c2FsdHNhbHQ$" + "A" * 43, "$argon2id$v=19$x$y"],
)
def test_what_is_no_hash_of_ours_is_a_password(text: str) -> None:
    assert HashedPassword.parse(text) is None
    logins = Logins.parse(f"ann:{text}")
    assert logins.user(f"ann:{text}".encode()) == "ann" and logins.plain == ("ann",)


def test_hashed_and_plain_logins_stand_side_by_side() -> None:
    logins = Logins.parse(f"ann:{HashedPassword.of('one').text}\nbob:two")
    assert logins.plain == ("bob",) and logins.users == ("ann", "bob")
    for _ in range(2):
        assert logins.user(b"ann:one") == "ann" and logins.user(b"bob:two") == "bob"
        for wrong in (b"ann:two", b"ann:", b"eve:one", b"", f"ann:{'x' * 5000}".encode()):
            assert logins.user(wrong) is None and logins.known(wrong) is None
    assert logins.known(b"ann:one") == "ann"
    hash_itself = logins.people[0].password
    assert isinstance(hash_itself, HashedPassword)
    assert logins.user(f"ann:{hash_itself.text}".encode()) is None


def test_the_command_writes_changes_and_removes(tmp_path: Path) -> None:
    file = tmp_path / "logins"
    assert run(str(file), "ann", given="one\n").output.endswith("ann added\n")
    assert run(str(file), "bob", given="two\n").exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600 and "one" not in file.read_text().split(":")[1][:5]
    logins = Logins.parse(file.read_text())
    assert logins.user(b"ann:one") == "ann" and logins.plain == ()
    assert "changed" in run(str(file), "ann", given="new\n").output
    assert Logins.parse(file.read_text()).users == ("ann", "bob")  # ann, who is first, stays it
    assert Logins.parse(file.read_text()).user(b"ann:new") == "ann"
    assert "bob removed" in run(str(file), "bob", "--remove").output
    assert Logins.parse(file.read_text()).users == ("ann",)
    assert [each.name for each in tmp_path.iterdir()] == ["logins"]


def test_a_file_in_plain_text_is_hashed_in_place(tmp_path: Path) -> None:
    file = tmp_path / "logins"
    file.write_text("# the team\nann:one\n\nbob: t:wo\n")
    assert run(str(file), "--hash").output == "2 passwords hashed\n"
    text = file.read_text()
    assert text.startswith("# the team\nann:$scrypt$") and "t:wo" not in text
    logins = Logins.parse(text)
    assert logins.user(b"ann:one") == "ann" and logins.user(b"bob: t:wo") == "bob"
    assert run(str(file), "--hash").output == "0 passwords hashed\n" and file.read_text() == text


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        ([], "", "name a user"),
        (["--remove"], "", "name a user"),
        (["ann", "--hash"], "", "name a user"),
        (["a:b"], "x\n", "no name for a login"),
        (["ann"], "\n", "password is empty"),
        (["eve", "--remove"], "", "no user eve"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], given: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "logins"
    file.write_text("bob:two\n")
    result = run(str(file), *words, given=given)
    assert result.exit_code == 1 and said in result.output
    assert file.read_text() == "bob:two\n"
