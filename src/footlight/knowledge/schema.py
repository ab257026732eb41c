"""The JSON Schema of a step record."""

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
"""The screen names of the schema."""


def step_schema(screens: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the schema, with the screen names of another app if given; an empty list allows any name.

    `unknown` is always allowed: it is the screen of a step without a page.
    """
    text = files("footlight.knowledge").joinpath("StepRecord.v1.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    if screens is not None:
        names = list(dict.fromkeys([*screens, UNKNOWN_SCREEN]))
        schema["definitions"]["ScreenName"] = {"type": "string", **({"enum": names} if screens else {})}
    return schema
