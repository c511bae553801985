"""A trie of token sequences: which tokens may follow, when only these may be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    """A node of the trie: a prefix of some sequences.

    Attributes:
        children: By the next token.
        sequences: Numbers of the sequences that end here.
        count: How many sequences end here or below.
    """

    children: dict[int, Node] = field(default_factory=dict)
    sequences: list[int] = field(default_factory=list)
    count: int = 0


class Trie:
    """Token sequences by number; a sequence can be removed again.

    Args:
        sequences: Token ids by the number of the sequence, none of them empty.
    """

    def __init__(self, sequences: Mapping[int, Sequence[int]]) -> None:
        self.root = Node()
        self._sequences = {number: tuple(tokens) for number, tokens in sequences.items()}
        for number, tokens in self._sequences.items():
            node = self.root
            node.count += 1
            for token in tokens:
                node = node.children.setdefault(token, Node())
                node.count += 1
            node.sequences.append(number)

    def remove(self, number: int) -> None:
        """Remove a sequence.

        Raises:
            KeyError: It is not there.
        """
        tokens = self._sequences.pop(number)
        node = self.root
        node.count -= 1
        for token in tokens:
            child = node.children[token]
            child.count -= 1
            if not child.count:
                del node.children[token]
                return
            node = child
        node.sequences.remove(number)

    @staticmethod
    def forced_tokens(node: Node) -> tuple[int, ...]:
        """The tokens that must follow, up to where there is a choice or a sequence ends."""
        tokens: list[int] = []
        while not node.sequences and len(node.children) == 1:
            ((token, node),) = node.children.items()
            tokens.append(token)
        return tuple(tokens)

    @staticmethod
    def descend(node: Node, tokens: Sequence[int]) -> Node:
        """The node after these tokens.

        Raises:
            KeyError: No sequence continues so.
        """
        for token in tokens:
            node = node.children[token]
        return node
