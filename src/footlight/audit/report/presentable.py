"""Make the texts of an audit safe to show. Pages and models wrote them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from footlight.audit.findings import EvidencePicture
from footlight.audit.results import Audit
from footlight.safe_text import escape_control_characters

__all__ = ["MAX_ANALYSIS_LENGTH", "MAX_TEXT_LENGTH", "make_plain", "make_presentable"]

MAX_TEXT_LENGTH = 2_000
MAX_ANALYSIS_LENGTH = 100_000

_BIDIRECTIONAL = {
    code: f"\\u{code:04x}"
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0xFEFF)
}
"""Characters that change the reading direction or break lines invisibly."""


def make_presentable(audit: Audit) -> Audit:
    """Return the audit with safe texts and finite numbers. Formats add only their own escaping."""
    return _clean(audit, MAX_TEXT_LENGTH)


def make_plain(text: str, longest: int = MAX_TEXT_LENGTH) -> str:
    """Return the text cut to length, without terminal controls, bidirectional marks and lone surrogates."""
    whole = text.replace("\r\n", "\n").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    cut = whole if len(whole) <= longest else f"{whole[: longest - 1]}…"
    return escape_control_characters(cut).translate(_BIDIRECTIONAL)


def _clean(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return make_plain(value, longest)
    if isinstance(value, float):
        return value if math.isfinite(value) else 0.0
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value).items()
        return {_clean(key, longest): _clean(each, longest) for key, each in entries}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return tuple(_clean(each, longest) for each in cast("Sequence[Any]", value))
    if is_dataclass(value) and not isinstance(value, type | EvidencePicture):
        return replace(
            value, **{each.name: _clean_field(value, each.name, longest) for each in fields(value)}
        )
    return value


def _clean_field(value: object, name: str, longest: int) -> Any:
    return _clean(getattr(value, name), MAX_ANALYSIS_LENGTH if name == "analysis_text" else longest)
