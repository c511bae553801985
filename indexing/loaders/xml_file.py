"""XML, parsed without expanding entities or fetching anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexing.errors import UnreadableFile
from indexing.loaders.magic import refuse_other_kind
from indexing.message import N_

Element = Any  # an lxml element; lxml carries no types


def root_of(path: Path) -> Element:
    """The root of an XML file.

    Raises:
        UnreadableFile: It is no XML, damaged, nested too deeply, or declares entities.
    """
    data = path.read_bytes()
    refuse_other_kind(path, data, "XML")
    try:
        root = parse(data)
    except (SyntaxError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        remedy = N_("open it in the program that wrote it and save it again")
        raise UnreadableFile(
            path, N_("is not well-formed XML (%(error)s)", error=reason), remedy
        ) from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        remedy = N_("remove its DOCTYPE, or save it without")
        raise UnreadableFile(path, N_("declares entities, which are not expanded"), remedy)
    return root


def parse(data: bytes) -> Element:
    """The root of XML.

    Raises:
        SyntaxError: It is none, damaged, or nested too deeply.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)


def name_of(element: Element) -> str:
    """The tag without its namespace; "" for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def nearest(element: Element, name: str) -> Iterator[Element]:
    """The elements of a name below one, in order, but for those within one of them."""
    pending = list(reversed(element))
    while pending:
        child = pending.pop()
        if name_of(child) == name:
            yield child
        else:
            pending.extend(reversed(child))
