"""The personas that are there, and those of a file: YAML or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import yaml

from footlight.errors import ConfigurationError
from footlight.ux.persona import Persona

__all__ = ["SHIPPED_PERSONAS", "load_personas"]

_FIELDS = ("name", "description", "goals")


def load_personas(path: Path) -> Sequence[Persona]:
    """A list of entries with name, description and goals; or an object that has it as `personas`.

    Raises:
        ConfigurationError: it cannot be read, or is none; it names the file, the entry and the field.
    """
    try:
        return _personas(_read(path))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error.message}") from None


def _read(path: Path) -> Any:
    try:
        written = path.read_text("utf-8")
        return json.loads(written) if path.suffix.lower() == ".json" else yaml.safe_load(written)
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigurationError("is not written in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"is no JSON: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"is no YAML: {' '.join(str(error).split())}") from None


def _personas(written: Any) -> Sequence[Persona]:
    if isinstance(written, Mapping) and set(cast("Mapping[Any, Any]", written)) == {"personas"}:
        written = cast("Any", written["personas"])
    if not isinstance(written, list) or not written:
        raise ConfigurationError(
            f"must be a list of at least one persona with {', '.join(_FIELDS)}, or have it as `personas`"
        )
    entries = cast("list[Any]", written)
    personas = [_persona(entry, number) for number, entry in enumerate(entries, 1)]
    names = [persona.name for persona in personas]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"two personas are called {name}; give each a name of its own")
    return tuple(personas)


def _persona(written: Any, number: int) -> Persona:
    where = f"persona {number}"
    if not isinstance(written, Mapping):
        raise ConfigurationError(f"{where}: must be an object with {', '.join(_FIELDS)}")
    entry = cast("Mapping[Any, Any]", written)
    for key in entry:
        if key not in _FIELDS:
            raise ConfigurationError(f"{where}: {key} is no field; there are {', '.join(_FIELDS)}")
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


SHIPPED_PERSONAS = _personas(
    yaml.safe_load(files("footlight.ux").joinpath("personas.yaml").read_text("utf-8"))
)
"""For whoever names none of their own."""
