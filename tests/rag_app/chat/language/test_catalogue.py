"""Every message of the page has a translation, and nothing that the page says is no message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from jinja2 import Environment, nodes

from rag_app.chat.language.catalogue import ENGLISH, LANGUAGES, catalogue, messages_of, translations

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "rag_app" / "chat" / "page"
MEASURED = ROOT / "rag_app" / "laboratory" / "page"
KEYWORDS = {**DEFAULT_KEYWORDS, "label": None, "_n": (1, 2)}
TRANSLATED = [code for code in LANGUAGES if code != ENGLISH]
PLACES = re.compile(r"%\(\w+\)s")


@pytest.fixture(scope="module")
def said() -> Catalog:
    """What the page says, read from its sources as CONTRIBUTING.md does."""
    with (ROOT / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    found = Catalog()
    for name, _, message, _, _ in extract_from_dir(ROOT, methods, options, KEYWORDS):
        found.add(message, locations=[(name, 0)])
    return found


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_message_is_translated_and_no_other(code: str, said: Catalog) -> None:
    have = {message.id: message for message in catalogue(code) if message.id}
    wanted = {message.id: message for message in said if message.id}
    assert have.keys() == wanted.keys()
    for id_, message in have.items():
        assert not message.fuzzy, id_
        used_in = {name for name, _ in wanted[id_].locations}
        assert {name for name, _ in message.locations} == used_in, id_
        ids = [id_] if isinstance(id_, str) else list(id_)
        forms = [message.string] if isinstance(message.string, str) else list(message.string or ())
        assert len(forms) == (1 if isinstance(id_, str) else catalogue(code).num_plurals), id_
        for at, form in enumerate(forms):
            english = ids[min(at, len(ids) - 1)]
            assert form.strip(), id_
            left_out = {"%(error)s"}  # what a library says, in English, may be
            assert {*PLACES.findall(form)} ^ {*PLACES.findall(english)} <= left_out, id_


def test_a_message_without_a_translation_stays_english() -> None:
    said = translations(TRANSLATED[0])
    assert said.gettext("nobody ever says this") == "nobody ever says this"
    assert said.ngettext("%(num)s heron", "%(num)s herons", 2) == "%(num)s herons"
    assert translations(ENGLISH).gettext("Close") == "Close"


def test_scripts_are_given_what_they_say_and_no_more() -> None:
    assert messages_of(ENGLISH, ".js") == {}
    given = messages_of("de", ".js")
    assert given["Not found"] == "Nicht gefunden"
    assert "How it was answered" not in given
    plural = given["%(num)s file of an unsupported type skipped"]
    assert isinstance(plural, list) and len(plural) == 2


# What stands in the HTML without being said in a language.
EXAMPLES = {"*.vtt", "2026-03", "2026-03-14", "Ada, Bob", "Aoife", "Eefa"}
NAMES = {"rag-app", "MS-PoE", "Ms-PoE", "SmolLM", "models", "http", "vtt"}


def _literals(source: str) -> Iterator[str]:
    """The words that a template writes without `_`: between its tags, and in what people hear."""
    html = ""
    for node in Environment().parse(source).find_all(nodes.Output):
        html += "".join(
            part.data if isinstance(part, nodes.TemplateData) else "\x00" for part in node.nodes
        )
    html = re.sub(r"(?s)<style>.*?</style>", "", html)
    for name in ("aria-label", "title", "alt", "placeholder"):
        yield from re.findall(rf'\b{name}="([^"]*)"', html)
    yield from re.sub(r"<[^>]*>", "\n", html).split("\n")


def test_templates_say_nothing_that_is_no_message() -> None:
    templates = [*(PAGE / "templates").glob("*.html"), *(MEASURED / "templates").glob("*.html")]
    for template in sorted(templates):
        for text in map(unescape, _literals(template.read_text())):
            words = re.findall(r"[A-Za-z]{2,}[\w-]*", text)
            if "://" in text or text.startswith("/models"):
                continue  # an example of an address or a path
            assert not set(words) - NAMES, (template.name, text)


def test_messages_are_where_babel_finds_them() -> None:
    for file in [*(ROOT / "rag_app" / "chat").rglob("*.py"), *MEASURED.rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.JoinedStr):  # which it does not look into
                called = {getattr(one, "id", "") for one in ast.walk(node)}
                assert not called & {"gettext", "ngettext", "label", "N_"}, (file, node.lineno)


def test_components_and_scripts_say_nothing_that_is_no_message() -> None:
    heard = {"label", "placeholder", "info"}
    views = [PAGE / "layout.py", *(PAGE / "views").glob("*.py"), MEASURED / "evaluation_view.py"]
    for file in views:
        for call in ast.walk(ast.parse(file.read_text())):
            for keyword in call.keywords if isinstance(call, ast.Call) else ():
                value = keyword.value
                if keyword.arg in heard and isinstance(value, ast.Constant):
                    assert value.value in EXAMPLES, file
    for script in sorted((PAGE / "static").glob("*.js")):
        text = re.sub(r"(?m)^\s*//.*$", "", script.read_text())
        plain = r'(?:textContent[:=]|aria-label",|\.alt =|title[:=]|tell\(|done\()\s*["`](?=[A-Z])'
        assert not re.search(plain, text), script.name
