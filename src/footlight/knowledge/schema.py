"""What a step looks like on disk: document 002's JSON Schema, word for word (R002-59 to R002-67)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

__all__ = ["SCHEMA_VERSION", "SCREENS", "UNKNOWN_SCREEN", "step_schema"]

SCHEMA_VERSION: Final = 1
UNKNOWN_SCREEN: Final = "unknown"
SCREENS: Final = (
    "unlock",
    "home",
    "onboarding-welcome",
    "onboarding-import",
    "onboarding-create",
    "onboarding-srp",
    "onboarding-password",
    "onboarding-complete",
    "onboarding-metametrics",
    "settings",
    UNKNOWN_SCREEN,
)
"""The document's own (R002-66)."""


def step_schema(screens: Sequence[str] | None = None) -> dict[str, Any]:
    """The document's; for another app, with its names of screens. An empty list leaves the names open.

    `unknown` is always among them: where there is no page, that is what its screen is called.
    """
    text = files("footlight.knowledge").joinpath("StepRecord.v1.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    if screens is not None:
        names = list(dict.fromkeys([*screens, UNKNOWN_SCREEN]))
        schema["definitions"]["ScreenName"] = {"type": "string", **({"enum": names} if screens else {})}
    return schema
