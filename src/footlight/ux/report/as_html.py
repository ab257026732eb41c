"""An audit as one HTML page that needs nothing else: to read, to print, to show somebody.

What is told comes from pages and from models. It is escaped, the page has no address to load anything from,
and its policy lets nothing run but its own script.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from string import Template

from footlight.markup import Html, join
from footlight.ux.audited import Audit
from footlight.ux.report.html_findings import findings
from footlight.ux.report.html_head import header, title
from footlight.ux.report.html_pages import pages
from footlight.ux.report.html_pictures import Pictures
from footlight.ux.report.html_rest import analysis, not_done, provenance
from footlight.ux.report.html_walks import walks
from footlight.ux.report.presentable import presentable
from footlight.ux.report.verdict import Verdict

__all__ = ["as_html"]


def as_html(audit: Audit, *, verdict: Verdict | None = None) -> str:
    """Without its script, which only chooses among findings, all of it is there too."""
    audit = presentable(audit)
    pictures = Pictures(audit)
    parts: list[tuple[str, str, Html | None]] = [
        ("pages", "Pages" if len(audit.pages) > 1 else "The page", pages(audit, pictures)),
        ("findings", "Findings", findings(audit, pictures)),
        ("walks", "Walks", walks(audit)),
        ("analysis", "Analysis", analysis(audit)),
        ("not-done", "Not done", not_done(audit, pictures.left_out)),
        ("made-by", "Made by", provenance(audit)),
    ]
    shown = [(id, name, part) for id, name, part in parts if part is not None]
    style, script = (_part(f"page.{ending}") for ending in ("css", "js"))
    return Template(_part("page.html")).substitute(
        title=join([title(audit)]),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        header=header(audit, verdict, [(id, name) for id, name, _ in shown]),
        main=join(part for _, _, part in shown),
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _part(name: str) -> str:
    return files("footlight.ux.report").joinpath(name).read_text("utf-8")
