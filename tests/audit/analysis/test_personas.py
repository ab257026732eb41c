"""The built-in personas, and those from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footlight.audit.analysis.personas import SHIPPED_PERSONAS, Persona, load_personas
from footlight.errors import ConfigurationError

READER = Persona("Reader", "Reads everything.", ["Find the date"])
WRITTEN = {"name": "Reader", "description": "Reads everything.", "goals": ["Find the date"]}


def test_three_personas_ship_with_goals() -> None:
    assert [persona.name for persona in SHIPPED_PERSONAS] == [
        "First visit",
        "Keyboard and screen reader",
        "Unsure with computers",
    ]
    assert [len(persona.goals) for persona in SHIPPED_PERSONAS] == [2, 1, 2]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("personas.json", json.dumps([WRITTEN])),
        ("personas.json", json.dumps({"personas": [WRITTEN]})),
        (
            "personas.yaml",
            "- name: Reader\n  description: Reads everything.\n  goals:\n    - Find the date\n",
        ),
        (
            "personas.yml",
            "personas:\n- {name: Reader, description: Reads everything., goals: [Find the date]}",
        ),
    ],
)
def test_a_file_may_be_yaml_or_json(tmp_path: Path, name: str, written: str) -> None:
    (tmp_path / name).write_text(written, "utf-8")

    assert load_personas(tmp_path / name) == (READER,)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            [],
            "must be a list of at least one persona with name, description, goals, or have it as `personas`",
        ),
        (["Reader"], "persona 1: must be an object with name, description, goals"),
        (
            [WRITTEN, {**WRITTEN, "name": "Other", "age": 7}],
            "persona 2: age is not a field; the fields are name, description, goals",
        ),
        ([{"name": "Reader", "goals": ["x"]}], "persona 1: description is missing"),
        ([{**WRITTEN, "name": 7}], "persona 1: name must be a text"),
        ([{**WRITTEN, "goals": "Find it"}], "persona 1: goals must be a list of texts"),
        (
            [{**WRITTEN, "goals": []}],
            "persona 1: persona Reader: goals must be a list with at least one goal",
        ),
        (
            [{**WRITTEN, "goals": [" "]}],
            "persona 1: persona Reader: each goal must be a text that is not empty",
        ),
        ([WRITTEN, WRITTEN], "two personas are called Reader; give each a name of its own"),
    ],
)
def test_invalid_persona_error_names_entry_and_field(tmp_path: Path, written: object, problem: str) -> None:
    path = tmp_path / "personas.json"
    path.write_text(json.dumps(written), "utf-8")

    with pytest.raises(ConfigurationError) as caught:
        load_personas(path)

    assert caught.value.message == f"{path}: {problem}"


@pytest.mark.parametrize(
    ("name", "written", "problem"),
    [
        ("personas.json", b"{", "is not valid JSON: "),
        ("personas.yaml", b"- {", "is not valid YAML: "),
        ("personas.yaml", b"\xff", "is not encoded in UTF-8"),
    ],
)
def test_unreadable_persona_file_is_reported(tmp_path: Path, name: str, written: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(written)

    with pytest.raises(ConfigurationError) as caught:
        load_personas(tmp_path / name)

    assert caught.value.message.startswith(f"{tmp_path / name}: {problem}")


def test_missing_persona_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        load_personas(tmp_path / "none.yaml")
