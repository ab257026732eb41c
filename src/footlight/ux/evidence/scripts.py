"""The scripts of the evidence, and what they answer, read without trust: a page can answer for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from footlight.client.loose import an_object, integer, items, number, text
from footlight.ux.findings import Box, Element, Fact, Topic
from footlight.ux.page import View

__all__ = ["count_of", "elements_of", "facts_of", "script"]

MOST_ELEMENTS = 10
LONGEST_TEXT = 300
LONGEST_FACT = 600


@cache
def script(*names: str, before: str = "") -> str:
    """The bodies of files, as a function that may await, below `dom.js`; `before` runs first of all."""
    sources = "\n".join(_source(name) for name in ("dom", *names))
    return f"async () => {{\n{before}\n{sources}\n}}"


def elements_of(answer: object, view: View) -> Sequence[Element]:
    """What `described` made of them."""
    return tuple(
        _element(an_object(each), view) for each in items(an_object(answer).get("elements"))[:MOST_ELEMENTS]
    )


def count_of(answer: object) -> int:
    """How many there are, of which the first are told."""
    told = an_object(answer)
    return integer(told.get("count")) or len(items(told.get("elements")))


def facts_of(answer: object, topic: Topic) -> Sequence[Fact]:
    """What the script says is so, in its own words."""
    told = (text(each) for each in items(an_object(answer).get("facts")))
    return [Fact(topic=topic, text=_fitting(fact)) for fact in told if fact]


def _fitting(fact: str) -> str:
    return fact if len(fact) <= LONGEST_FACT else f"{fact[: LONGEST_FACT - 1]}…"


def _source(name: str) -> str:
    return files("footlight.ux.evidence").joinpath(f"{name}.js").read_text("utf-8")


def _element(told: Any, view: View) -> Element:
    box = an_object(told.get("box"))
    sides = [number(box.get(side)) for side in ("x", "y", "width", "height")]
    return Element(
        selector=_cut(told.get("selector")),
        html=_cut(told.get("html")),
        text=_cut(told.get("text")),
        note=_cut(told.get("note")),
        box=Box(*(side for side in sides if side is not None)) if None not in sides else None,
        width=view.width,
    )


def _cut(value: object) -> str:
    return (text(value) or "")[:LONGEST_TEXT]
