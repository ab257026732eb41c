"""Read prompts from files: the five built-in ones in `prompt_texts/`, and those of a user.

A file contains one prompt with a name, a description, arguments and a template. `values` and `secret` of an
argument are additions to MCP. Without `secret`, the argument's name determines whether its value is secret.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from footlight.errors import ConfigurationError
from footlight.server.prompt_library import (
    NAME,
    InvalidPromptError,
    PromptArgument,
    PromptDefinition,
    check_prompt,
)
from footlight.server.prompt_redaction import ends_in_secret

__all__ = ["builtin_prompts", "load_prompts"]

_BUILT_IN = ("scrape_website", "fill_form", "visual_regression", "authenticate", "e2e_test")
"""The built-in prompts, in the order in which they are listed."""

_SUFFIXES = (".yaml", ".yml", ".json")

_Name = Annotated[str, Field(pattern=NAME)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Argument(_StrictModel):
    name: _Name
    description: str
    required: bool = False
    default: str | None = None
    values: list[str] = []
    secret: bool | None = None


class _File(_StrictModel):
    name: _Name
    description: str
    arguments: list[_Argument] = []
    template: str


def builtin_prompts() -> tuple[PromptDefinition, ...]:
    """Return the five built-in prompts."""
    folder = files("footlight.server").joinpath("prompt_texts")
    found: list[PromptDefinition] = []
    for name in _BUILT_IN:
        file = folder.joinpath(f"{name}.yaml")
        found.append(_prompt(file.read_text("utf-8"), str(file)))
    return tuple(found)


def load_prompts(directory: Path) -> tuple[PromptDefinition, ...]:
    """Return the prompts in a folder, in the order of the file names. Hidden files are skipped.

    Raises:
        ConfigurationError: a file is not valid. The message names the file, the field and the expected value.
    """
    try:
        paths = sorted(
            path for path in directory.iterdir() if path.suffix in _SUFFIXES and not path.name.startswith(".")
        )
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(
            f"setting 'prompts.directory': {directory} cannot be read: {reason}"
        ) from None
    source: dict[str, Path] = {}
    found: list[PromptDefinition] = []
    for path in paths:
        prompt = _prompt(_read(path), str(path))
        if prompt.name in source:
            raise _fault(str(path), "name", f"{prompt.name!r} is also the name in {source[prompt.name]}")
        source[prompt.name] = path
        found.append(prompt)
    return tuple(found)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise _fault(str(path), None, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise _fault(str(path), None, "is not UTF-8 text") from None


def _prompt(text: str, source: str) -> PromptDefinition:
    data = _json(text, source) if _is_json(source) else _yaml(text, source)
    if not isinstance(data, dict):
        expected = ", ".join(_File.model_fields)
        raise _fault(source, None, f"must be an object with the fields {expected}")
    try:
        prompt = _make_definition(_File.model_validate(data))
        check_prompt(prompt)
    except ValidationError as error:
        raise _explain_error(error, source) from None
    except InvalidPromptError as error:
        raise _fault(source, error.field, error.reason) from None
    return prompt


def _is_json(source: str) -> bool:
    return source.endswith(".json")


def _json(text: str, source: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(source, None, f"not valid JSON: {error}") from None


def _yaml(text: str, source: str) -> object:
    import yaml  # Imported late, because it is slow and only needed for prompts.

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _fault(source, None, f"not valid YAML: {line}{error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        # PyYAML raises built-in exceptions for some values that do not match their `!!tag`.
        raise _fault(source, None, f"not valid YAML: {' '.join(str(error).split())}") from None


def _make_definition(file: _File) -> PromptDefinition:
    arguments = tuple(
        PromptArgument(
            name=each.name,
            description=each.description,
            required=each.required,
            default=each.default,
            values=tuple(each.values),
            secret=ends_in_secret(each.name) if each.secret is None else each.secret,
        )
        for each in file.arguments
    )
    return PromptDefinition(
        name=file.name, description=file.description, arguments=arguments, template=file.template
    )


def _explain_error(error: ValidationError, source: str) -> ConfigurationError:
    problems = [_problem(cast("dict[str, Any]", each), source) for each in error.errors(include_url=False)]
    return _error("\n".join(problems))


def _problem(problem: dict[str, Any], source: str) -> str:
    path: tuple[str | int, ...] = problem["loc"]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    if problem["type"] == "missing":
        return f"{source}: field {field!r}: must be given"
    if problem["type"] == "extra_forbidden":
        known = ", ".join((_File if len(path) == 1 else _Argument).model_fields)
        return f"{source}: unknown field {field!r}; known here: {known}"
    value: object = problem["input"]
    text = str(problem["msg"]).replace("Input should be", "must be").replace("String should", "must")
    hint = ""
    if problem["type"] == "string_type" and type(value) not in (list, dict) and not _is_json(source):
        hint = "; YAML takes yes, no, null, numbers and dates for something other than text: put it in quotes"
    return f"{source}: field {field!r}: {text}, got {_brief(value)}{hint}"


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def _fault(source: str, field: str | None, reason: str) -> ConfigurationError:
    return _error(f"{source}: field {field!r}: {reason}" if field else f"{source}: {reason}")


def _error(message: str) -> ConfigurationError:
    return ConfigurationError(message, suggestion="Correct the file, or remove it from the folder.")
