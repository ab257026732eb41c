"""Planted faults: pages with one fault each, and the same pages without it, in a module for each topic."""

from __future__ import annotations

from collections.abc import Sequence

from tests.audit.faults import behaviour, console, focus, forms, layout, links, names, speed, structure
from tests.audit.faults.fault import Fault

__all__ = ["FAULTS"]

FAULTS: Sequence[Fault] = (
    *structure.FAULTS,
    *names.FAULTS,
    *forms.FAULTS,
    *links.FAULTS,
    *focus.FAULTS,
    *layout.FAULTS,
    *speed.FAULTS,
    *console.FAULTS,
    *behaviour.FAULTS,
)
