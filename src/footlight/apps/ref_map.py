"""The refs `e1`, `e2`, … that a caller was told, and the elements that they stand for.

They are given anew by each whole look (R002-15, R002-16). What is told between two such looks keeps the refs
of what was known, and new elements get the next numbers: no ref ever changes what it stands for meanwhile.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from footlight.apps.discovery import TrimmedNode

__all__ = ["RefMap"]


class RefMap:
    """Of one page: a ref that was told of another page stands for nothing here."""

    def __init__(self) -> None:
        self._elements: dict[str, str] = {}
        self._refs: dict[str, str] = {}

    def renumbered(self, nodes: Sequence[TrimmedNode]) -> list[dict[str, Any]]:
        """As they are told by a whole look."""
        self._elements, self._refs = {}, {}
        return self.told(nodes)

    def told(self, nodes: Iterable[TrimmedNode]) -> list[dict[str, Any]]:
        """As they are told in between."""
        return [node.told(self._ref(node.element)) for node in nodes]

    def recorded(self, nodes: Iterable[TrimmedNode]) -> list[dict[str, Any]]:
        """As they are written down: those that nobody was told of have the next refs, which lead nowhere."""
        following = itertools.count(len(self._elements) + 1)
        return [node.told(self._refs.get(node.element) or f"e{next(following)}") for node in nodes]

    def find(self, ref: str) -> str | None:
        """The element's ref in the engine."""
        return self._elements.get(ref)

    def _ref(self, element: str) -> str:
        ref = self._refs.get(element)
        if ref is None:
            ref = self._refs[element] = f"e{len(self._elements) + 1}"
            self._elements[ref] = element
        return ref
