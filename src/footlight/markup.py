"""HTML from values that are not trusted: every text is escaped unless it is HTML already."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from footlight.safe_text import escape_control_characters, replace_surrogates

__all__ = ["Html", "element", "join"]


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *content: object, **attributes: object) -> Html:
    """Return an element. `_` in attribute names stands for `-`. Values that are None or False are left
    out.
    """
    opening = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    return Html(opening if tag in {"img", "input"} else f"{opening}{join(content)}</{tag}>")


def join(parts: Iterable[object]) -> Html:
    return Html("".join(_as_html(part) for part in parts if part is not None and part is not False))


def _as_html(value: object) -> str:
    """Escape a value. Control characters are escaped too, because HTML cannot contain NUL."""
    return (
        value
        if isinstance(value, Html)
        else escape(escape_control_characters(replace_surrogates(str(value))))
    )


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = name.strip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_as_html(value)}"'
