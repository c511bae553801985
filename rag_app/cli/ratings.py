"""`rag-app ratings`."""

from __future__ import annotations

from pathlib import Path

import click

from rag_app.cli.option_types import AnyFile
from rag_app.cli.options import open_corpus, with_corpus
from rag_app.cli.terminal import count_noun, say, say_json
from rag_app.output_file import writable


@click.command()
@with_corpus
@click.option("--login", metavar="NAME", help="Only what this person rated.  [default: everybody]")
@click.option("--out", "file", type=AnyFile, help="Write into this file.  [default: print]")
def ratings(folder: Path, login: str | None, file: Path | None) -> None:
    """Write the answers that were rated on the page as a question file, JSON lines.

    `rag-app evaluate answers --data FILE --corpus FOLDER` measures answers with it. A line of an
    answer that was found bad is left out there until its "answer" says what is right.
    """
    from rag_app.chat.application import CHATS
    from rag_app.chat.conversation_store import ConversationStore, login_key
    from rag_app.chat.ratings import question_lines

    if not (folder / CHATS).is_dir():
        with open_corpus(folder) as corpus, corpus.reading():
            pass  # there is one, of which nothing was asked on the page
    store = ConversationStore(folder / CHATS)
    conversations = store.everybody() if login is None else store.all(login_key(login))
    lines = list(question_lines(conversations))
    if file is None:
        for line in lines:
            say_json(line)
    else:
        with writable(file, "name another file"):
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    say(count_noun(len(lines), "rated answer"), error=True)
