"""Render a report as one HTML page of limited size that loads no other resources.

The contents come from untrusted pages. They are escaped, and the content security policy allows no scripts.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from importlib.resources import files

from footlight.figures import format_count, format_duration, format_time
from footlight.markup import Html, element, render_document
from footlight.watch.entry import Entry
from footlight.watch.report_content import Report, ReportMessage, ReportRequest

__all__ = ["MAX_BYTES", "render_report"]

MAX_BYTES = 5 << 20
"""The maximum size of a report of 100 calls."""
MAX_PICTURE_BYTES = 2_600_000
"""The maximum size of all pictures. Base64 makes them a third larger."""
MAX_CHANGES_BYTES = 1_000_000
MAX_CHANGES = 12_000
"""The maximum number of characters of the changes of one call."""
MAX_ARGUMENTS = 3_000
MAX_CALLS = 1_000

_MARKS = {"+": "added", "-": "removed", "~": "changed"}


def render_report(report: Report) -> str:
    """Return the HTML of a report."""
    style = files("footlight.watch").joinpath("assets", "report.css").read_text("utf-8")
    entries = report.entries[-MAX_CALLS:]
    started_ms = entries[0].at_ms if entries else 0.0
    total_ms = max([1.0, *(entry.at_ms + (entry.duration_ms or 0) - started_ms for entry in entries)])
    return render_document(
        report.title,
        element("a", "Skip to the calls", class_="skip", href="#calls"),
        _render_header(report, entries, started_ms, total_ms),
        element(
            "main",
            _render_calls(entries, started_ms),
            _render_requests(report.requests),
            _render_messages(report.messages),
            id="calls",
            tabindex="-1",
        ),
        element("footer", *(element("p", note) for note in report.notes)),
        style=style,
    )


def _render_header(report: Report, entries: Sequence[Entry], started_ms: float, total_ms: float) -> Html:
    failed = sum(entry.failed for entry in entries)
    counts = [
        ("Calls", len(entries), ""),
        ("Failed", failed, "bad" if failed else ""),
        ("By a person", sum(entry.source == "person" for entry in entries), ""),
        ("Time", format_duration(total_ms), ""),
        ("Tokens of answers", sum(entry.tokens for entry in entries), ""),
    ]
    began = format_time(round(started_ms)) if started_ms > 1e11 else ""
    left_out = len(report.entries) - len(entries)
    return element(
        "header",
        element("h1", report.title),
        element("p", f"Began {began}", class_="quiet") if began else None,
        element("p", f"The first {left_out} calls are left out.", class_="quiet") if left_out else None,
        element(
            "dl",
            *(
                element("div", element("dt", name), element("dd", value), class_=kind or None)
                for name, value, kind in counts
            ),
            class_="counts",
        ),
        _render_timeline(entries, started_ms, total_ms),
    )


def _render_timeline(entries: Sequence[Entry], started_ms: float, total_ms: float) -> Html:
    """Render the timeline, in which each call is a link to its details."""
    bars: list[Html] = []
    for entry in entries:
        width = max(0.4, 100 * (entry.duration_ms or 0) / total_ms)
        left = min(100 - width, 100 * (entry.at_ms - started_ms) / total_ms)
        label = f"{entry.tool}{', failed' if entry.failed else ''}"
        bars.append(
            element(
                "a",
                element("title", label),
                element(
                    "rect",
                    class_=_kind(entry),
                    x=f"{max(0.0, left):.2f}%",
                    width=f"{min(width, 100):.2f}%",
                    y="15%",
                    height="70%",
                    rx=2,
                ),
                href=f"#call-{entry.number}",
                aria_label=f"Call {entry.number}, {label}",
            )
        )
    track = element("rect", class_="track", width="100%", height="100%", rx=4)
    ends = (element("span", "0 s"), element("span", format_duration(total_ms)))
    return element(
        "figure",
        element("svg", track, *bars, role="group", aria_label="Calls over time"),
        element("figcaption", *ends),
        class_="strip",
    )


def _kind(entry: Entry) -> str:
    return "failed" if entry.failed else "person" if entry.source == "person" else "ok"


def _render_calls(entries: Sequence[Entry], started_ms: float) -> Html:
    chosen = _choose_pictures(entries)
    room = MAX_CHANGES_BYTES
    items: list[Html] = []
    for entry in entries:
        changes = entry.changes[: min(MAX_CHANGES, max(0, room))]
        room -= len(changes.encode("utf-8", "replace"))
        items.append(_render_call(entry, started_ms, changes, entry.number in chosen))
    if not items:
        items.append(element("li", "There are no calls.", class_="quiet"))
    return element("section", element("h2", "Calls"), element("ol", *items, class_="calls"))


def _choose_pictures(entries: Sequence[Entry]) -> set[int]:
    """Return the numbers of the calls whose pictures are shown: failed calls first, then an even selection.

    A picture that equals the previous one is left out.
    """
    last: bytes | None = None
    visible: list[Entry] = []
    for entry in entries:
        if entry.picture is not None and entry.picture != last:
            visible.append(entry)
            last = entry.picture
    ordered = sorted(
        visible, key=lambda entry: (not entry.failed, _spread_key(visible.index(entry)), entry.number)
    )
    chosen: set[int] = set()
    room = MAX_PICTURE_BYTES
    for entry in ordered:
        size = len(entry.picture or b"")
        if size <= room:
            chosen.add(entry.number)
            room -= size
    return chosen


def _spread_key(index: int) -> int:
    """Return a sort key that selects indices evenly over the sequence, in ever smaller steps."""
    return -(index & -index) if index else -(1 << 30)


def _render_call(entry: Entry, started_ms: float, changes: str, shows_picture: bool) -> Html:
    took = format_duration(entry.duration_ms) if entry.duration_ms is not None else "no end"
    arguments = json.dumps(entry.arguments, ensure_ascii=False, indent=1) if entry.arguments else ""
    summary = element(
        "summary",
        element("span", entry.number, class_="number"),
        element(
            "h3",
            element("span", entry.tool, class_="tool"),
            element("span", _brief(entry), class_="text"),
        ),
        element("span", *_render_tags(entry), class_="tags"),
        element("span", f"+{format_duration(max(0.0, entry.at_ms - started_ms))} · {took}", class_="time"),
    )
    inside = [
        _render_error(entry) if entry.error else None,
        _render_facts(entry),
        element("pre", arguments[:MAX_ARGUMENTS], tabindex=0, aria_label="Arguments") if arguments else None,
        _render_picture(entry) if shows_picture else None,
        _render_changes(entry, changes) if changes else None,
    ]
    opened = entry.failed or shows_picture
    return element(
        "li",
        element("details", summary, element("div", *inside, class_="inside"), open=opened),
        id=f"call-{entry.number}",
        class_=f"call {_kind(entry)}",
    )


def _brief(entry: Entry) -> str:
    """Return the argument that describes the call best."""
    for name in ("url", "selector", "element", "key", "source", "note", "reason"):
        if value := entry.arguments.get(name):
            return str(value)[:200]
    return entry.target


def _render_tags(entry: Entry) -> Iterator[Html]:
    if entry.source == "person":
        yield element("span", "by a person", class_="tag person")
    if entry.failed:
        yield element("span", entry.outcome, class_="tag bad")
    if entry.change == "same":
        yield element("span", "no change", class_="tag")
    for name, events in entry.events.items():
        if isinstance(events, list):
            yield element("span", f"{name} {len(events)}", class_="tag new")  # pyright: ignore[reportUnknownArgumentType]
    if entry.console:
        yield element("span", format_count(len(entry.console), "console error"), class_="tag bad")


def _render_facts(entry: Entry) -> Html:
    facts = [
        ("Element", entry.target),
        ("Page", " ".join(filter(None, (entry.page_id, entry.url)))),
        ("Title", entry.title),
        ("Tokens", f"about {entry.tokens}" if entry.tokens else ""),
        ("Events", json.dumps(entry.events, ensure_ascii=False)[:2_000] if entry.events else ""),
        ("Console", "\n".join(entry.console)),
        ("Files", "\n".join(entry.files)),
    ]
    return element(
        "dl",
        *(part for name, fact in facts if fact for part in (element("dt", name), element("dd", fact))),
        class_="facts",
    )


def _render_error(entry: Entry) -> Html:
    error = entry.error or {}
    candidates = [element("li", each) for each in error.get("candidates") or ()]
    return element(
        "div",
        element("strong", error.get("code") or "failed"),
        element("p", error.get("message") or ""),
        element("p", error["suggestion"], class_="quiet") if error.get("suggestion") else None,
        element("p", "Candidates:") if candidates else None,
        element("ul", *candidates) if candidates else None,
        class_="error",
    )


def _render_picture(entry: Entry) -> Html:
    picture = entry.picture or b""
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    data = base64.b64encode(picture).decode()
    return element(
        "figure",
        element("img", src=f"data:image/{kind};base64,{data}", alt=f"The page after call {entry.number}"),
        class_="picture",
    )


def _render_changes(entry: Entry, changes: str) -> Html:
    lines = [
        element("span", f"{line}\n", class_=_MARKS.get(line.lstrip()[:1])) for line in changes.split("\n")
    ]
    label = "Result" if entry.change == "result" else "The page" if entry.change == "full" else "What changed"
    return element("div", element("p", label, class_="quiet"), element("pre", *lines, tabindex=0))


def _render_requests(requests: Sequence[ReportRequest]) -> Html | None:
    if not requests:
        return None
    began = requests[0].at_ms
    rows = [
        element(
            "tr",
            element("td", f"+{format_duration(max(0.0, each.at_ms - began))}"),
            element("td", each.method),
            element("td", each.failure or each.status or "no answer"),
            element("td", each.kind),
            element("td", each.url, class_="text"),
            element("td", format_duration(each.duration_ms) if each.duration_ms is not None else ""),
            class_="failed" if each.failed else None,
        )
        for each in requests
    ]
    return _render_table(
        "Network",
        ("When", "Method", "Status", "Kind", "URL", "Took"),
        rows,
        sum(each.failed for each in requests),
    )


def _render_messages(messages: Sequence[ReportMessage]) -> Html | None:
    if not messages:
        return None
    rows = [
        element(
            "tr",
            element("td", each.level),
            element("td", f"{each.text}{f' ({each.count} times)' if each.count > 1 else ''}", class_="text"),
            element("td", each.source, class_="text"),
            class_="failed" if each.level == "error" else None,
        )
        for each in messages
    ]
    errors = sum(each.level == "error" for each in messages)
    return _render_table("Console", ("Level", "Text", "Source"), rows, errors)


def _render_table(title: str, columns: Sequence[str], rows: Sequence[Html], failed: int) -> Html:
    summary = f"{format_count(len(rows), 'entry').replace('entrys', 'entries')}, {failed} failed"
    head = element("tr", *(element("th", name, scope="col") for name in columns))
    table = element("table", element("thead", head), element("tbody", *rows))
    return element(
        "section",
        element("h2", title),
        element(
            "details",
            element("summary", summary),
            element("div", table, class_="scroll", tabindex=0, role="region", aria_label=title),
            open=bool(failed),
        ),
    )
