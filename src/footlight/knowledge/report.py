"""A session as one HTML page that needs nothing else: to look at, to print, to show somebody.

What is told comes from pages and from files that anybody can have written. It is escaped, the page has no
address to load anything from, and its policy lets nothing run but its own script.
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

from footlight.knowledge.report_head import header, toolbar
from footlight.knowledge.report_steps import Picture, visits
from footlight.knowledge.reported import reported
from footlight.knowledge.step_files import read_session
from footlight.markup import join

__all__ = ["LARGEST_PICTURE", "LARGEST_PICTURES", "report", "report_page"]

LARGEST_PICTURE = 4 << 20
LARGEST_PICTURES = 40 << 20
"""Of the whole page, in bytes of the files. Beyond it a picture is named and not shown."""

_KINDS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_PAGE = files("footlight.knowledge").joinpath("report_page")


def report(root: Path, session_id: str) -> str | None:
    """The page of a session in the root, None where there is no step of it."""
    records = [*read_session(root, session_id)]
    return report_page(records, session_id=session_id, picture=_Pictures(root / session_id / "screenshots"))


def report_page(
    records: Sequence[Mapping[str, Any]], *, session_id: str, picture: Picture = lambda _: None
) -> str | None:
    """Of StepRecords in the order of time; what is none is left out. None where none is one."""
    steps = [*reported(records, session_id)]
    if not steps:
        return None
    style, script = (_part(f"page.{ending}") for ending in ("css", "js"))
    total_ms = max(1, *(step.start_ms + step.duration_ms for step in steps))
    return Template(_part("page.html")).substitute(
        title=join([f"{session_id}: {len(steps)} steps"]),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        header=header(steps, session_id, total_ms),
        toolbar=toolbar(steps),
        main=join(visits(steps, total_ms, picture)),
    )


class _Pictures:
    """Of one session's own folder, whatever path a step names, and only what is a picture."""

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
def _part(name: str) -> str:
    return _PAGE.joinpath(name).read_text("utf-8")
