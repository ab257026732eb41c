"""Check a submitted order."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from urllib.parse import urlsplit

from footlight.demo.shop.order_form import FIELDS, Kind, OrderField
from footlight.demo.shop.records import Upload

__all__ = ["OrderCheck", "judge"]


@dataclass(frozen=True)
class OrderCheck:
    """The received values by label, and the problems by the name of the field."""

    received: Mapping[str, str]
    problems: Mapping[str, str]


def judge(texts: Mapping[str, Sequence[str]], files: Mapping[str, Upload]) -> OrderCheck:
    """Check a submitted form."""
    received: dict[str, str] = {}
    problems: dict[str, str] = {}
    for entry in FIELDS:
        values = [value for value in texts.get(entry.name, ()) if value]
        received[entry.label] = _describe_value(entry, values, files.get(entry.name))
        problem = _find_problem(entry, values, files.get(entry.name))
        if problem:
            problems[entry.name] = problem
    return OrderCheck(received, problems)


def _describe_value(entry: OrderField, values: Sequence[str], upload: Upload | None) -> str:
    if entry.kind == "checkbox":
        return "yes" if values else "no"
    if entry.kind == "password":
        return f"set, {len(''.join(values))} characters"
    if entry.kind == "file":
        return f"{upload.name}, {upload.size} bytes, SHA-256 {upload.sha256}" if upload else ""
    return ", ".join(values)


def _find_problem(entry: OrderField, values: Sequence[str], upload: Upload | None) -> str | None:
    if entry.kind == "file":
        return "The file is larger than 1 MB." if upload and upload.size > 1_000_000 else None
    if not values:
        return _describe_missing(entry) if entry.required else None
    check = _CHECKS.get(entry.kind)
    return next((problem for value in values if check and (problem := check(entry, value))), None)


def _describe_missing(entry: OrderField) -> str:
    if entry.kind == "checkbox":
        return f"Please tick “{entry.label}”."
    verb = "choose" if entry.options else "enter"
    return f"Please {verb}: {entry.label.lower()}."


def _check_number(entry: OrderField, value: str) -> str | None:
    low, high = int(entry.attributes["min"]), int(entry.attributes["max"])
    if re.fullmatch(r"-?\d{1,9}", value) and low <= int(value) <= high:
        return None
    return f"{entry.label} is a whole number from {low} to {high}."


def _check_option(entry: OrderField, value: str) -> str | None:
    return None if value in entry.options else f"“{value}” is not on offer."


def _check_password(entry: OrderField, value: str) -> str | None:
    least = int(entry.attributes["minlength"])
    return None if len(value) >= least else f"{entry.label} has at least {least} characters."


def _check_pattern(pattern: str) -> Callable[[OrderField, str], str | None]:
    return lambda entry, value: None if re.fullmatch(pattern, value) else _unlike(entry)


def _check_reading(read: Callable[[str], object]) -> Callable[[OrderField, str], str | None]:
    def check(entry: OrderField, value: str) -> str | None:
        try:
            read(value)
        except ValueError:
            return _unlike(entry)
        return None

    return check


def _read_url(value: str) -> None:
    address = urlsplit(value)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise ValueError(value)


def _unlike(entry: OrderField) -> str:
    return f"{entry.label} is not in the expected form, for example {_EXAMPLES[entry.kind]}."


_EXAMPLES: Mapping[Kind, str] = {
    "color": "#ffb347",
    "date": "2031-05-09",
    "datetime-local": "2031-05-17T19:30",
    "email": "name@example.org",
    "month": "2031-06",
    "tel": "+43 1 234 56 78",
    "time": "08:30",
    "url": "https://example.org",
    "week": "2031-W14",
}

_CHECKS: Mapping[Kind, Callable[[OrderField, str], str | None]] = {
    "color": _check_pattern(r"#[0-9a-f]{6}"),
    "datalist": _check_option,
    "date": _check_reading(date.fromisoformat),
    "datetime-local": _check_reading(datetime.fromisoformat),
    "email": _check_pattern(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+"),
    "month": _check_pattern(r"\d{4}-(0[1-9]|1[0-2])"),
    "multiselect": _check_option,
    "number": _check_number,
    "password": _check_password,
    "radio": _check_option,
    "range": _check_number,
    "select": _check_option,
    "tel": _check_pattern(r"\+?[\d ()/-]{5,24}"),
    "time": _check_reading(time.fromisoformat),
    "url": _check_reading(_read_url),
    "week": _check_pattern(r"\d{4}-W(0[1-9]|[1-4]\d|5[0-3])"),
}
