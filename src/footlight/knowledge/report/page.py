"""Render a session as one self-contained HTML page.

The contents come from untrusted pages and files. They are escaped, the page loads nothing from elsewhere, and
its content security policy allows only its own script.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from footlight.knowledge.report.head import render_header, render_toolbar
from footlight.knowledge.report.reported_steps import read_steps
from footlight.knowledge.report.steps import Picture, render_visits
from footlight.knowledge.step_files import read_session
from footlight.markup import element, render_document

__all__ = ["LARGEST_PICTURE", "LARGEST_PICTURES", "make_report", "render_report"]

LARGEST_PICTURE = 4 << 20
LARGEST_PICTURES = 40 << 20
"""Maximum size of all picture files of a report. Further pictures are only named."""

_KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_NOTE = ". The report does not contain text that was typed into fields."
_PAGE = files("footlight.knowledge.report").joinpath("assets")


def make_report(root: Path, session_id: str) -> str | None:
    """Return the report of a session as HTML, or None if the session has no steps."""
    records = [*read_session(root, session_id)]
    return render_report(
        records, session_id=session_id, picture=_PictureReader(root / session_id / "screenshots")
    )


def render_report(
    records: Sequence[Mapping[str, Any]], *, session_id: str, picture: Picture = lambda _: None
) -> str | None:
    """Render step records in order of time. Invalid records are left out; None if no valid record remains."""
    steps = [*read_steps(records, session_id)]
    if not steps:
        return None
    style, script = (_read_asset(f"page.{ending}") for ending in ("css", "js"))
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
    """Reads pictures from the folder of one session only, whatever path a step names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = LARGEST_PICTURES

    def __call__(self, path: str) -> str | None:
        name = path.replace("\\", "/").rpartition("/")[2]
        try:
            file = (self._folder / name).resolve()
            if file.parent != self._folder.resolve() or file.stat().st_size > min(
                LARGEST_PICTURE, self._left
            ):
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
