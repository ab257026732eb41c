"""The sets of collectors, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from footlight.audit.evidence.collector import Collector
from footlight.audit.evidence.collectors import behaviour, console, forms, layout, links, outline
from footlight.audit.evidence.collectors.axe import AxeRules
from footlight.audit.evidence.collectors.behaviour import Behaviour, ChangingText, TextWatch
from footlight.audit.evidence.collectors.console import ConsoleErrors
from footlight.audit.evidence.collectors.focus import FocusOrder
from footlight.audit.evidence.collectors.forms import Forms
from footlight.audit.evidence.collectors.layout import Layout
from footlight.audit.evidence.collectors.links import Links
from footlight.audit.evidence.collectors.outline import Outline
from footlight.audit.evidence.collectors.photograph import Photograph
from footlight.audit.evidence.collectors.shortcuts import CharacterShortcuts
from footlight.audit.evidence.collectors.speed import LayoutShift, Speed
from footlight.audit.evidence.rule import Rule

__all__ = ["PRESSING", "find_collector", "passive_collectors", "standard_collectors"]

PRESSING = (FocusOrder, CharacterShortcuts)
"""Collectors whose keys can change the address of the page."""


def standard_collectors() -> Sequence[Collector]:
    """Return the collectors in the order in which they run: those that change the page run last."""
    speed, *others = passive_collectors(renders=True)
    return (speed, TextWatch(), *others, ChangingText(), FocusOrder(), Photograph(), CharacterShortcuts())


def passive_collectors(*, renders: bool = False) -> Sequence[Collector]:
    """Return the collectors that only read the page, and neither press keys in it nor scroll it.

    With `renders`, targets of links that are made by scripts are compared in hidden frames.
    """
    return (
        Speed(),
        ConsoleErrors(),
        Behaviour(),
        Outline(),
        AxeRules(),
        Forms(),
        Links(renders=renders),
        Layout(),
        LayoutShift(),
    )


def find_collector(rule: str) -> Collector | None:
    """Return the collector that measures this rule alone and at once, or None.

    Speed is measured while a page loads, and the focus order by pressing Tab.
    """
    family, _, name = rule.partition("/")
    if family == "axe":
        return AxeRules(rule=name)
    make, rules = _BY_FAMILY.get(family, (None, ()))
    return make() if make and any(each.id == rule for each in rules) else None


_BY_FAMILY: Mapping[str, tuple[Callable[[], Collector], Sequence[Rule]]] = {
    "console": (ConsoleErrors, console.RULES),
    "forms": (Forms, forms.RULES),
    "layout": (Layout, layout.RULES),
    "links": (Links, links.RULES),
    "outline": (Outline, (*outline.RULES, outline.PAGE_LANGUAGE, outline.PART_LANGUAGE)),
    "page": (Behaviour, behaviour.RULES),
}
