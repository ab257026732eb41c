"""HTML from values that are not trusted: every text is escaped unless it is HTML already."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from footlight.steering import clean, harmless

__all__ = ["Html", "element", "join"]


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *content: object, **attributes: object) -> Html:
    """An element; in attribute names `_` stands for `-`. What is None or False is left out."""
    opening = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    return Html(opening if tag in {"img", "input"} else f"{opening}{join(content)}</{tag}>")


def join(parts: Iterable[object]) -> Html:
    return Html("".join(_as_html(part) for part in parts if part is not None and part is not False))


def _as_html(value: object) -> str:
    """What steers a terminal, and NUL, which HTML cannot have, are spelt out."""
    return value if isinstance(value, Html) else escape(harmless(clean(str(value))))


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = name.strip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_as_html(value)}"'
