"""The head of a report: the facts of the session, its timeline, and the filter toolbar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from footlight.figures import format_duration, format_time
from footlight.knowledge.report.reported_steps import ReportedStep, as_mapping
from footlight.knowledge.rows import UNKNOWN
from footlight.markup import Html, element

__all__ = ["render_header", "render_toolbar"]


def render_header(steps: Sequence[ReportedStep], session_id: str, total_ms: int) -> Html:
    failed = sum(not step.row.ok for step in steps)
    counts = [
        ("Steps", len(steps), None),
        ("Failed", failed, "bad" if failed else None),
        ("Total time", format_duration(total_ms), None),
        ("Screens", len({step.row.screen for step in steps} - {UNKNOWN}), None),
        ("Pictures", sum(bool(step.screenshot) for step in steps), None),
    ]
    return element(
        "header",
        element("p", "Session", class_="kind"),
        element("h1", session_id),
        element(
            "dl",
            *(
                element("div", element("dt", n), element("dd", value), class_=kind)
                for n, value, kind in counts
            ),
            class_="counts",
        ),
        element(
            "dl",
            *(
                element("div", element("dt", name), element("dd", fact))
                for name, fact in _list_facts(steps)
                if fact
            ),
            class_="facts",
        ),
        _render_timeline(steps, total_ms),
    )


def _list_facts(steps: Sequence[ReportedStep]) -> Iterator[tuple[str, str]]:
    def find_first(name: str) -> Mapping[str, Any]:
        return next(filter(None, (as_mapping(step.record.get(name)) for step in steps)), as_mapping(None))

    git, build, environment = map(find_first, ("git", "build", "environment"))
    commit = str(git.get("commit") or "")[:12]
    yield "Began", format_time(steps[0].row.at_ms)
    yield "Ended", format_time(steps[-1].row.at_ms + steps[-1].duration_ms)
    yield (
        "Git",
        " ".join(
            filter(
                None,
                [str(git.get("branch") or ""), commit, "with changes" if git.get("dirty") is True else ""],
            )
        ),
    )
    yield (
        "Build",
        " ".join(str(build[name]) for name in ("buildType", "extensionPathResolved") if build.get(name)),
    )
    yield "Platform", str(environment.get("platform") or "")
    yield "Node", str(environment.get("nodeVersion") or "")
    yield "Yarn", str(environment.get("yarnVersion") or "")


def _render_timeline(steps: Sequence[ReportedStep], total_ms: int) -> Html:
    """Render the timeline with a link to each step."""
    bars = [
        element(
            "a",
            element("title", f"{step.number}. {step.row.tool}{'' if step.row.ok else ', failed'}"),
            element(
                "rect", class_=step.bar, y="20%", height="60%", rx=2, **step.extent(total_ms, least=0.35)
            ),
            href=f"#step-{step.number}",
            aria_label=f"Step {step.number}, {step.row.tool}{'' if step.row.ok else ', failed'}",
        )
        for step in steps
    ]
    track = element("rect", class_="track", width="100%", height="100%", rx=4)
    ends = (element("span", text) for text in ("0 s", "each bar is a step", format_duration(total_ms)))
    return element(
        "figure",
        element("svg", track, *bars, role="group", aria_label="Steps over time"),
        element("figcaption", *ends),
        class_="strip",
    )


def render_toolbar(steps: Sequence[ReportedStep]) -> Html:
    tools = Counter(step.row.tool for step in steps)
    options = [element("option", f"{tool} ({tools[tool]})", value=tool) for tool in sorted(tools)]
    return element(
        "div",
        *(
            element("label", Html(f'<input type="checkbox" id="{id}">'), text)
            for id, text in (("failed", "Failed only"), ("moved", "Changes of screen only"))
        ),
        element("label", "Tool ", element("select", element("option", "all", value=""), *options, id="tool")),
        element("button", "Open all", type="button", id="all"),
        element("output", id="shown", for_="failed moved tool"),
        class_="toolbar",
        role="group",
        aria_label="Which steps are shown",
        hidden=True,
    )
