"""Python classes and functions: their signatures, fields and docstrings."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
from collections.abc import Callable, Collection, Iterator
from types import ModuleType
from typing import Any

from typing_extensions import is_protocol

import footlight
from footlight import audit
from footlight.client.handles import adapters
from scripts.reference.markdown import bullets, code_block, join, prose

MAX_SIGNATURE = 100
MAX_DEFAULT = 120


def render_definition(
    thing: Any,
    *,
    is_constructed: bool = True,
    hidden_methods: Collection[str] = (),
    requires_docstrings: bool = False,
) -> str:
    """Render a class with its members, or a function.

    Args:
        is_constructed: Whether programs construct it, so that its constructor is shown.
        hidden_methods: Methods that are not for programs to call.
        requires_docstrings: Whether methods without a docstring are left out.
    """
    heading = f"### {_importable_from(thing)}.{thing.__name__}"
    if not inspect.isclass(thing):
        return join([heading, code_block([_signature(thing)]), *_render_docstring(thing)])
    parts = [heading, *_render_docstring(thing)]
    if is_constructed and not issubclass(thing, Exception) and not is_protocol(thing):
        lines = _fields(thing) if dataclasses.is_dataclass(thing) else [_signature(thing)]
        parts.append(code_block(lines))
    members = [(name, each) for name, each in vars(thing).items() if not name.startswith("_")]
    if properties := [_property(name, each) for name, each in members if isinstance(each, property)]:
        parts.append("\n".join(properties))
    for name, each in members:
        function = getattr(each, "__func__", each)
        if not inspect.isfunction(function) or name in hidden_methods:
            continue
        if function.__doc__ or not requires_docstrings:
            parts += [code_block([_signature(function)]), *_render_docstring(function)]
    return join(parts)


def render_title(thing: Any) -> str:
    """Render only the heading and the docstring."""
    return join([f"### {_importable_from(thing)}.{thing.__name__}", *_render_docstring(thing)])


def _importable_from(thing: Any) -> str:
    """Return the public package that exports it, or else its module."""
    for package in (footlight, adapters, audit):
        if thing.__name__ in package.__all__ and getattr(package, thing.__name__) is thing:
            return package.__name__
    return thing.__module__


def _signature(thing: Callable[..., object]) -> str:
    """Write a signature on one line where it fits, otherwise with one parameter on each line."""
    signature = inspect.signature(thing)
    parameters = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    written = [_parameter(each) for each in parameters]
    keyword_only = [each.kind is each.KEYWORD_ONLY for each in parameters]
    if any(keyword_only):
        written.insert(keyword_only.index(True), "*")
    name = getattr(thing, "__name__", "")
    start = f"{'async ' if inspect.iscoroutinefunction(thing) else ''}{name}("
    end = ")" if inspect.isclass(thing) else f") -> {signature.return_annotation}"
    line = f"{start}{', '.join(written)}{end}"
    if len(line) <= MAX_SIGNATURE:
        return line
    return "\n".join([start, *(f"    {each}," for each in written), end])


def _parameter(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
    return f"{parameter.name}: {parameter.annotation}{default}"


def _default(value: object) -> str:
    written = repr(value)
    return "…" if callable(value) or len(written) > MAX_DEFAULT else written


def _fields(thing: Any) -> Iterator[str]:
    yield thing.__name__
    for each in dataclasses.fields(thing):
        if each.default_factory is not dataclasses.MISSING:
            default = f" = {each.default_factory()!r}"
        else:
            default = "" if each.default is dataclasses.MISSING else f" = {_default(each.default)}"
        if each.name != "_":
            yield f"    {each.name}: {each.type}{default}"


def _property(name: str, each: property) -> str:
    kind = each.fget.__annotations__["return"] if each.fget else "object"
    text = prose(each.__doc__)
    return f"- `{name}: {kind}`{f': {text}' if text else ''}"


def _render_docstring(thing: Any) -> Iterator[str]:
    body, _, raised = inspect.cleandoc(thing.__doc__ or "").partition("Raises:\n")
    for part in body.split("\n\n"):
        if part.startswith("Args:\n"):
            yield bullets(f"`{name}`: {prose(text)}" for name, text in _get_entries(part))
        elif part.strip():
            yield prose(part)
    if entries := _get_entries(raised):
        yield bullets(f"Raises `{name}`: {prose(text)}" for name, text in entries)


def _get_entries(section: str) -> list[tuple[str, str]]:
    return re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section, re.MULTILINE)


def attribute_docstrings(scope: type | ModuleType) -> dict[str, str]:
    """Return the strings that follow assignments in a class or module, by the name that is assigned."""
    tree = ast.parse(inspect.getsource(scope))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else tree.body
    found: dict[str, str] = {}
    for statement, following in itertools.pairwise(body):
        text = _get_literal(following)
        if text is None:
            continue
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found[statement.target.id] = text
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found[statement.targets[0].id] = text
    return found


def _get_literal(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement.value.value if isinstance(statement.value.value, str) else None
    return None
