"""What was typed into, on its way from the page to a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footlight.knowledge.sanitising import Field

if TYPE_CHECKING:
    from footlight.browser.test_ids import FieldKind

__all__ = ["field_of"]


def field_of(kind: FieldKind) -> Field:
    """What was typed into, in the words of a record."""
    return Field(
        tag=kind.tag,
        type=kind.type,
        autocomplete=kind.autocomplete,
        test_id=kind.test_id,
        name=kind.name,
        hint=kind.hint,
    )
