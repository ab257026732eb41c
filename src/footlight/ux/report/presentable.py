"""An audit whose texts are harmless wherever they are shown: pages and models wrote them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from footlight.steering import harmless
from footlight.ux.audited import Audit
from footlight.ux.findings import Picture

__all__ = ["LONGEST_ANALYSIS", "LONGEST_TEXT", "plain", "presentable"]

LONGEST_TEXT = 2_000
LONGEST_ANALYSIS = 100_000

_TURNING = {
    code: f"\\u{code:04x}"
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0xFEFF)
}
"""What lets a text be read in another order than it has, or ends its line unseen."""


def presentable(audit: Audit) -> Audit:
    """The same, with each text `plain` and each number finite. Formats only add their own escaping."""
    return _cleaned(audit, LONGEST_TEXT)


def plain(text: str, longest: int = LONGEST_TEXT) -> str:
    """Without what steers a terminal or turns the reading, without halves of characters, and not longer."""
    whole = text.replace("\r\n", "\n").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    cut = whole if len(whole) <= longest else f"{whole[: longest - 1]}…"
    return harmless(cut).translate(_TURNING)


def _cleaned(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return plain(value, longest)
    if isinstance(value, float):
        return value if math.isfinite(value) else 0.0
    if isinstance(value, Mapping):
        told = cast("Mapping[Any, Any]", value).items()
        return {_cleaned(key, longest): _cleaned(each, longest) for key, each in told}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return tuple(_cleaned(each, longest) for each in cast("Sequence[Any]", value))
    if is_dataclass(value) and not isinstance(value, type | Picture):
        return replace(value, **{each.name: _field(value, each.name, longest) for each in fields(value)})
    return value


def _field(value: object, name: str, longest: int) -> Any:
    return _cleaned(getattr(value, name), LONGEST_ANALYSIS if name == "analysis_text" else longest)
