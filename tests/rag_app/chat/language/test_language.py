"""A language is one folder: a toy language that is put there is spoken, by scripts too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[4]
SKIPPED = "%(num)s file of an unsupported type skipped"
MANY = "%(num)s files of an unsupported type skipped"
TOY = rf"""
msgid ""
msgstr ""
"Language: pl\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : "
"n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);\n"
"Content-Type: text/plain; charset=utf-8\n"

#: rag_app/chat/page/static/documents.js
msgid "Not found"
msgstr "Nullo"

#: indexing/documents.py
msgid "page %(number)s"
msgstr "pago %(number)s"

#: rag_app/chat/page/static/uploads.js
msgid "{SKIPPED}"
msgid_plural "{MANY}"
msgstr[0] "%(num)s uno"
msgstr[1] "%(num)s duo"
msgstr[2] "%(num)s multo"
"""
PROGRAM = f"""
import json
from fastapi import FastAPI
from starlette.testclient import TestClient
from rag_app.chat.language.catalogue import LANGUAGES
from rag_app.chat.language.current import gettext, ngettext, speak_to
from indexing.documents import Page
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.web.routes import languages
from rag_app.chat.welcome.candidates import TEMPLATES

polish = {{"accept-language": "pl"}}
web = FastAPI()
languages.add(web)
words = TestClient(web).get("/words.js", headers=polish).text
speak_to(polish)
numbers = [ngettext({SKIPPED!r}, {MANY!r}, number) for number in (1, 3, 12)]
said = [gettext("Not found"), gettext("Close"), translated(Page(0, 9, 12).place), *numbers]
print(json.dumps([LANGUAGES, said, words, [*TEMPLATES]]))
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], list[str], str]:
    """The languages, what Python says in the toy language, and the script with its words.

    The program is the one here, but for a folder beside that of German.
    """
    root = tmp_path_factory.mktemp("toy")
    language = root / "rag_app" / "chat" / "language"
    language.mkdir(parents=True)
    for folder in (language, language.parent, language.parent.parent):
        for entry in (ROOT / folder.relative_to(root)).iterdir():
            if not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)
    (language / "pl").mkdir()
    (language / "pl" / "messages.po").write_text(TOY)
    (language / "pl" / "__init__.py").touch()
    shutil.copy(language / "en" / "questions.py", language / "pl")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(root)},
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    languages, said, words, templates = json.loads(ran.stdout)
    assert templates == [*languages]  # of suggested questions
    return languages, said, words


def test_it_is_offered_and_spoken(toy: tuple[dict[str, str], list[str], str]) -> None:
    languages, said, _ = toy
    assert languages == {"en": "English", "de": "Deutsch", "pl": "Polski"}
    assert said == ["Nullo", "Close", "pago 12", "1 uno", "3 duo", "12 multo"]


def test_scripts_speak_it(browser: Browser, toy: tuple[dict[str, str], list[str], str]) -> None:
    page = browser.new_page()
    script = ROOT / "rag_app" / "chat" / "page" / "static" / "language.js"
    page.add_script_tag(content=toy[2])
    page.add_script_tag(content=script.read_text())
    assert page.evaluate("[gettext('Not found'), gettext('Close')]") == ["Nullo", "Close"]
    count = "([one, many]) => [1, 3, 12].map((number) => ngettext(one, many, number))"
    assert page.evaluate(count, [SKIPPED, MANY]) == ["1 uno", "3 duo", "12 multo"]
    unknown = page.evaluate(count, ["%(num)s heron", "%(num)s herons"])
    assert unknown == ["1 heron", "3 herons", "12 herons"]
    page.close()
