"""What happens when a person uses the lists of uploads, collections and documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import gradio as gr

from indexing.errors import RagAppError
from indexing.filter import Scope
from indexing.store.view import DocumentEntry
from rag_app.chat.application import Application
from rag_app.chat.language.current import gettext, speak_to
from rag_app.chat.page import html as view
from rag_app.chat.page.browser_state import Browser, Updates, own, value_of
from rag_app.chat.welcome.samples import add_samples

POLL_SECONDS = 0.4  # between looks at uploaded files in progress


class DocumentHandlers:
    """Event handlers; each returns new values for the components it is connected to."""

    def __init__(self, app: Application) -> None:
        self.app = app

    def selection(self, browser: Browser) -> tuple[str, ...]:
        """Ids of the documents that are ticked, of those in the collections that are asked."""
        return self.app.document_list.select(
            browser.get("chosen"), browser["person"], self.collections(browser)
        )

    def collections(self, browser: Browser) -> tuple[str, ...]:
        """Names of the collections that are ticked."""
        return self.app.collection_list.select(browser.get("collections"), browser["person"])

    def _lists(self, browser: Browser) -> Updates:
        """The collections, and the documents of those that are ticked."""
        person, ticked = browser["person"], self.collections(browser)
        collections = self.app.collection_list.entries(person)
        listed = self.app.document_list.entries(person, ticked)
        chosen, named = self.selection(browser), len(collections) > 1
        return (
            view.collections(
                collections, ticked, person, documents=len(listed), chosen=len(chosen)
            ),
            view.documents(listed, chosen, named=named, limited=bool(ticked)),
        )

    def files(self, browser: Browser, notice: str = "") -> Updates:
        """Uploaded files, the lists of collections and documents, and a notice."""
        uploads = self.app.ingest_queue.of(browser["person"])
        return (view.uploads(uploads), *self._lists(browser), notice)

    async def watch(self, browser: Browser, request: gr.Request) -> AsyncIterator[Updates]:
        """Show uploaded files until all are indexed."""
        browser = own(self.app, browser, request)
        before: Updates = ()
        busy = True
        while busy:
            busy = self.app.ingest_queue.is_busy(browser["person"])
            now = await asyncio.to_thread(self.files, browser)
            yield tuple(
                each if number >= len(before) or each != before[number] else gr.skip()
                for number, each in enumerate(now)
            )
            before = now
            if busy:
                await asyncio.sleep(POLL_SECONDS)

    def latest(self, person: str | None) -> DocumentEntry | None:
        """The document that was added last of those that a person may see."""
        listed = self.app.document_list.entries(person)
        return listed[-1].entry if listed else None

    async def add_samples(self, browser: Browser, request: gr.Request) -> Updates:
        """Queue the sample documents, as if they had been dropped on the page."""
        browser, notice = own(self.app, browser, request), ""
        try:
            await add_samples(self.app.uploads, self.app.ingest_queue, browser["person"])
        except RagAppError as error:
            notice = view.failure(error)
        return await asyncio.to_thread(self.files, browser, notice)

    def _after(self, browser: Browser, change: Callable[[], object]) -> Updates:
        """The files and lists after a change, or why it cannot be made."""
        notice = ""
        try:
            change()
        except RagAppError as error:
            notice = view.failure(error)
        return self.files(browser, notice)

    def upload_change(self, change: Callable[[str, str | None], None]) -> Callable[..., Updates]:
        """A handler that does something with the upload that an event is about."""

        def handle(browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
            browser = own(self.app, browser, request)
            change(str(value_of(event)), browser["person"])
            return self.files(browser)

        return handle

    def clear(self, browser: Browser, request: gr.Request) -> Updates:
        """Clear the list of uploads of what is over."""
        browser = own(self.app, browser, request)
        self.app.ingest_queue.clear(browser["person"])
        return self.files(browser)

    def select(self, name: str) -> Callable[..., Updates]:
        """A handler that keeps what is ticked in the browser, under a name."""

        def handle(browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
            value = value_of(event)
            values = value if isinstance(value, list) else []
            ticked = [one for one in values if isinstance(one, str)]
            browser = {**own(self.app, browser, request), name: ticked}
            return browser, *self._lists(browser)

        return handle

    def collect(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Make a collection of the documents that are ticked, or put them into one's own."""
        browser = own(self.app, browser, request)
        ids, name = self.selection(browser), str(value_of(event))
        collect = self.app.document_list.collect
        return self._after(browser, lambda: collect(ids, name, browser["person"]))

    def share(self, shared: bool) -> Callable[..., Updates]:
        """A handler that lets everybody read a collection, or nobody else."""

        def handle(browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
            browser, name = own(self.app, browser, request), str(value_of(event))
            share = self.app.collection_list.share
            return self._after(browser, lambda: share(name, browser["person"], shared=shared))

        return handle

    def weigh_removal(self, browser: Browser, event: gr.EventData, request: gr.Request) -> str:
        """Whom it concerns that a document is removed."""
        browser = own(self.app, browser, request)
        id_, person = str(value_of(event)), browser["person"]
        listed = {one.entry.id: one.entry.title for one in self.app.document_list.entries(person)}
        text = id_ in listed and self.app.removal_notices.text(id_, person, browser["key"])
        if not text:
            return ""
        return view.notice(
            gettext("%(title)s: %(what)s Press again to remove it.", title=listed[id_], what=text)
        )

    def overview(self, event: gr.EventData, request: gr.Request) -> Updates:
        """The overview of a document."""
        speak_to(request.headers)
        corpus = self.app.corpus.seen_by(Scope(request.username))
        try:
            return view.overview(corpus.overview(str(value_of(event)))), ""
        except RagAppError as error:
            return gr.skip(), view.failure(error)

    def remove(self, browser: Browser, event: gr.EventData, request: gr.Request) -> Updates:
        """Remove a document."""
        browser, id_ = own(self.app, browser, request), str(value_of(event))
        remove = self.app.document_list.remove
        return browser, *self._after(browser, lambda: remove(id_, browser["person"]))
