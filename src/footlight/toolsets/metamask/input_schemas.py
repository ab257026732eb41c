"""The input schemas of document 002, as it has them, and what we take beside (R002-33)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["schema_of"]

_FOLDER = files("footlight.toolsets.metamask") / "schemas"


def schema_of(tool: str, *, strict: bool) -> dict[str, Any]:
    """Of a tool by its name without prefix; with `strict` not a word more than the document has."""
    schema: dict[str, Any] = json.loads((_FOLDER / f"{tool}.json").read_text("utf-8"))
    if not strict:
        schema["properties"] |= _extensions().get(tool, {})
    return schema


@cache
def _extensions() -> dict[str, dict[str, Any]]:
    return json.loads((_FOLDER / "extensions.json").read_text("utf-8"))
