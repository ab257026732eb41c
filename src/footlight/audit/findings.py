"""Findings and facts about a page, with the way each was found. Values only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from footlight.figures import join_with_and

__all__ = [
    "SEVERITIES",
    "Element",
    "ElementBox",
    "Evidence",
    "EvidencePicture",
    "Fact",
    "Finding",
    "PageMove",
    "ScreenPicture",
    "Severity",
    "Skipped",
    "Source",
    "Topic",
    "count_severities",
    "describe_counts",
]

Severity = Literal["critical", "high", "medium", "low"]
"""The worst first: blocks the reader; causes great difficulty; slows the reader down; is a nuisance."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

Source = Literal["measured", "judged"]
"""`measured`: by code. `judged`: by a model, from evidence that it cites."""

Topic = Literal["outline", "focus", "forms", "links", "speed", "layout", "console", "page"]


@dataclass(frozen=True, slots=True)
class ElementBox:
    """A box in CSS pixels, relative to the top left corner of the page."""

    x: float
    y: float
    width: float
    height: float

    def to_dict(self) -> dict[str, float]:
        return {"x": self.x, "y": self.y, "width": self.width, "height": self.height}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePicture:
    """An image file with its size in pixels."""

    data: bytes = field(repr=False)
    width: int
    height: int
    type: Literal["png", "jpeg"] = "jpeg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An element that a finding is about.

    `note` is what was measured about it: `contrast 2.32:1, needed 4.5:1`. `width` is the viewport's
    in CSS pixels, to which `box` belongs. `ref` is the server's ref and ends with its session.
    """

    selector: str
    html: str = ""
    text: str = ""
    note: str = ""
    box: ElementBox | None = None
    width: int | None = None
    ref: str | None = None
    line: int | None = None
    """The line in the source of the page in which its tag begins, if that is certain. Counted from 1."""
    column: int | None = None
    handle: int | None = field(default=None, compare=False)
    """Its number in the page while the page is measured."""
    picture: EvidencePicture | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values without the ref, which ends with its session, and the picture."""
        return {
            "selector": self.selector,
            "html": self.html,
            "text": self.text,
            "note": self.note,
            "viewportWidth": self.width,
            "box": self.box and self.box.to_dict(),
            **({} if self.line is None else {"line": self.line, "column": self.column}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem, with the elements that have it.

    `rule` is `family/name`: `axe/image-alt`, `layout/overflow`, `judged/wording`. `id` is unique on its page
    (`F3`) and assigned when everything is measured. `count` is the number of elements, of which `elements`
    has the first. `measured_by` says how the finding was made.
    """

    rule: str
    severity: Severity
    title: str
    advice: str
    measured_by: str
    elements: Sequence[Element] = ()
    count: int = 0
    help_url: str | None = None
    wcag: Sequence[str] = ()
    """The success criteria of WCAG that it fails, with their level: `2.1.2 A`."""
    act: Sequence[str] = ()
    """The ids of the ACT rules that it is about."""
    source: Source = "measured"
    id: str = ""
    persona: str | None = None
    cites: Sequence[str] = ()
    """The ids of the evidence, for a judged finding."""

    @property
    def is_only_aaa(self) -> bool:
        """Return whether all success criteria that it fails are of level AAA, which few pages aim at."""
        return bool(self.wcag) and all(each.endswith(" AAA") for each in self.wcag)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "severity": self.severity,
            "source": self.source,
            "id": self.id,
            "title": self.title,
            "advice": self.advice,
            "measuredBy": self.measured_by,
            "helpUrl": self.help_url,
            "wcag": [*self.wcag],
            "act": [*self.act],
            "persona": self.persona,
            "cites": [*self.cites],
            "count": self.count,
            "elements": [each.to_dict() for each in self.elements],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A neutral observation: the headings, the focus order, the page weight. `id` is like `P2`."""

    topic: Topic
    text: str
    id: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"id": self.id, "topic": self.topic, "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenPicture:
    """The first screen of the page at a viewport of this width."""

    width: int
    picture: EvidencePicture
    marked: bool = False
    """Whether elements with findings are framed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of the work that was not done, with the reason."""

    what: str
    why: str

    def to_dict(self) -> dict[str, str]:
        return {"what": self.what, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMove:
    """The page was replaced by another one without interaction: by a script or a meta refresh."""

    from_url: str
    to_url: str

    def to_dict(self) -> dict[str, str]:
        return {"from": self.from_url, "to": self.to_url}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that was measured on one page. `url` is the final URL after redirects."""

    url: str
    status: int | None
    title: str
    server: str
    """The name and version of the server that controlled the browser."""
    axe_version: str | None
    widths: Sequence[int]
    started_ms: int
    """Milliseconds since 1970."""
    duration_ms: int
    findings: Sequence[Finding] = ()
    facts: Sequence[Fact] = ()
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    """`lcp_ms`, `fcp_ms`, `ttfb_ms`, `cls`, `blocking_ms`, `load_ms`, `requests`, `transferred_bytes`, …"""
    screenshots: Sequence[ScreenPicture] = ()
    skipped: Sequence[Skipped] = ()
    to_check: Sequence[Finding] = ()
    """What code could not decide, with ids like `C1`: to check by hand. Not counted as findings."""
    moves: Sequence[PageMove] = ()


def count_severities(findings: Iterable[Finding]) -> Mapping[Severity, int]:
    """Return the number of findings of each of the four severities, the worst first."""
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in SEVERITIES}


def describe_counts(counts: Mapping[Severity, int]) -> str:
    """Return the counts in words: `2 critical and 1 low finding`, or `no findings`."""
    parts = [f"{count:,} {severity}" for severity, count in counts.items() if count]
    if not parts:
        return "no findings"
    return f"{join_with_and(parts)} finding{'' if sum(counts.values()) == 1 else 's'}"
