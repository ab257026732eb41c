"""Planted faults: pages with one thing wrong, each beside its clean twin. By topic, in order."""

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
