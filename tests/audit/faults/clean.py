"""Larger pages without faults, from `larger/`: the audit must find nothing in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.audit.faults.fault import reply
from tests.audit.faults.pages import page
from tests.site import Handler

__all__ = ["CLEAN_PAGES", "CleanPage"]

FOLDER = Path(__file__).parent / "larger"
RIVER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360" viewBox="0 0 640 360">'
    '<rect width="640" height="360" fill="#8fb07a"/><path d="M0 300Q200 0 320 180T640 60" fill="none"'
    ' stroke="#4a7fa5" stroke-width="40"/></svg>'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanPage:
    """A document, and the routes of its site: its style, its pictures, and each page that it links to."""

    name: str
    html: str
    routes: Mapping[str, Handler]


def clean_page(path: Path) -> CleanPage:
    html = path.read_text("utf-8")
    linked = {found.partition("?")[0] for found in re.findall(r'href="(/[^"#]*)"', html)}
    return CleanPage(
        name=path.stem,
        html=html,
        routes={
            **{each: reply(page(f"<h1>At {each}</h1>")) for each in linked},
            "/site.css": reply((FOLDER / "site.css").read_text("utf-8"), type="text/css"),
            "/icon.svg": reply(RIVER, type="image/svg+xml"),
            "/river.svg": reply(RIVER, type="image/svg+xml"),
            "/dawn.vtt": reply("WEBVTT\n\n00:00.000 --> 00:04.000\n[Wind in the reeds]\n", type="text/vtt"),
        },
    )


CLEAN_PAGES: Sequence[CleanPage] = tuple(clean_page(path) for path in sorted(FOLDER.glob("*.html")))
