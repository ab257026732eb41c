"""Build the scripts of the collectors, and read their answers, which a page can forge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from footlight.audit.findings import Element, ElementBox, Fact, Skipped, Topic
from footlight.audit.page.page import AuditViewport
from footlight.audit.page.page_text import shorten
from footlight.javascript import join_modules
from footlight.protocol.untrusted_json import an_object, integer, items, number, text

__all__ = ["bare_script", "boxes_of", "count_of", "elements_of", "facts_of", "find_failed_rules", "script"]

MAX_ELEMENTS = 10
MAX_TEXT_LENGTH = 300
MAX_FACT_LENGTH = 600


@cache
def script(*names: str, before: str = "") -> str:
    """Return a function of these modules and `dom.js` that answers with `answer()`; `before` runs first."""
    return _function(("dom", *names), before)


@cache
def bare_script(name: str, before: str = "") -> str:
    """Return a function of this module alone, which relies on nothing that a page can change."""
    return _function((name,), before)


def _function(names: Sequence[str], before: str) -> str:
    """Return a function that is async, because the server would first try any other without side effects.

    It is no arrow function: engines parse those once more when they are called, and axe-core is long.
    """
    code = join_modules(files("footlight.audit.evidence") / "javascript", names)
    return f"async function () {{\n{before}\n{code}return answer();\n}}"


def elements_of(answer: object, view: AuditViewport) -> Sequence[Element]:
    """Return the elements that `describeAll` in dom.js described."""
    return tuple(
        _read_element(an_object(each), view)
        for each in items(an_object(answer).get("elements"))[:MAX_ELEMENTS]
    )


def count_of(answer: object) -> int:
    """Return how many elements there are; the answer describes the first of them."""
    described = an_object(answer)
    return integer(described.get("count")) or len(items(described.get("elements")))


def boxes_of(answer: object) -> Mapping[int, ElementBox]:
    """Return the boxes of the elements that are still on the page, by their handles."""
    boxes = enumerate(items(an_object(answer).get("boxes")))
    return {handle: box for handle, value in boxes if (box := _read_box(value)) is not None}


def find_failed_rules(answer: object, collector: str) -> Sequence[Skipped]:
    """Return the rules of a collector that failed on this page."""
    failed = (an_object(each) for each in items(an_object(answer).get("failed")))
    return [
        Skipped(what=f"{collector}: the rule {_read_text(each.get('rule'))}", why=_read_text(each.get("why")))
        for each in failed
    ]


def facts_of(answer: object, topic: Topic) -> Sequence[Fact]:
    """Return the facts that the script reported."""
    texts = (text(each) for each in items(an_object(answer).get("facts")))
    return [Fact(topic=topic, text=_shorten_fact(fact)) for fact in texts if fact]


def _shorten_fact(fact: str) -> str:
    return fact if len(fact) <= MAX_FACT_LENGTH else f"{fact[: MAX_FACT_LENGTH - 1]}…"


def _read_element(described: Any, view: AuditViewport) -> Element:
    return Element(
        selector=_read_text(described.get("selector")),
        html=_read_text(described.get("html")),
        text=_read_text(described.get("text")),
        note=shorten(text(described.get("note")) or "", MAX_TEXT_LENGTH),
        box=_read_box(described.get("box")),
        width=view.width,
        handle=integer(described.get("handle")),
    )


def _read_box(value: object) -> ElementBox | None:
    box = an_object(value)
    sides = [number(box.get(side)) for side in ("x", "y", "width", "height")]
    return ElementBox(*(side for side in sides if side is not None)) if None not in sides else None


def _read_text(value: object) -> str:
    return (text(value) or "")[:MAX_TEXT_LENGTH]
