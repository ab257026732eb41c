"""By what a reader can choose among the findings. For the page's script, which shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from footlight.markup import Html, element
from footlight.ux.audited import Audit
from footlight.ux.report.html_parts import page_title
from footlight.ux.report.placed import Placed

__all__ = ["toolbar"]

_LONGEST_TITLE = 60
_NO_NAMES: Mapping[str, str] = {}


def toolbar(audit: Audit, found: Sequence[Placed]) -> Html:
    findings = [each.finding for each in found]
    pages = {
        str(number): f"{number}. {page_title(page)}"[:_LONGEST_TITLE]
        for number, page in enumerate(audit.pages, 1)
    }
    return element(
        "div",
        _choice("severity", "Severity", (each.severity for each in findings)),
        _choice(
            "source",
            "Found by",
            (each.source for each in findings),
            {"measured": "code", "judged": "a model"},
        ),
        _choice("persona", "Persona", (each.persona or "" for each in findings), {"": "nobody's"}),
        _choice("page", "Page", (str(each.number) for each in found), pages),
        element("label", "Text ", Html('<input type="search" id="by-text" size="14">')),
        element("output", id="shown"),
        class_="toolbar",
        role="group",
        aria_label="Which findings are shown",
        hidden=True,
    )


def _choice(
    name: str, label: str, values: Iterable[str], names: Mapping[str, str] = _NO_NAMES
) -> Html | None:
    """None where there is nothing to choose."""
    counts = Counter(values)
    if len(counts) < 2:
        return None
    options = [
        element("option", f"{names.get(value, value)} ({count:,})", value=f"={value}")
        for value, count in counts.items()
    ]
    every = element("option", "all", value="")
    return element("label", f"{label} ", element("select", every, *options, data_by=name))
