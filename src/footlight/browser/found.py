"""The elements of a page that were found, by ids (`element-1`, …) that lead back to them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

__all__ = ["Elements", "KeptElement"]

MOST = 1_000


@dataclass(frozen=True, slots=True)
class KeptElement:
    """`path` leads into the frame it is in, `key` to it there."""

    path: str
    key: str


class Elements:
    """Past the limit those go that were not found for longest. No id is given twice."""

    def __init__(self) -> None:
        self._elements: OrderedDict[str, KeptElement] = OrderedDict()
        self._ids: dict[str, str] = {}
        self._count = 0

    @property
    def ids(self) -> tuple[str, ...]:
        """The one that was found last at the end."""
        return tuple(self._elements)

    def find(self, id: str) -> KeptElement | None:
        return self._elements.get(id)

    def keep(self, element: KeptElement) -> str:
        """Its id: the one it has, or a new one."""
        id = self._ids.get(element.key)
        if id is None:
            self._count += 1
            id = self._ids[element.key] = f"element-{self._count}"
        self._elements[id] = element
        self._elements.move_to_end(id)
        if len(self._elements) > MOST:
            _, oldest = self._elements.popitem(last=False)
            del self._ids[oldest.key]
        return id

    def clear(self) -> None:
        self._elements.clear()
        self._ids.clear()
