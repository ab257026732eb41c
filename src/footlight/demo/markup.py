"""HTML from values: every text is escaped unless it is HTML already."""

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

__all__ = ["Html", "element", "join", "page", "rows", "static"]

_PAGES = files("footlight.demo").joinpath("pages")
_VOID = frozenset({"input"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def page(name: str, /, **values: object) -> Html:
    """The page of this name, with its values in place."""
    return Html(_template(name).substitute({key: _as_html(value) for key, value in values.items()}))


def element(tag: str, /, *content: object, **attributes: object) -> Html:
    """An element; in attribute names `_` stands for `-`, a False or None attribute is left out."""
    opening = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    return Html(opening if tag in _VOID else f"{opening}{join(content)}</{tag}>")


def join(parts: Iterable[object]) -> Html:
    """Parts one after the other."""
    return Html("".join(map(_as_html, parts)))


def rows(cells: Iterable[Sequence[object]]) -> Html:
    """Table rows of plain cells."""
    return join(element("tr", *(element("td", cell) for cell in row)) for row in cells)


def _as_html(value: object) -> Html:
    """A value as HTML."""
    return value if isinstance(value, Html) else Html(escape(str(value)))


def static(name: str) -> bytes:
    """A file that is served as it is."""
    return _PAGES.joinpath(name).read_bytes()


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = name.strip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_as_html(value)}"'


@cache
def _template(name: str) -> Template:
    return Template(_PAGES.joinpath(f"{name}.html").read_text("utf-8"))
