"""Render a session as one self-contained HTML page.

The contents come from untrusted pages and files. They are escaped, the page loads no external resources, and
its content security policy allows only its own script.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from footlight.figures import format_duration, format_time
from footlight.knowledge.report_steps import Picture, ReportedStep, as_mapping, read_steps, render_visits
from footlight.knowledge.rows import UNKNOWN
from footlight.knowledge.step_files import read_session
from footlight.markup import Html, element, render_document

__all__ = ["MAX_PICTURES_BYTES", "MAX_PICTURE_BYTES", "make_report", "render_report"]

MAX_PICTURE_BYTES = 4 << 20
MAX_PICTURES_BYTES = 40 << 20
"""Maximum size of all picture files of a report. Further pictures are only mentioned by path."""

_KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_NOTE = ". The report does not contain text that was typed into fields."
_PAGE = files("footlight.knowledge").joinpath("assets")


def make_report(root: Path, session_id: str) -> str | None:
    """Return the report of a session as HTML, or None if the session has no steps."""
    records = [*read_session(root, session_id)]
    return render_report(
        records, session_id=session_id, picture=_PictureReader(root / session_id / "screenshots")
    )


def render_report(
    records: Sequence[Mapping[str, Any]], *, session_id: str, picture: Picture = lambda _: None
) -> str | None:
    """Render step records in chronological order. Return None if no record is valid."""
    steps = [*read_steps(records, session_id)]
    if not steps:
        return None
    style, script = (_read_asset(f"report.{ending}") for ending in ("css", "js"))
    total_ms = max(1, *(step.start_ms + step.duration_ms for step in steps))
    return render_document(
        f"{session_id}: {len(steps)} steps",
        element("a", "Skip to the steps", class_="skip", href="#steps"),
        render_header(steps, session_id, total_ms),
        element(
            "main", render_toolbar(steps), *render_visits(steps, total_ms, picture), id="steps", tabindex="-1"
        ),
        element("footer", element("p", "Made by ", element("code", "footlight knowledge report"), _NOTE)),
        style=style,
        script=script,
    )


class _PictureReader:
    """Reads pictures only from the folder of one session, regardless of the path in a step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = MAX_PICTURES_BYTES

    def __call__(self, path: str) -> str | None:
        name = path.replace("\\", "/").rpartition("/")[2]
        try:
            file = (self._folder / name).resolve()
            # A pipe must not be read, because that may never end.
            if file.parent != self._folder.resolve() or not file.is_file():
                return None
            if file.stat().st_size > min(MAX_PICTURE_BYTES, self._left):
                return None
            data = file.read_bytes()
        except (OSError, ValueError):
            return None
        kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)
        if kind is None:
            return None
        self._left -= len(data)
        return f"data:{kind};base64,{base64.b64encode(data).decode()}"


@cache
def _read_asset(name: str) -> str:
    return _PAGE.joinpath(name).read_text("utf-8")


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
