"""The page on which people log in; it is whole in itself, as nothing else is answered before."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse

from rag_app.chat.language.current import gettext, speak_to
from rag_app.chat.page.html import render
from rag_app.chat.web.identity import Identity

PATH, OUT, WHO = "/login", "/logout", "/session"


def login_page(headers: Headers, path: str, identity: Identity, *, user: str = "") -> HTMLResponse:
    """The form, in the language of whoever asks; its status is 401, or 429 where they have to wait.

    It is sent to the server's root from the path of the request. The identity says what came of a
    login before, for which the name of a user was given.
    """
    language = speak_to(headers)
    action = "../" * max(path.count("/") - 1, 0) + PATH[1:]
    more = {"Cache-Control": "no-store", "Vary": "Accept-Language, Cookie"}
    message = gettext("The name or the password is wrong.") if identity.wrong else ""
    if wait := identity.wait:
        message = gettext("Too many wrong passwords. Try again in %(seconds)s s.", seconds=wait)
        more["Retry-After"] = str(wait)
    body = render("login.html", language=language.code, action=action, user=user, message=message)
    return HTMLResponse(body, 429 if wait else 401, more)
