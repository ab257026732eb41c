"""Fill the HTML templates of the shop. Text is escaped unless it is `Html`."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from footlight.markup import Html, element, join

__all__ = ["page", "rows", "static"]

_PAGES = files("footlight.demo.shop").joinpath("pages")


def page(name: str, /, **values: object) -> Html:
    """Return the template of this name with its values filled in."""
    return Html(_template(name).substitute({key: join([value]) for key, value in values.items()}))


def rows(cells: Iterable[Sequence[object]]) -> Html:
    """Return table rows of plain cells."""
    return join(element("tr", *(element("td", cell) for cell in row)) for row in cells)


def static(name: str) -> bytes:
    """Return a static file."""
    return _PAGES.joinpath(name).read_bytes()


@cache
def _template(name: str) -> Template:
    return Template(_PAGES.joinpath(f"{name}.html").read_text("utf-8"))
