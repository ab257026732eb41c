"""The prompt library, which renders prompts with a caller's arguments.

Errors in a prompt are detected when it is registered. The error of a request names the argument that the
caller must change. A rendered prompt contains no secrets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from footlight.server.answers.json_values import clean, count_work
from footlight.server.prompt_redaction import MARK, make_secret_mask, mask_json, names_selectors
from footlight.server.prompt_template import TemplateError, TextTemplate, format_value, parse

__all__ = [
    "InvalidArgumentError",
    "InvalidPromptError",
    "MissingArgumentError",
    "PromptArgument",
    "PromptDefinition",
    "PromptError",
    "PromptLibrary",
    "PromptNotFoundError",
    "check_prompt",
]

MAX_ITERATED_VALUES = 1_000
"""The maximum number of values, at any depth, in an argument over which a template iterates."""
MAX_ITERATED_LENGTH = 200_000
"""The maximum number of characters of such an argument as JSON."""
MAX_LENGTH = 1_000_000
"""The maximum number of characters of a rendered prompt. A loop can repeat a long argument."""
NAME = r"^[A-Za-z0-9._-]{1,128}$"
_ITERABLE = """a JSON object or array, such as {"title": "h1"} or ["h1", "h2"]"""


@dataclass(frozen=True, kw_only=True)
class PromptArgument:
    """An argument of a prompt."""

    name: str
    description: str
    required: bool
    default: str | None = None
    values: tuple[str, ...] = ()
    """An addition to MCP: suggestions for completion. Other values are accepted too."""
    secret: bool = False
    """An addition to MCP: the value never appears in the rendered prompt."""


@dataclass(frozen=True, kw_only=True)
class PromptDefinition:
    """A prompt with its name, its arguments, and a template in the language of `prompt_template`."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...]
    template: str


class PromptError(Exception):
    """A request for a prompt that cannot be answered."""


class PromptNotFoundError(PromptError):
    """There is no prompt with this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Prompt not found: {name}")


class MissingArgumentError(PromptError):
    """A required argument was not given."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Missing required argument: {name}")


class InvalidArgumentError(PromptError):
    """An argument is unknown, or its value cannot be used."""


class InvalidPromptError(ValueError):
    """A prompt cannot be registered. `field` is the field that is not valid."""

    def __init__(self, prompt: str, field: str, reason: str) -> None:
        super().__init__(f"prompt {prompt!r}, field {field!r}: {reason}")
        self.field = field
        self.reason = reason


class PromptLibrary:
    """Prompts by name."""

    def __init__(self) -> None:
        self._prompts: dict[str, tuple[PromptDefinition, TextTemplate]] = {}

    def register(self, prompt: PromptDefinition) -> None:
        """Add a prompt. It replaces an existing prompt with the same name.

        Raises:
            InvalidPromptError: the prompt is not valid. The message names the prompt, the field, and the
                line of a template.
        """
        self._prompts[prompt.name] = prompt, check_prompt(prompt)

    def get(self, name: str) -> PromptDefinition | None:
        prompt, _ = self._prompts.get(name, (None, None))
        return prompt

    def list(self) -> tuple[PromptDefinition, ...]:
        """Return all prompts in the order in which they were registered."""
        return tuple(prompt for prompt, _ in self._prompts.values())

    def render(self, name: str, arguments: Mapping[str, object]) -> str:
        """Return the text of a prompt.

        Over MCP, all values are strings. A string over which the template iterates is parsed as JSON. Other
        callers may pass JSON values.

        Raises:
            PromptError: the prompt does not exist, or an argument is missing, unknown, too large, or not
                JSON.
        """
        if name not in self._prompts:
            raise PromptNotFoundError(name)
        prompt, template = self._prompts[name]
        completed = _with_defaults(prompt, arguments)
        try:
            values = {
                key: _parse_iterable(key, value) if key in template.iterated else clean(value)
                for key, value in completed.items()
            }
            return _fill_in(prompt, template, values, arguments=arguments.keys())
        except RecursionError:
            raise InvalidArgumentError(f"An argument of {name} is nested too deeply") from None


