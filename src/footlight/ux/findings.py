"""What is wrong on a page: findings, how each was found, and what to do. Values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

__all__ = [
    "SEVERITIES",
    "Box",
    "Element",
    "Evidence",
    "Fact",
    "Finding",
    "Picture",
    "Screenshot",
    "Severity",
    "Skipped",
    "Source",
    "Topic",
]

Severity = Literal["critical", "high", "medium", "low"]
"""Of the worst first: a reader cannot go on; goes on with great trouble; is held up; is annoyed."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

Source = Literal["measured", "judged"]
"""`measured`: by code, the same each time. `judged`: by a model, from evidence that it cites."""

Topic = Literal["outline", "focus", "forms", "links", "speed", "layout", "console", "page"]


@dataclass(frozen=True, slots=True)
class Box:
    """In CSS pixels, from the top left corner of the page."""

    x: float
    y: float
    width: float
    height: float

    def to_dict(self) -> dict[str, float]:
        return {"x": self.x, "y": self.y, "width": self.width, "height": self.height}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image file, and its size in pixels."""

    data: bytes = field(repr=False)
    width: int
    height: int
    type: Literal["png", "jpeg"] = "jpeg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An element that a finding is about.

    `note` is what was measured of this one: `contrast 2.32:1, needed 4.5:1`. `width` is that of the viewport
    in CSS pixels, to which `box` belongs. `ref` is the server's, and lives as long as its session.
    """

    selector: str
    html: str = ""
    text: str = ""
    note: str = ""
    box: Box | None = None
    width: int | None = None
    ref: str | None = None
    picture: Picture | None = None

    def to_dict(self) -> dict[str, Any]:
        """Without its ref, which ends with its session, and its picture."""
        return {
            "selector": self.selector,
            "html": self.html,
            "text": self.text,
            "note": self.note,
            "viewportWidth": self.width,
            "box": self.box and self.box.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, with the elements where it is.

    `rule` is `family/name`: `axe/image-alt`, `layout/overflow`, `judged/wording`. `id` is unique on its page
    (`F3`) and given when all are collected. `count` is how many elements it is about, of which `elements`
    has the first. `measured_by` says how, for whoever wants to do it again.
    """

    rule: str
    severity: Severity
    title: str
    advice: str
    measured_by: str
    elements: Sequence[Element] = ()
    count: int = 0
    help_url: str | None = None
    source: Source = "measured"
    id: str = ""
    persona: str | None = None
    cites: Sequence[str] = ()
    """Of a judged one: ids of the evidence for it."""

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
            "persona": self.persona,
            "cites": [*self.cites],
            "count": self.count,
            "elements": [each.to_dict() for each in self.elements],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that is so, and is not wrong: the headings, the order of Tab, the weight. `id` as `P2`."""

    topic: Topic
    text: str
    id: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"id": self.id, "topic": self.topic, "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """What is visible first, at a viewport of this width."""

    width: int
    picture: Picture
    marked: bool = False
    """Whether the elements of findings are framed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Part of the work that was not done, and why."""

    what: str
    why: str

    def to_dict(self) -> dict[str, str]:
        return {"what": self.what, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that was measured of one page. `url` is where redirects led; times are in the metrics' names."""

    url: str
    status: int | None
    title: str
    server: str
    """What drove the browser."""
    axe_version: str | None
    widths: Sequence[int]
    started_ms: int
    """Milliseconds since 1970."""
    duration_ms: int
    findings: Sequence[Finding] = ()
    facts: Sequence[Fact] = ()
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    """`lcp_ms`, `fcp_ms`, `ttfb_ms`, `cls`, `blocking_ms`, `load_ms`, `requests`, `transferred_bytes`, …"""
    screenshots: Sequence[Screenshot] = ()
    skipped: Sequence[Skipped] = ()
