"""Check a proof of rag-app: `python check_proof.py PROOF ORIGINAL...`, which needs Python alone.

An ORIGINAL is a text (a file, or what `rag-app show` prints of a PDF), a corpus.sqlite, or a folder
of them. Exit status: 0 if the proof is as it was written and its quotes stand there, else 1.
"""

import json
import sqlite3
import sys
from hashlib import sha256
from html import escape
from pathlib import Path

HEADS = ("", "ce3ea8eed7969a541a39dd56cdf68babbb7069ae765d2a37cd052cc0f7924c29")
MARK, END = '\n<script type="application/json" id="proof">', "</script></body></html>\n"


def show(value: object, name: str = "") -> str:
    """A value as HTML under its name: all of it but what is empty."""
    if isinstance(value, dict):
        within = "".join(show(one, key) for key, one in value.items())
    else:
        within = "".join(map(show, value)) if isinstance(value, list) else escape(str(value))
    return within and f'<div class="{escape(name)}"><b>{escape(name)}</b>{within}</div>'


def faults(file: bytes, texts: dict[str, str]) -> list[str]:
    """What is wrong with a proof, by the texts of the originals under their SHA-256."""
    head, _, body = file.decode().rpartition("<body>")
    proof = json.loads(body.rpartition(MARK)[2].removesuffix(END))
    data = json.dumps(proof, indent=1).replace("<", "\\u003c")
    same = body == (show(proof) + MARK + data + END if head else data)
    known = not head or sha256(head.encode()).hexdigest() in HEADS
    sealed = proof.pop("seal") == sha256(json.dumps(proof).encode()).hexdigest()
    wrong = [] if known and same and sealed else ["it is not as it was written"]
    sums = {one["document"]: one["sha256"] for one in proof["documents"]}
    for one in proof["citations"] + proof["closest"]:
        words, first = (
            one["before"] + one["quote"] + one["after"],
            one["start"] - len(one["before"]),
        )
        stands = texts.get(sums[one["document"]], "").startswith(words, max(first, 0))
        if not stands or first < 0 or one["end"] - one["start"] != len(one["quote"]):
            wrong.append(f"not in the originals at {one['start']!r}: {one['quote']!r}")
    return wrong


if __name__ == "__main__":
    try:
        paths = [each for name in sys.argv[2:] for each in (Path(name), *Path(name).rglob("*"))]
        found = [path.read_text("utf-8-sig", errors="replace") for path in paths if path.is_file()]
        for path in (one for one in paths if one.suffix == ".sqlite"):
            found += [row[0] for row in sqlite3.connect(path).execute("SELECT text FROM documents")]
        both = (text for one in found for text in (one, one.removesuffix("\n")))
        texts = {sha256(text.encode()).hexdigest(): text for text in both}
        wrong = faults(Path(sys.argv[1]).read_bytes(), texts)
    except Exception as error:
        wrong = [f"it cannot be checked: {error!r}"]
    print("\n".join(wrong) or "as it was written, and all its quotes stand in the originals")
    sys.exit(bool(wrong))
