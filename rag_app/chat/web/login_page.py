"""The page on which people log in; it is whole in itself, as nothing else is answered before."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse

from rag_app.chat.language.current import gettext, speak_to
from rag_app.chat.page.html import render

PATH, OUT, WHO = "/login", "/logout", "/session"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of the form before.

    Attributes:
        user: The name that was given.
        wrong: Whether it came with a wrong password.
        wait: Seconds until another password is looked at.
    """

    user: str = ""
    wrong: bool = False
    wait: int = 0

    @property
    def message(self) -> str:
        """What is said of it."""
        if self.wait:
            return gettext(
                "Too many wrong passwords. Try again in %(seconds)s s.", seconds=self.wait
            )
        return gettext("The name or the password is wrong.") if self.wrong else ""


def login_page(headers: Headers, path: str, attempt: Attempt | None = None) -> HTMLResponse:
    """The form, in the language of whoever asks; its status is 401, or 429 where they have to wait.

    Args:
        headers: Of the request.
        path: Its path; the form is sent to the server's root from there.
        attempt: What came of the form before.
    """
    attempt = attempt or Attempt()
    language = speak_to(headers)
    action = "../" * max(path.count("/") - 1, 0) + PATH[1:]
    body = render("login.html", language=language.code, action=action, attempt=attempt)
    more = {"Cache-Control": "no-store", "Vary": "Accept-Language, Cookie"}
    if attempt.wait:
        more["Retry-After"] = str(attempt.wait)
    return HTMLResponse(body, 429 if attempt.wait else 401, more)
