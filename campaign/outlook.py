"""Mails as Outlook saves them, which no library writes: a compound file (MS-CFB, version 3)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime

Tree = dict[str, "bytes | Tree"]

SECTOR, MINI, CUTOFF = 512, 64, 4096
END, FREE, FAT, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


@dataclass
class _Entry:
    name: str
    kind: int  # 1 storage, 2 stream, 5 root
    data: bytes = b""
    right: int = NONE
    child: int = NONE
    start: int = END


@dataclass
class _File:
    sectors: list[bytes] = field(default_factory=list)
    fat: list[int] = field(default_factory=list)

    def add(self, data: bytes, size: int = SECTOR) -> int:
        """Append a chain of sectors; its first."""
        if not data:
            return END
        first = len(self.sectors)
        pieces = [data[at : at + size].ljust(size, b"\0") for at in range(0, len(data), size)]
        self.sectors += pieces
        self.fat += [*range(first + 1, first + len(pieces)), END]
        return first


def _entries(tree: Tree) -> list[_Entry]:
    entries = [_Entry("Root Entry", 5)]
    pending: list[tuple[int, Tree]] = [(0, tree)]
    while pending:
        parent, inside = pending.pop()
        before = NONE
        for name, content in inside.items():
            here = len(entries)
            if isinstance(content, bytes):
                entries.append(_Entry(name, 2, content))
            else:
                entries.append(_Entry(name, 1))
                pending.append((here, content))
            if before == NONE:
                entries[parent].child = here
            else:
                entries[before].right = here
            before = here
    return entries


def compound_file(tree: Tree) -> bytes:
    """The bytes of a file of streams and storages."""
    entries, mini, file = _entries(tree), _File(), _File()
    for entry in entries:
        if entry.kind == 2:
            small = len(entry.data) < CUTOFF
            entry.start = (mini if small else file).add(entry.data, MINI if small else SECTOR)
    entries[0].data = b"".join(mini.sectors)
    entries[0].start = file.add(entries[0].data)
    minifat = struct.pack(f"<{len(mini.fat)}I", *mini.fat)
    minifat = minifat.ljust(-(-len(minifat) // SECTOR) * SECTOR, b"\xff")
    minifat_start, minifat_count = file.add(minifat), len(minifat) // SECTOR
    directory = file.add(b"".join(map(_packed, entries)))
    count = 1
    while count * 128 < len(file.fat) + count:
        count += 1
    places = range(len(file.sectors), len(file.sectors) + count)
    fat = file.fat + [FAT] * count
    fat += [FREE] * (count * 128 - len(fat))
    file.sectors.append(struct.pack(f"<{len(fat)}I", *fat))
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        *(0x3E, 3, 0xFFFE, 9, 6),
        *(0, count, directory, 0, CUTOFF),
        *(minifat_start, minifat_count, END, 0),
        places[0],
    )
    header += struct.pack(f"<{108}I", *[*places[1:], *[FREE] * (109 - count)])
    return header + b"".join(file.sectors)


def _packed(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16xI8x8xIII",
        name,
        *(len(name), entry.kind, 1, NONE, entry.right, entry.child),
        *(0, entry.start, len(entry.data), 0),
    )


def _properties(values: dict[int, object], header: bytes) -> Tree:
    """A properties stream (MS-OXMSG, 2.4) and the streams that it refers to."""
    tree: Tree = {}
    rows = b""
    for pid, value in values.items():
        if isinstance(value, int):
            rows += struct.pack("<HHIq", 3, pid, 6, value)
        elif isinstance(value, datetime):
            passed = value - datetime(1601, 1, 1, tzinfo=UTC)
            rows += struct.pack("<HHIq", 0x40, pid, 6, int(passed.total_seconds() * 10**7))
        else:
            kind = 0x1F if isinstance(value, str) else 0x102
            data = value.encode("utf-16-le") if isinstance(value, str) else value
            assert isinstance(data, bytes)
            tree[f"__substg1.0_{pid:04X}{kind:04X}"] = data
            rows += struct.pack("<HHIq", kind, pid, 6, len(data))
    return tree | {"__properties_version1.0": header + rows}


def mail(  # noqa: PLR0913 - the fields of a mail
    *,
    sender: tuple[str, str],
    to: tuple[str, str],
    date: datetime,
    subject: str,
    body: str = "",
    html: bytes = b"",
    files: dict[str, bytes] | None = None,
    mails: dict[str, Tree] | None = None,
    kind: str = "IPM.Note",
    inner: bool = False,
) -> Tree:
    """The streams and storages of a mail with one recipient."""
    values: dict[int, object] = {
        0x001A: kind,
        0x0037: subject,
        0x0039: date,
        0x0C1A: sender[0],
        0x0C1F: sender[1],
    }
    values |= {0x1000: body} if body else {}
    values |= {0x1013: html} if html else {}
    counts = struct.pack("<8x4I", 1, 0, 1, 0) + (b"" if inner else bytes(8))
    tree = _properties(values, counts)
    recipient: dict[int, object] = {0x0C15: 1, 0x3001: to[0], 0x39FE: to[1]}
    tree["__recip_version1.0_#00000000"] = _properties(recipient, bytes(8))
    for name, data in (files or {}).items():
        held: dict[int, object] = {0x3701: data, 0x3705: 1, 0x3707: name}
        tree[f"__attach_version1.0_#{len(tree):08X}"] = _properties(held, bytes(8))
    for name, one in (mails or {}).items():
        attached = _properties({0x3705: 5, 0x3707: name}, bytes(8))
        tree[f"__attach_version1.0_#{len(tree):08X}"] = attached | {"__substg1.0_3701000D": one}
    return tree
