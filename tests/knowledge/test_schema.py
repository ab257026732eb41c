"""The schema of a step is the specified one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft7Validator

from footlight.knowledge.records import SCREENS, step_schema
from tests.knowledge.schemas import schema_violations

DOCUMENTS = "b25808701ec232147bc0df66935e63a8ba87664bb3287b17a398d922ca2ba480"
"""SHA-256 of the specified schema: its JSON with sorted keys, and nothing between them."""

SMALLEST = {
    "schemaVersion": 1,
    "timestamp": "2026-01-15T12:34:56.789Z",
    "sessionId": "mm-1",
    "tool": {"name": "mm_click"},
    "outcome": {"ok": True},
    "observation": {
        "state": {
            "isLoaded": False,
            "currentUrl": "",
            "extensionId": "",
            "isUnlocked": False,
            "currentScreen": "unknown",
        },
        "testIds": [],
        "a11y": {"nodes": []},
    },
}


def objects(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if schema.get("type") == "object":
        yield path, schema
    for name, each in {**schema.get("definitions", {}), **schema.get("properties", {})}.items():
        yield from objects(each, f"{path}/{name}")


def test_schema_matches_the_specified_hash() -> None:
    canonical = json.dumps(step_schema(), sort_keys=True, separators=(",", ":"))

    assert hashlib.sha256(canonical.encode()).hexdigest() == DOCUMENTS


def test_schema_is_valid_and_has_the_specified_id() -> None:
    schema = step_schema()

    Draft7Validator.check_schema(schema)
    assert (schema["$id"], schema["title"]) == (
        "mm/knowledge/StepRecord.v1.schema.json",
        "MetaMask MCP Knowledge StepRecord v1",
    )


def test_all_objects_but_two_forbid_additional_properties() -> None:
    is_open = {
        path for path, schema in objects(step_schema()) if schema.get("additionalProperties") is not False
    }

    assert is_open == {"/tool/input", "/outcome/error/details"}


def test_required_properties_match_the_specification() -> None:
    assert {
        path: set(schema["required"]) for path, schema in objects(step_schema()) if "required" in schema
    } == {
        "": {"schemaVersion", "timestamp", "sessionId", "tool", "outcome", "observation"},
        "/ExtensionState": {"isLoaded", "currentUrl", "extensionId", "isUnlocked", "currentScreen"},
        "/TestIdItem": {"testId", "tag", "visible"},
        "/A11yNodeTrimmed": {"ref", "role", "name", "path"},
        "/tool": {"name"},
        "/outcome": {"ok"},
        "/observation": {"state", "testIds", "a11y"},
        "/observation/a11y": {"nodes"},
    }


def test_screen_names_are_the_eleven_specified() -> None:
    assert (
        step_schema()["definitions"]["ScreenName"]["enum"]
        == list(SCREENS)
        == [
            *(
                "unlock",
                "home",
                "onboarding-welcome",
                "onboarding-import",
                "onboarding-create",
                "onboarding-srp",
            ),
            *("onboarding-password", "onboarding-complete", "onboarding-metametrics", "settings", "unknown"),
        ]
    )


def test_schema_accepts_screen_names_of_another_app() -> None:
    assert step_schema(["inbox"])["definitions"]["ScreenName"] == {
        "type": "string",
        "enum": ["inbox", "unknown"],
    }
    assert step_schema([])["definitions"]["ScreenName"] == {"type": "string"}
    assert step_schema()["definitions"]["ScreenName"]["enum"] == list(SCREENS)


def test_minimal_record_is_valid() -> None:
    assert schema_violations(SMALLEST) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schemaVersion", 2),
        ("timestamp", "20260115T123456.789Z"),
        ("sessionId", "mm"),
        ("observation", {}),
        ("extra", 1),
        ("tool", {"name": ""}),
        ("timing", {"durationMs": -1}),
        ("artifacts", {"screenshot": {"width": 0}}),
        ("build", {"buildType": "build:dist"}),
    ],
)
def test_invalid_record_is_detected(key: str, value: object) -> None:
    """The other tests rely on this check."""
    assert len(schema_violations({**SMALLEST, key: value})) >= 1
