"""A rule of the audit, and the finding that it makes of a script's answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from footlight.audit.evidence.scripts import count_of, elements_of
from footlight.audit.findings import Finding, Severity
from footlight.audit.page.page import AuditViewport
from footlight.protocol.untrusted_json import an_object

__all__ = ["WCAG", "Rule", "findings_of"]

WCAG = "https://www.w3.org/WAI/WCAG22/Understanding/"
"""The address of the explanations of WCAG's success criteria."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: `id` is `family/name`, `title` the problem, and `advice` the remedy."""

    id: str
    severity: Severity
    title: str
    advice: str
    help_url: str | None = None
    wcag: Sequence[str] = ()
    """Success criteria of WCAG with their level: `2.1.2 A`."""
    act: Sequence[str] = ()
    """Ids of ACT rules."""

    def finding(
        self, answer: object, view: AuditViewport, how: str, *, severity: Severity | None = None
    ) -> Finding | None:
        """Return the finding, or None if there are no elements. `answer` is from `describeAll` in dom.js."""
        elements = elements_of(answer, view)
        if not elements:
            return None
        return Finding(
            rule=self.id,
            severity=severity or self.severity,
            title=self.title,
            advice=self.advice,
            measured_by=how,
            elements=elements,
            count=count_of(answer),
            help_url=self.help_url,
            wcag=self.wcag,
            act=self.act,
        )


def findings_of(rules: Iterable[Rule], answer: Any, view: AuditViewport, how: str) -> Sequence[Finding]:
    """Return the findings in an answer that has the elements of each rule under the rule's short name."""
    elements = an_object(answer)
    found = (rule.finding(elements.get(rule.id.partition("/")[2]), view, how) for rule in rules)
    return [each for each in found if each is not None]
