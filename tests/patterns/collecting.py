"""Collect every regular expression in the sources, and the places where one is made at run time."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import footlight

__all__ = ["Collected", "Found", "collect_patterns"]

SOURCES = Path(footlight.__file__).parent
METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern, where it stands, and the methods that it is used by."""

    place: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


@dataclass(slots=True)
class Collected:
    """`dynamic` are the places of patterns that are put together from something known at run time only."""

    patterns: list[Found] = field(default_factory=list[Found])
    dynamic: list[str] = field(default_factory=list[str])


@functools.cache
def collect_patterns() -> Collected:
    """Read all modules, and import those that have patterns, once in a process."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCES.rglob("*.py"))}
    uses = _uses(trees)
    found = Collected()
    for path, tree in trees.items():
        for scope, name, call in _calls(tree):
            place = f"{path.relative_to(SOURCES)}:{call.lineno}"
            assert isinstance(call.func, ast.Attribute)
            try:
                flags = [word.value for word in call.keywords if word.arg == "flags"]
                at = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "split": 3}.get(call.func.attr)
                flags += call.args[at : at + 1] if at else []
                module = _module(path)
                pattern = re.compile(_value(call.args[0], module), _value(flags[0], module) if flags else 0)
            except NameError:
                found.dynamic.append(f"{path.relative_to(SOURCES)}:{scope}")
                continue
            methods = (
                {call.func.attr}
                if call.func.attr != "compile"
                else uses.get((path if name.startswith("_") else None, name))
            )
            found.patterns.append(Found(place, pattern, frozenset(methods or {"search", "sub"})))
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[str, str, ast.Call]]:
    """Calls of `re`'s functions, with the function that they are in, and the name that they are given."""

    def visit(node: ast.AST, scope: str, name: str) -> Iterator[tuple[str, str, ast.Call]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            scope = node.name
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        if isinstance(node, ast.Call) and _is_of_re(node.func):
            yield scope, name, node
        for child in ast.iter_child_nodes(node):
            yield from visit(child, scope, name)

    return visit(tree, "", "")


def _is_of_re(function: ast.AST) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in ("compile", *METHODS)
    )


def _uses(trees: Mapping[Path, ast.Module]) -> dict[tuple[Path | None, str], set[str]]:
    """By module and name of a pattern, the methods that are taken of it; public names are used anywhere."""
    uses: defaultdict[tuple[Path | None, str], set[str]] = defaultdict(set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
                name = node.value.id
                uses[path if name.startswith("_") else None, name].add(node.attr)
    return uses


def _module(path: Path) -> ModuleType:
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return importlib.import_module(".".join(parts).removesuffix(".__init__"))


def _value(expression: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(expression), module.__file__ or "", "eval"), vars(module))
