"""Mask the values of secrets and the text typed into fields, in calls that are shown to people."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from footlight.knowledge.redaction_rules import RedactionRules
from footlight.knowledge.sanitiser import (
    MAX_ITEMS,
    MAX_KEY_CHARS,
    MAX_VALUE_CHARS,
    MAX_VALUES,
    OVERLAP_CHARS,
    Sanitiser,
    cut_for_search,
    find_named_secrets,
)
from footlight.knowledge.secret_texts import MAX_TEXTS, SecretTexts
from footlight.server.answers.masking import Mask, keep_unmasked
from footlight.server.answers.secrets import SecretText

if TYPE_CHECKING:
    from footlight.server.tools.declaration import Function, Tool

__all__ = ["TYPED", "Redactor", "find_typed_parameters"]

TYPED = "[typed text]"
"""The placeholder for any text that a call typed."""
USUAL_NAMES = frozenset(("text", "value", "typed", "fields", "promptText", "password", "username"))
"""Parameters with typed text, for calls of unknown tools."""
_SECRET: Any = typing.get_args(SecretText)[1]
MAX_TEXT_LENGTH = 20_000
MAX_SEARCHED = 30_000
"""The maximum number of characters of nested values that are searched for secrets. This takes up to 70 ms."""
MAX_DEPTH = 8
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

    def copy(self) -> Redactor:
        """Return a copy with the secrets that are known now, which another thread may use."""
        other = copy(self)
        other._secrets = self._secrets.copy()
        return other

    def arguments(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as JSON of limited size, with a placeholder for each text that is typed."""
        copied = _LimitedCopy(self._names).of_call(tool, arguments)
        return self._sanitiser().clean_data(self._mask(copied))

    def data(self, value: Any) -> Any:
        """Return a value as JSON of limited size."""
        return self._sanitiser().clean_data(self._mask(_LimitedCopy(self._names).of(value)))

    def text(self, text: str, longest: int = MAX_TEXT_LENGTH) -> str:
        """Return a text without secrets, cut to `longest` characters."""
        return self._sanitiser().clean_text(self._mask(cut_for_search(text, longest)), longest)

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
        self.remember(self.find_secrets(tool, arguments, field=field))

    def find_secrets(self, tool: str, arguments: Mapping[str, Any], *, field: str | None) -> list[str]:
        """Return the texts that `learn` remembers. This may run in another thread."""
        found = find_named_secrets(arguments, self._rules)
        for text in self._find_typed_texts(tool, arguments):
            unknown = field is None and len(text) >= MIN_SECRET_LENGTH
            if unknown or (field is not None and self._rules.is_secret_name(field)):
                found.append(text)
        return found[-MAX_TEXTS:]

    def remember(self, secrets: Iterable[str]) -> None:
        for text in secrets:
            self._secrets.remember(text)

    def _sanitiser(self) -> Sanitiser:
        return Sanitiser(self._rules, self._secrets)

    def _names(self, tool: str) -> frozenset[str]:
        known = self._tools.get(tool)
        return find_typed_parameters(known.function) if known else USUAL_NAMES

    def _find_typed_texts(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        names = self._names(tool)
        waiting: list[tuple[str, Any]] = [*arguments.items()]
        while waiting:
            name, value = waiting.pop()
            if isinstance(value, str) and name in names:
                yield value
            elif isinstance(value, Mapping):
                inner = cast("Mapping[str, Any]", value)
                waiting += [(name, item) for item in inner.values()] if name in names else inner.items()
            elif isinstance(value, list):
                # The values in a list of records have their own names.
                items = cast("list[Any]", value)[:100]
                waiting += [("" if isinstance(item, Mapping) else name, item) for item in items]


class _LimitedCopy:
    """Copies the values of a call that are shown, with a placeholder for each text that it types.

    The number of values and of characters is limited. A caller may send megabytes, and they are searched for
    secrets in the event loop.
    """

    def __init__(self, names_of: Callable[[str], frozenset[str]]) -> None:
        self._names_of = names_of
        self._values = MAX_VALUES
        self._characters = MAX_SEARCHED

    def of_call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self._of_mapping(arguments, self._names_of(tool), 0)

    def of(self, value: Any, names: frozenset[str] = frozenset(), depth: int = 0) -> Any:
        self._values -= 1
        if self._values < 0 or depth > MAX_DEPTH:
            return "…"
        if isinstance(value, str):
            return self._of_text(value, MAX_VALUE_CHARS)
        if isinstance(value, Mapping):
            mapping = cast("Mapping[str, Any]", value)
            if isinstance(mapping.get("tool"), str) and isinstance(mapping.get("arguments"), Mapping):
                tool = mapping["tool"]
                step = self._of_mapping(mapping["arguments"], self._names_of(tool), depth + 1)
                return {"tool": self._of_text(tool, MAX_KEY_CHARS), "arguments": step}
            return self._of_mapping(mapping, names, depth + 1)
        if isinstance(value, (list, tuple)):
            items = cast("Sequence[Any]", value)
            copied = [self.of(item, names, depth + 1) for item in items[: _count_kept(items)]]
            return [*copied, *_note_rest(items)]
        return value

    def _of_mapping(self, entries: Mapping[str, Any], names: frozenset[str], depth: int) -> dict[str, Any]:
        return self._copy_entries(entries, lambda name, item: self._of_argument(name, item, names, depth))

    def _copy_entries(
        self, entries: Mapping[str, Any], copy_value: Callable[[str, Any], Any]
    ) -> dict[str, Any]:
        copied = {
            self._of_text(str(key), MAX_KEY_CHARS): copy_value(str(key), item)
            for key, item in islice(entries.items(), _count_kept(entries))
        }
        for rest in _note_rest(entries):
            copied["…"] = rest
        return copied

    def _of_argument(self, name: str, value: Any, names: frozenset[str], depth: int) -> Any:
        if name not in names or value is None or isinstance(value, bool):
            return self.of(value, names, depth)
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, Any]", value)
            return self._copy_entries(
                fields, lambda _, item: item if item is None or isinstance(item, bool) else TYPED
            )
        # The values in a list of records have their own names.
        return self.of(value, names, depth) if _has_records(value) else TYPED

    def _of_text(self, text: str, longest: int) -> str:
        searched = min(len(text), longest + OVERLAP_CHARS)
        if searched > self._characters:
            return "…"
        self._characters -= searched
        return cut_for_search(text, longest)


def _count_kept(values: Mapping[str, Any] | Sequence[Any]) -> int:
    return len(values) if len(values) <= MAX_ITEMS else MAX_ITEMS - 1


def _note_rest(values: Mapping[str, Any] | Sequence[Any]) -> list[str]:
    rest = len(values) - _count_kept(values)
    return [f"… {rest} more"] if rest else []


def _has_records(value: Any) -> bool:
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
