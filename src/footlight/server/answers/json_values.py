"""Copy values of any type to values that JSON can represent."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, cast

__all__ = ["PageText", "PageTitle", "clean", "count_work"]

CIRCULAR = "[circular]"
CUT = "[cut]"
MAX_VALUES = 1_000_000


class PageText(str):
    """A page's text in an answer. It is sent separately, because it would be much longer quoted in JSON."""

    __slots__ = ()


class PageTitle(str):
    """The title of a page. `own` is the title without the name of the site that the reader knows."""

    own: str

    @classmethod
    def of(cls, title: str, before: str) -> PageTitle:
        """Return a title with what it has not in common with the title of the page before.

        Of "Add author | Library" after "Log in | Library", this is "Add author".
        """
        found = cls(title)
        found.own = title
        for separator in _BEFORE_SITE:
            begin, _, site = title.rpartition(separator)
            if begin and before.endswith(f"{separator}{site}"):
                found.own = begin
            site, _, end = title.partition(separator)
            if end and before.startswith(f"{site}{separator}"):
                found.own = end
        return found

    def map(self, change: Callable[[str], str]) -> PageTitle:
        """Return the title with both texts changed."""
        found = type(self)(change(str(self)))
        found.own = change(self.own)
        return found


_BEFORE_SITE = (" | ", " - ", " – ", " — ", " · ", " • ", ": ")


def clean(value: Any) -> Any:
    """Return a copy that JSON can represent. Lone surrogates, infinities and dates are replaced.

    A circular reference is cut, and so are values after the first million, because objects with shared parts
    can be small in a page but grow exponentially in JSON.
    """
    return _ValueCopier().of(value)


def count_work(value: Any, *, characters: int, most: int = 10_000) -> int:
    """Return the number of nested values, in which each `characters` characters of text count as one more.

    The count stops when it exceeds `most`.
    """
    count = 0
    waiting = [value]
    while waiting and count <= most:
        item = waiting.pop()
        count += 1
        if isinstance(item, str):
            count += len(item) // characters
        elif isinstance(item, Mapping):
            waiting += cast("Mapping[str, Any]", item).values()
        elif isinstance(item, (list, tuple)):
            waiting += cast("Sequence[Any]", item)
    return count


class _ValueCopier:
    """Copies one value."""

    def __init__(self) -> None:
        self._inside: set[int] = set()
        self._left = MAX_VALUES

    def of(self, value: Any) -> Any:
        if isinstance(value, PageText):
            return PageText(_well_formed(value))
        if isinstance(value, str):
            return value if value.isascii() else _well_formed(value)
        if isinstance(value, (Mapping, list, tuple, set)):
            return self._of_container(cast("Mapping[Any, Any] | Sequence[Any]", value))
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, (datetime, date)):
            return value.isoformat()
        return _well_formed(str(value))

    def _of_container(self, value: Mapping[Any, Any] | Sequence[Any]) -> Any:
        if id(value) in self._inside:
            return CIRCULAR
        self._left -= 1 + len(value)
        if self._left < 0:
            return CUT
        self._inside.add(id(value))
        try:
            if isinstance(value, Mapping):
                return {self.of(str(key)): self.of(item) for key, item in value.items()}
            return [self.of(item) for item in value]
        finally:
            self._inside.remove(id(value))


def _well_formed(text: str) -> str:
    """Replace surrogate pairs by their character, and lone surrogates by the replacement character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
