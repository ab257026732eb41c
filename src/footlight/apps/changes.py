"""What is different between two looks at an app, so that an action can tell what it led to. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from footlight.apps.discovery import TrimmedNode
from footlight.apps.observing import Look

__all__ = ["Changes", "changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Of nodes by the element that they are; `removed` and the test ids that are `gone` are as they were."""

    added: Sequence[TrimmedNode]
    changed: Sequence[TrimmedNode]
    removed: Sequence[TrimmedNode]
    come: Sequence[str]
    gone: Sequence[str]

    @property
    def any(self) -> bool:
        return bool(self.added or self.changed or self.removed or self.come or self.gone)


def changes(before: Look | None, after: Look) -> Changes:
    """All is new where there was no look before."""
    was = {node.element: node for node in before.nodes} if before else {}
    now = {node.element: node for node in after.nodes}
    had = Counter(each.test_id for each in before.test_ids) if before else Counter[str]()
    has = Counter(each.test_id for each in after.test_ids)
    return Changes(
        added=[node for node in after.nodes if node.element not in was],
        changed=[node for node in after.nodes if _differs(was.get(node.element), node)],
        removed=[node for element, node in was.items() if element not in now],
        come=[*(has - had)],
        gone=[*(had - has)],
    )


def _differs(was: TrimmedNode | None, now: TrimmedNode) -> bool:
    """Where it is told by another path alone it is the same."""
    return was is not None and was.told("") | {"path": []} != now.told("") | {"path": []}
