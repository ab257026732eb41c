"""Personas: the built-in ones, and those from a YAML or JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import yaml

from footlight.errors import ConfigurationError

__all__ = ["SHIPPED_PERSONAS", "Persona", "load_personas"]


@dataclass(frozen=True, slots=True)
class Persona:
    """A kind of reader with goals. The model tries each goal on the page.

    Raises:
        ConfigurationError: the name, the description or a goal is empty, or there are no goals.
    """

    name: str
    description: str
    goals: Sequence[str]

    def __post_init__(self) -> None:
        for field in ("name", "description"):
            if not str(getattr(self, field)).strip():
                raise ConfigurationError(f"a persona's {field} must not be empty")
        if isinstance(self.goals, str) or not self.goals:
            raise ConfigurationError(f"persona {self.name}: goals must be a list with at least one goal")
        if not all(isinstance(goal, str) and goal.strip() for goal in self.goals):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError(f"persona {self.name}: each goal must be a text that is not empty")
        object.__setattr__(self, "goals", tuple(self.goals))


_FIELDS = ("name", "description", "goals")


def load_personas(path: Path) -> Sequence[Persona]:
    """Read personas from a list of objects with name, description and goals, or from `{"personas": [...]}`.

    Raises:
        ConfigurationError: the file is unreadable or invalid; the error names the entry and the field.
    """
    try:
        return _parse_personas(_read(path))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error.message}") from None


def _read(path: Path) -> Any:
    try:
        written = path.read_text("utf-8")
        return json.loads(written) if path.suffix.lower() == ".json" else yaml.safe_load(written)
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigurationError("is not encoded in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"is not valid JSON: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"is not valid YAML: {' '.join(str(error).split())}") from None


def _parse_personas(written: Any) -> Sequence[Persona]:
    if isinstance(written, Mapping) and set(cast("Mapping[Any, Any]", written)) == {"personas"}:
        written = cast("Any", written["personas"])
    if not isinstance(written, list) or not written:
        raise ConfigurationError(
            f"must be a list of at least one persona with {', '.join(_FIELDS)}, or have it as `personas`"
        )
    entries = cast("list[Any]", written)
    personas = [_parse_persona(entry, number) for number, entry in enumerate(entries, 1)]
    names = [persona.name for persona in personas]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"two personas are called {name}; give each a name of its own")
    return tuple(personas)


def _parse_persona(written: Any, number: int) -> Persona:
    where = f"persona {number}"
    if not isinstance(written, Mapping):
        raise ConfigurationError(f"{where}: must be an object with {', '.join(_FIELDS)}")
    entry = cast("Mapping[Any, Any]", written)
    for key in entry:
        if key not in _FIELDS:
            raise ConfigurationError(f"{where}: {key} is not a field; the fields are {', '.join(_FIELDS)}")
    for field in _FIELDS:
        if field not in entry:
            raise ConfigurationError(f"{where}: {field} is missing")
    for field in ("name", "description"):
        if not isinstance(entry[field], str):
            raise ConfigurationError(f"{where}: {field} must be a text")
    if not isinstance(entry["goals"], list):
        raise ConfigurationError(f"{where}: goals must be a list of texts")
    try:
        return Persona(entry["name"], entry["description"], cast("list[str]", entry["goals"]))
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error.message}") from None


SHIPPED_PERSONAS = _parse_personas(
    yaml.safe_load(files("footlight.audit.analysis").joinpath("personas.yaml").read_text("utf-8"))
)
"""The personas of an audit that names none."""
