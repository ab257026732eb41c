"""A rule of ours, and the finding that it makes of what a script told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from footlight.client.loose import an_object
from footlight.ux.evidence.scripts import count_of, elements_of
from footlight.ux.findings import Finding, Severity
from footlight.ux.page import View

__all__ = ["WCAG", "Rule", "findings_of"]

WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"
"""What each criterion is for, and how to meet it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`id` is `family/name`, `title` what is wrong for the reader, `advice` what to do about it."""

    id: str
    severity: Severity
    title: str
    advice: str
    help_url: str | None = None

    def finding(
        self, told: object, view: View, how: str, *, severity: Severity | None = None
    ) -> Finding | None:
        """None where there is no such element. `told` is what `described` made of them."""
        elements = elements_of(told, view)
        if not elements:
            return None
        return Finding(
            rule=self.id,
            severity=severity or self.severity,
            title=self.title,
            advice=self.advice,
            measured_by=how,
            elements=elements,
            count=count_of(told),
            help_url=self.help_url,
        )


def findings_of(rules: Iterable[Rule], answer: Any, view: View, how: str) -> Sequence[Finding]:
    """Of a script that answers with the elements of each rule, by the rule's name without its family."""
    told = an_object(answer)
    found = (rule.finding(told.get(rule.id.partition("/")[2]), view, how) for rule in rules)
    return [each for each in found if each is not None]
