"""Ids of elements that were found in a page (`element-1`, …), which can be resolved to the elements."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

__all__ = ["ElementIds", "KeptElement"]

MAX_ELEMENTS = 1_000


@dataclass(frozen=True, slots=True)
class KeptElement:
    """An element with an id. `path` leads to its frame, and `key` finds it in that frame."""

    path: str
    key: str


class ElementIds:
    """Gives ids to elements. The least recently found elements are dropped. No id is reused."""

    def __init__(self) -> None:
        self._elements: OrderedDict[str, KeptElement] = OrderedDict()
        self._ids: dict[str, str] = {}
        self._count = 0

    @property
    def ids(self) -> tuple[str, ...]:
        """The known ids, most recently found last."""
        return tuple(self._elements)

    def find(self, id: str) -> KeptElement | None:
        return self._elements.get(id)

    def keep(self, element: KeptElement) -> str:
        """Return the id of an element, and create one if it has none."""
        id = self._ids.get(element.key)
        if id is None:
            self._count += 1
            id = self._ids[element.key] = f"element-{self._count}"
        self._elements[id] = element
        self._elements.move_to_end(id)
        if len(self._elements) > MAX_ELEMENTS:
            _, oldest = self._elements.popitem(last=False)
            del self._ids[oldest.key]
        return id

    def clear(self) -> None:
        self._elements.clear()
        self._ids.clear()
