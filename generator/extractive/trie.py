"""A trie over token sequences: what may be written next, when only these may be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    """A place in the trie.

    Attributes:
        children: By the next token.
        ends: Numbers of the sequences that end here.
        below: How many sequences end here or further on.
    """

    children: dict[int, Node] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)
    below: int = 0


class Trie:
    """Token sequences by number; a sequence can be taken out again.

    Args:
        sequences: Token ids by the number of the sequence, none of them empty.
    """

    def __init__(self, sequences: Mapping[int, Sequence[int]]) -> None:
        self.root = Node()
        self._sequences = {number: tuple(tokens) for number, tokens in sequences.items()}
        for number, tokens in self._sequences.items():
            node = self.root
            node.below += 1
            for token in tokens:
                node = node.children.setdefault(token, Node())
                node.below += 1
            node.ends.append(number)

    def remove(self, number: int) -> None:
        """Take a sequence out.

        Raises:
            KeyError: It is not there.
        """
        tokens = self._sequences.pop(number)
        node = self.root
        node.below -= 1
        for token in tokens:
            child = node.children[token]
            child.below -= 1
            if not child.below:
                del node.children[token]
                return
            node = child
        node.ends.remove(number)

    def rest(self, node: Node) -> tuple[int, ...]:
        """The tokens that must follow, up to where there is a choice or a sequence ends."""
        tokens: list[int] = []
        while not node.ends and len(node.children) == 1:
            ((token, node),) = node.children.items()
            tokens.append(token)
        return tuple(tokens)

    @staticmethod
    def walk(node: Node, tokens: Sequence[int]) -> Node:
        """The place after these tokens.

        Raises:
            KeyError: No sequence goes on like this.
        """
        for token in tokens:
            node = node.children[token]
        return node
