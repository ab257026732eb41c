"""Validate records with the schema and the one format that it uses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from jsonschema import Draft7Validator, FormatChecker

from footlight.knowledge.records import step_schema

_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("date-time")
def _is_date_time(value: object) -> bool:
    """Check the part of RFC 3339 that a store writes. jsonschema checks it only with another package."""
    return not isinstance(value, str) or bool(
        re.fullmatch(r"[0-9]{4}-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]+)?Z", value)
    )


def schema_violations(record: Any, screens: Sequence[str] | None = None) -> list[str]:
    validator = Draft7Validator(step_schema(screens), format_checker=_FORMATS)
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(record)]
