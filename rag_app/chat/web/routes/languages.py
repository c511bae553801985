"""The language of the page: GET /words.js, what its scripts say.

Gradio takes the language of the browser. So that another can be chosen, the page loads `words.js`
before anything of Gradio's, which then finds that language there.
"""

from __future__ import annotations

import json

from fastapi import FastAPI, Request, Response

from rag_app.chat.language.catalogue import messages_of, plural_rule
from rag_app.chat.language.current import COOKIE, language_of

PATH = "/words.js"
HEADERS = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
_WORDS = """"use strict";
const ragAppLanguage = {value};
ragAppLanguage.form = (n) => Number({plural});
Object.defineProperty(navigator, "language", {{ get: () => ragAppLanguage.code }});
"""


def add(web: FastAPI) -> None:
    """Answer with what the scripts say in the language of whoever asks."""

    async def words(request: Request) -> Response:
        language = language_of(request.headers)
        value = {
            "code": language.code,
            "locale": language.locale.replace("_", "-"),
            "cookie": COOKIE,
            "messages": messages_of(language.code, ".js"),
        }
        words = json.dumps(value, ensure_ascii=True)
        script = _WORDS.format(value=words, plural=plural_rule(language.code))
        return Response(script, media_type="text/javascript", headers=HEADERS)

    web.add_api_route(PATH, words, methods=["GET"], response_model=None)
