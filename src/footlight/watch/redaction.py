"""Mask the values of secrets and the text typed into fields, in calls that are shown to people."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from footlight.knowledge.redaction_rules import RedactionRules
from footlight.knowledge.sanitiser import Sanitiser, find_named_secrets
from footlight.knowledge.secret_texts import SecretTexts
from footlight.server.answers.masking import Mask, keep_unmasked
from footlight.server.answers.secrets import SecretText

if TYPE_CHECKING:
    from footlight.server.tools.declaration import Function, Tool

__all__ = ["TYPED", "Redactor", "find_typed_parameters"]

TYPED = "[typed text]"
"""The placeholder for any text that a call typed."""
USUAL_NAMES = frozenset(("text", "value", "typed", "promptText", "password", "username"))
"""Parameters with typed text, for calls of unknown tools."""
_SECRET: Any = typing.get_args(SecretText)[1]
MAX_TEXT_LENGTH = 20_000
MIN_SECRET_LENGTH = 6
"""The minimum length of a typed text that is treated as secret if its field is unknown."""


class Redactor:
    """Masks calls that are shown to people. Text typed into secret fields is also masked in later texts."""

    def __init__(
        self, tools: Iterable[Tool] = (), *, mask: Mask = keep_unmasked, secrets: Sequence[str] = ()
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._mask = mask
        self._rules = RedactionRules(secret_screens=frozenset(), known_texts=tuple(secrets))
        self._secrets = SecretTexts(secrets)

    def arguments(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as JSON, with a placeholder for each text that the call types."""
        return self._sanitiser().clean_data(self._mask(self._without_typed(tool, arguments)))

    def data(self, value: Any) -> Any:
        """Return a value as JSON of limited size."""
        return self._sanitiser().clean_data(self._mask(value))

    def text(self, text: str, longest: int = MAX_TEXT_LENGTH) -> str:
        """Return a text without secrets, cut to `longest` characters."""
        return self._sanitiser().clean_text(self._mask(text), longest)

    def lines(self, text: str) -> str:
        """Return a text of independent lines, such as a snapshot, without secrets."""
        sanitiser = self._sanitiser()
        lines = self._mask(text[:MAX_TEXT_LENGTH]).split("\n")
        sanitiser.remember_plain(lines)
        return "\n".join(sanitiser.clean_text(line) for line in lines)

    def learn(self, tool: str, arguments: Mapping[str, Any], *, field: str | None) -> None:
        """Remember text that was typed into an unknown field or into a field with a secret name.

        `field` contains all names of the field, or is None for an unknown field.
        """
        for text in find_named_secrets(arguments, self._rules):
            self._secrets.remember(text)
        for text in self._find_typed_texts(tool, arguments):
            unknown = field is None and len(text) >= MIN_SECRET_LENGTH
            if unknown or (field is not None and self._rules.is_secret_name(field)):
                self._secrets.remember(text)

    def _sanitiser(self) -> Sanitiser:
        return Sanitiser(self._rules, self._secrets)

    def _names(self, tool: str) -> frozenset[str]:
        known = self._tools.get(tool)
        return find_typed_parameters(known.function) if known else USUAL_NAMES

    def _without_typed(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        names = self._names(tool)
        return {key: self._argument(key, value, names) for key, value in arguments.items()}

    def _argument(self, name: str, value: Any, names: frozenset[str], depth: int = 0) -> Any:
        if name in names and value is not None and not isinstance(value, bool):
            # The values in a list or mapping of fields have their own names.
            return self._mask_each(value, names, depth) if _has_fields(value) else TYPED
        return self._mask_each(value, names, depth)

    def _mask_each(self, value: Any, names: frozenset[str], depth: int) -> Any:
        if depth > 8:
            return "…"
        if isinstance(value, Mapping):
            mapping = cast("Mapping[str, Any]", value)
            if isinstance(mapping.get("tool"), str) and isinstance(mapping.get("arguments"), Mapping):
                step = self._without_typed(mapping["tool"], mapping["arguments"])
                return {"tool": mapping["tool"], "arguments": step}
            return {
                str(key): self._argument(str(key), item, names, depth + 1) for key, item in mapping.items()
            }
        if isinstance(value, list):
            return [self._mask_each(item, names, depth + 1) for item in cast("list[Any]", value)]
        return value

    def _find_typed_texts(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        names = self._names(tool)
        waiting: list[tuple[str, Any]] = [*arguments.items()]
        while waiting:
            name, value = waiting.pop()
            if isinstance(value, str) and name in names:
                yield value
            elif isinstance(value, Mapping):
                waiting += cast("Mapping[str, Any]", value).items()
            elif isinstance(value, list):
                waiting += [(name, item) for item in cast("list[Any]", value)[:100]]


def _has_fields(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, Mapping) for item in cast("list[Any]", value))


@lru_cache(maxsize=512)
def find_typed_parameters(function: Function) -> frozenset[str]:
    """Return the names of the tool's parameters, at any depth, that accept text that may be secret."""
    found: set[str] = set()
    seen: set[Any] = set()
    for name, hint in typing.get_type_hints(function, include_extras=True).items():
        if name != "return":
            _collect(to_camel(name), hint, found, seen)
    return frozenset(found)


def _collect(name: str, hint: Any, found: set[str], seen: set[Any]) -> None:
    marks = getattr(hint, "__metadata__", ())
    if any(mark is _SECRET for mark in marks):
        found.add(name)
    for part in typing.get_args(hint):
        _collect(name, part, found, seen)
    if isinstance(hint, type) and hint not in seen and _is_record(hint):
        seen.add(hint)
        for field, inner in typing.get_type_hints(hint, include_extras=True).items():
            _collect(to_camel(field), inner, found, seen)


def _is_record(hint: type) -> bool:
    return typing.is_typeddict(hint) or hasattr(hint, "__total__") or issubclass(hint, BaseModel)
