"""Compare two versions of a generated module, tool by tool."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, cast

from footlight.client.handles.handle import ROOT

__all__ = ["constant", "differences"]


def constant(module: str, name: str) -> str | None:
    """Return a string constant of a module, or None if it has none or `module` cannot be parsed."""
    parsed = _parse_module(module)
    for node in parsed.body if parsed else ():
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=ast.Constant(value=str(text))) if (
                found == name
            ):
                return text
            case _:
                pass
    return None


def differences(old: str, new: str) -> list[str]:
    """Return a line for each kind of difference. The list is empty if the modules are equivalent."""
    before, after = _parse_module(old), _parse_module(new)
    if before is None or after is None:
        return ["the existing file is not a generated module"]
    known, live = _hashes(before), _hashes(after)
    same = {name for name in known.keys() & live.keys() if known[name] == live[name]}
    methods = _methods(before), _methods(after)
    names_by_change = {
        "new": live.keys() - known.keys(),
        "no longer there": known.keys() - live.keys(),
        "other parameters": (known.keys() & live.keys()) - same,
        "other words, result or method": {
            name for name in same if methods[0].get(name) != methods[1].get(name)
        },
    }
    lines = [f"{what}: {', '.join(sorted(names))}" for what, names in names_by_change.items() if names]
    if not lines and ast.dump(before) != ast.dump(after):
        lines.append("outside of the tools: the server's name, the command, the adapter, or our own text")
    return lines


def _parse_module(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _hashes(module: ast.Module) -> Mapping[str, str]:
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if any(isinstance(target, ast.Name) and target.id == "TOOL_HASHES" for target in targets):
            return _dictionary(cast("ast.Assign", node).value)
    return {}


def _dictionary(node: ast.expr) -> Mapping[str, str]:
    try:
        value: Any = ast.literal_eval(node)
    except ValueError:
        return {}
    return cast("dict[str, str]", value) if isinstance(value, dict) else {}


def _methods(module: ast.Module) -> Mapping[str, str]:
    """Return, by tool name, a dump of the tool's method and of all definitions that it refers to."""
    defined = {name: node for node in module.body for name in _list_defined_names(node)}
    namespaces = _namespaces(defined.get("McpHandle"))
    texts: dict[str, str] = {}
    for class_name, wire in namespaces.items():
        node = defined.get(class_name)
        parts: list[str] = []
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            parts.append(_render_with_definitions(method, defined))
            called = _find_called_tool(method)
            if called is not None:  # The overloads precede it.
                texts[called if wire == ROOT else f"{wire}.{called}"] = "\n".join(parts)
                parts = []
    return texts


def _list_defined_names(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def _namespaces(handle: ast.stmt | None) -> Mapping[str, str]:
    """Map each class to its namespace's name, from assignments such as `self.nav = Nav(bound, "nav")`."""
    calls = [node.value for node in ast.walk(handle) if isinstance(node, ast.Assign)] if handle else []
    return {
        call.func.id: str(call.args[1].value)
        for call in calls
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and len(call.args) == 2
        and isinstance(call.args[1], ast.Constant)
    }


def _find_called_tool(method: ast.stmt) -> str | None:
    """Return the tool that a method passes to `_invoke`, or None for an overload."""
    for node in ast.walk(method):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "_invoke"
        ):
            first = node.args[0] if node.args else None
            return str(first.value) if isinstance(first, ast.Constant) else None
    return None


def _render_with_definitions(method: ast.stmt, defined: Mapping[str, ast.stmt]) -> str:
    nodes: dict[str, ast.stmt] = {}
    waiting: list[ast.AST] = [method]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in defined and node.id not in nodes:
                nodes[node.id] = defined[node.id]
                waiting.append(defined[node.id])
    return "\n".join(ast.dump(node) for node in (method, *nodes.values()))
