"""Render a session as one self-contained HTML page.

The contents come from untrusted pages and files. They are escaped, the page loads nothing from elsewhere, and
its content security policy allows only its own script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from footlight.knowledge.report.head import render_header, render_toolbar
from footlight.knowledge.report.reported_steps import read_steps
from footlight.knowledge.report.steps import Picture, render_visits
from footlight.knowledge.step_files import read_session
from footlight.markup import join

__all__ = ["LARGEST_PICTURE", "LARGEST_PICTURES", "make_report", "render_report"]

LARGEST_PICTURE = 4 << 20
LARGEST_PICTURES = 40 << 20
"""Maximum size of all picture files of a report. Further pictures are only named."""

_KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
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
    return Template(_read_asset("page.html")).substitute(
        title=join([f"{session_id}: {len(steps)} steps"]),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        header=render_header(steps, session_id, total_ms),
        toolbar=render_toolbar(steps),
        main=join(render_visits(steps, total_ms, picture)),
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


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _read_asset(name: str) -> str:
    return _PAGE.joinpath(name).read_text("utf-8")