def check_prompt(prompt: PromptDefinition) -> TextTemplate:
    """Check a prompt, and return its parsed template.

    Raises:
        InvalidPromptError: the prompt is not valid. The message names the prompt, the field, and the line
            of a template.
    """
    _check_name(prompt, "name", prompt.name)
    names: set[str] = set()
    for index, argument in enumerate(prompt.arguments):
        field = f"arguments[{index}].name"
        _check_name(prompt, field, argument.name)
        if argument.name in names:
            raise InvalidPromptError(prompt.name, field, f"a second argument {argument.name!r}")
        if re.fullmatch(r"else|this(?:\..*)?", argument.name):
            raise InvalidPromptError(
                prompt.name, field, f"{argument.name!r} is a word of the template language"
            )
        names.add(argument.name)
    try:
        template = parse(prompt.template, [argument.name for argument in prompt.arguments])
    except TemplateError as error:
        raise InvalidPromptError(prompt.name, "template", str(error)) from None
    _check_iterated(prompt, template)
    return template


def _check_name(prompt: PromptDefinition, field: str, name: str) -> None:
    if not re.fullmatch(NAME, name):
        raise InvalidPromptError(prompt.name, field, f"must match {NAME}, got {name!r}")


def _check_iterated(prompt: PromptDefinition, template: TextTemplate) -> None:
    for index, argument in enumerate(prompt.arguments):
        if argument.name not in template.iterated:
            continue
        if argument.secret:
            reason = f"{{{{#each {argument.name}}}}} would show a secret"
            raise InvalidPromptError(prompt.name, f"arguments[{index}].secret", reason)
        if argument.default is not None:
            try:
                _parse_iterable(argument.name, argument.default)
            except (InvalidArgumentError, RecursionError):
                reason = f"must be {_ITERABLE}, because the template goes over it"
                raise InvalidPromptError(prompt.name, f"arguments[{index}].default", reason) from None


def _with_defaults(prompt: PromptDefinition, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments, with defaults for those that are absent."""
    for argument in prompt.arguments:
        if argument.required and argument.name not in arguments:
            raise MissingArgumentError(argument.name)
    known = [argument.name for argument in prompt.arguments]
    for name in arguments:
        if name not in known:
            names = ", ".join(known) or "none"
            raise InvalidArgumentError(f"Unknown argument: {name}; {prompt.name} takes {names}")
    defaults = {each.name: each.default for each in prompt.arguments if each.default is not None}
    return {**defaults, **arguments}


def _parse_iterable(name: str, value: object) -> object:
    """Return the object or array that a template iterates over."""
    problem = ""
    if isinstance(value, str):
        if len(value) > MAX_ITERATED_LENGTH:
            raise InvalidArgumentError(f"Argument {name} has more than {MAX_ITERATED_LENGTH:,} characters")
        try:
            value = json.loads(value)
        except ValueError as error:
            problem = f": {error}"
    if count_work(value, characters=MAX_LENGTH, most=MAX_ITERATED_VALUES) > MAX_ITERATED_VALUES:
        raise InvalidArgumentError(f"Argument {name} has more than {MAX_ITERATED_VALUES:,} values")
    cleaned = clean(value)
    if type(cleaned) not in (dict, list):
        # The error does not show the value, which may contain a secret.
        raise InvalidArgumentError(f"Argument {name} must be {_ITERABLE}{problem}")
    return cleaned


def _fill_in(
    prompt: PromptDefinition,
    template: TextTemplate,
    values: Mapping[str, object],
    *,
    arguments: Collection[str],
) -> str:
    """Render the template. Secrets are masked only in the caller's values.

    The text of the template and its defaults are public. Masking a password that occurs in them would reveal
    the password.
    """
    secret = {argument.name for argument in prompt.arguments if argument.secret}
    mask = make_secret_mask(format_value(value) for name, value in values.items() if name in secret)
    safe: dict[str, object] = {}
    for name, value in values.items():
        if name in secret:
            safe[name] = MARK if value != "" else ""
        elif name in arguments:
            # Values over which a template iterates, such as texts to type, are not masked by key,
            # because the model needs them.
            masked = (
                value if name in template.iterated else mask_json(value, by_key=not names_selectors(name))
            )
            safe[name] = _without_all(masked, mask)
        else:
            safe[name] = value
    text = template.render(safe, max_length=MAX_LENGTH)
    if text is None:
        raise InvalidArgumentError(
            f"With these arguments, {prompt.name} has more than {MAX_LENGTH:,} characters"
        )
    return text


def _without_all(value: object, mask: Callable[[str], str]) -> object:
    """Return a JSON value in which all secrets in strings, keys and numbers are replaced by the marker."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value).items()
        return {mask(key): _without_all(item, mask) for key, item in entries}
    if isinstance(value, list):
        return [_without_all(item, mask) for item in cast("Sequence[object]", value)]
    text = format_value(value)
    safe = mask(text)
    return value if safe == text else safe
