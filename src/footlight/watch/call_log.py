"""Read the call log of a client as a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from footlight.client.replay.calls import LoggedCall, read_calls
from footlight.watch.entry import Entry
from footlight.watch.redaction import Redactor
from footlight.watch.report_content import Report

__all__ = ["find_trace", "read_call_log"]

MAX_CALLS = 2_000
MAX_RESULT = 4_000
MAX_ERROR = 4_000


def read_call_log(data: bytes, *, name: str) -> Report:
    """Return the report of a call log. A log has the duration of each call, but no times.

    Raises:
        MCPError: A line belongs neither to a log nor to a sequence of calls.
    """
    calls = read_calls(data, name=name)
    redactor = Redactor()
    durations = _durations(data)
    entries: list[Entry] = []
    at_ms = 0.0
    for number, call in enumerate(calls[:MAX_CALLS], 1):
        entry = _make_entry(number, call, redactor, durations.get(call.line))
        entry.at_ms = at_ms
        at_ms += entry.duration_ms or 0
        entries.append(entry)
    notes = [
        "A call log has no pictures, requests or console messages. Times are relative to the first call."
    ]
    if len(calls) > MAX_CALLS:
        notes.append(f"Only the first {MAX_CALLS} of {len(calls)} calls are shown.")
    return Report(title=name, entries=entries, notes=notes)


def find_trace(data: bytes, *, name: str) -> Path | None:
    """Return the path of the last trace that the calls of a log have written, or None.

    Raises:
        MCPError: what `read_call_log` raises.
    """
    for call in reversed(read_calls(data, name=name)):
        result = call.outcome.result if call.name == "trace" and call.outcome else None
        fields: Mapping[str, Any] = cast("Mapping[str, Any]", result) if isinstance(result, Mapping) else {}
        written: object = fields.get("data", fields)
        path: object = (
            cast("Mapping[str, Any]", written).get("path") if isinstance(written, Mapping) else None
        )
        if isinstance(path, str) and "bytes" in cast("Mapping[str, Any]", written):
            return Path(path)
    return None


def _make_entry(number: int, call: LoggedCall, redactor: Redactor, duration_ms: int | None) -> Entry:
    redactor.learn(call.name, call.arguments, field=None)
    outcome = call.outcome
    entry = Entry(
        number=number, tool=call.name, arguments=redactor.arguments(call.name, call.arguments), at_ms=0
    )
    entry.duration_ms = duration_ms
    if outcome is None:
        entry.outcome = "no answer"
        return entry
    entry.outcome = "ok" if outcome.ok else "failed"
    if isinstance(outcome.locator, str):
        entry.target = redactor.text(outcome.locator, 300)
    if outcome.ok:
        _note_result(entry, outcome.result, redactor)
    else:
        entry.error = {
            "code": "",
            "message": redactor.text(outcome.error, MAX_ERROR),
            "suggestion": "",
            "candidates": [],
        }
    return entry


def _note_result(entry: Entry, result: Any, redactor: Redactor) -> None:
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", result) if isinstance(result, Mapping) else {}
    if fields.get("success") is False and isinstance(fields.get("error"), Mapping):
        error = cast("Mapping[str, Any]", fields["error"])
        details: object = error.get("details")
        closest: object = (
            cast("Mapping[str, Any]", details).get("closest") if isinstance(details, Mapping) else None
        )
        entry.outcome = str(error.get("code") or "failed")
        entry.error = {
            "code": entry.outcome,
            "message": redactor.text(str(error.get("message") or ""), MAX_ERROR),
            "suggestion": redactor.text(str(error.get("suggestion") or "")),
            "candidates": [redactor.text(str(each)) for each in cast("list[Any]", closest)[:10]]
            if isinstance(closest, list)
            else [],
        }
        return
    if result not in (None, ""):
        text = (
            result
            if isinstance(result, str)
            else json.dumps(redactor.data(result), ensure_ascii=False, indent=1)
        )
        entry.change, entry.changes = "result", redactor.lines(text[:MAX_RESULT])


def _durations(data: bytes) -> dict[int, int]:
    """Return the duration of each call in milliseconds, by the line on which the call begins."""
    open_calls: dict[tuple[object, object], int] = {}
    found: dict[int, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            entry: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict):
            continue
        fields = cast("dict[str, Any]", entry)
        key = (str(fields.get("_seq")), str(fields.get("name")))
        if fields.get("_phase") == "before":
            open_calls[key] = number
        elif fields.get("_phase") == "after" and key in open_calls and isinstance(fields.get("_ms"), int):
            found[open_calls.pop(key)] = fields["_ms"]
    return found
