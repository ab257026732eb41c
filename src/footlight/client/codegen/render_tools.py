"""The tools of a server become the text of a Python module (R000-50)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from footlight.client import adapters
from footlight.client.adapters import ADAPTERS, choose_adapter
from footlight.client.codegen.expressions import Word
from footlight.client.codegen.layout import STEP, assigned, called
from footlight.client.codegen.module import Method, Module, NamespaceClass, plan_module
from footlight.client.codegen.render_types import TypeWriter
from footlight.client.codegen.texts import comment_safe, docstring
from footlight.client.python_text import LINE_LENGTH, string
from footlight.client.results import Tool
from footlight.client.runtime.handle import ROOT
from footlight.client.runtime.registry import registry_hash, tool_hash

__all__ = ["FIRST_LINE", "GENERATED", "Source", "render_tools"]

FIRST_LINE = "# AUTO-GENERATED — do not edit manually."
GENERATED = "# Last generated: "

CONNECT = '''
def mcp_connect(
    session_name: str{default},
    adapter: Adapter = {adapter},
    *,
    server: object = SERVER,
    log: CallLog | None = None,
    timeout_ms: float | None = None,
) -> Connecting[McpHandle]:
    """Connect, see that the tools are those of this module, open the session.

    `await` it for a handle that you close, or `async with` it. `log` is made by `create_logger`; without one
    the calls are written to standard output. `timeout_ms` bounds each call.

    Raises what `footlight.client.runtime.connect` raises: `RegistryDriftError` where the tools are others.
    """
    return connect(
        McpHandle,
        session_name,
        adapter=adapter,
        server=server,
        registry=Registry(REGISTRY_HASH, TOOL_HASHES, REGENERATE),
        log=log,
        timeout_ms=timeout_ms,
    )'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a module is generated from, and how."""

    server: str = ""
    """The command or the URL that the module connects to."""
    regenerate: str = ""
    """The command that writes the module anew."""
    server_name: str = ""
    adapter: str | None = None
    """One of `ADAPTERS`; None is the one that fits the tools."""
    generated: str = ""
    """When: ISO 8601."""


def render_tools(tools: Iterable[Tool], source: Source | None = None) -> str:
    """The whole module. The order of the tools does not matter; one that is listed twice is written once."""
    source = source or Source()
    listed = sorted(tools, key=lambda tool: (tool.name, tool_hash(tool)))
    adapter = source.adapter or choose_adapter(listed)
    once = {tool.name: tool for tool in reversed(listed)}
    hidden = sorted(name for name in once if ADAPTERS[adapter].is_lifecycle(name))
    module = plan_module((tool for name, tool in once.items() if name not in hidden), ADAPTERS[adapter])
    types = TypeWriter(module.definitions, module.names)
    classes = [line for each in module.namespaces for line in _namespace(each, module, types)]
    return "\n".join(
        (
            *_header(source, registry_hash(listed), len(listed)),
            *docstring(f"Typed handles of {source.server_name or 'an MCP server'}. `mcp_connect` opens one."),
            *("", "# ruff: noqa", ""),
            *_imports(types.used, adapter, methods=bool(module.namespaces)),
            *("", f'REGISTRY_HASH = "{registry_hash(listed)}"'),
            *assigned("SERVER", Word(string(source.server)), {}),
            *assigned("REGENERATE", Word(string(source.regenerate)), {}),
            *classes,
            *_handle(module, hidden),
            *("", "", *_hashes(once.values()), ""),
            CONNECT.format(
                adapter=_variable(adapter), default=' = ""' if ADAPTERS[adapter].opens is None else ""
            ),
            "",
        )
    )


def _header(source: Source, hash: str, count: int) -> list[str]:
    """Four lines (R000-11)."""
    return [
        FIRST_LINE,
        f"# Regenerate: {comment_safe(source.regenerate)}".rstrip(),
        f"{GENERATED}{source.generated}".rstrip(),
        f"# Tools: {count}  Hash: {hash}",
    ]


def _imports(used: set[str], adapter: str, *, methods: bool) -> list[str]:
    """Only what the module uses, and the runtime before the adapters (R000-10)."""
    typing = {"Any", "Literal", "Never", "NotRequired", "Required", "TypeAlias", "TypedDict"} & used
    runtime = {"Bound", "CallLog", "Connecting", "Handle", "Registry", "connect"}
    if methods:
        typing |= {"Any", "Unpack", "overload"}
        runtime |= {"CallOptions", "Namespace"}
    return [
        *([*_import("typing", typing), ""] if typing else []),
        *_import("footlight.client.runtime", runtime),
        *_import("footlight.client.adapters", {"Adapter", _variable(adapter)}),
    ]


def _import(module: str, names: Iterable[str]) -> list[str]:
    sorted_names = sorted(names, key=lambda name: (name.islower(), name))
    line = f"from {module} import {', '.join(sorted_names)}"
    if len(line) <= LINE_LENGTH:
        return [line]
    return [f"from {module} import (", *(f"{STEP}{name}," for name in sorted_names), ")"]


def _namespace(namespace: NamespaceClass, module: Module, types: TypeWriter) -> list[str]:
    """The class, after what its methods take and give."""
    before: list[str] = []
    lines = ["", "", f"class {namespace.class_name}(Namespace):"]
    for number, method in enumerate(namespace.methods):
        before += types.write(method.arguments)
        if method.result is not None:
            before += types.write(method.result)
        lines += [*([""] if number else []), *_method(method, module)]
    return before + lines


def _method(method: Method, module: Module) -> list[str]:
    """The arguments as keywords, or as one mapping with the call's options beside it (R000-18, R000-19)."""
    arguments = module.names[method.arguments]
    result = "Any" if method.result is None else module.names[method.result]
    each = f"Unpack[{arguments}]" if method.each_argument is None else _word(method.each_argument)
    head, indent = f"{STEP}async def {method.attribute}", STEP
    tool = method.tool
    return [
        f"{STEP}@overload",
        *called(head, ["self", "/", f"**arguments: {each}"], f" -> {result}: ...", indent=indent),
        f"{STEP}@overload",
        *called(
            head,
            ["self", f"arguments: {arguments}", "/", "**options: Unpack[CallOptions]"],
            f" -> {result}: ...",
            indent=indent,
        ),
        *called(head, ["self", "arguments: Any = None", "/", "**keywords: Any"], " -> Any:", indent=indent),
        *docstring(tool.description or tool.title or "", indent=STEP * 2),
        *called(
            f"{STEP * 2}return await self._invoke",
            [string(method.wire), "arguments", "keywords"],
            "",
            indent=STEP * 2,
        ),
    ]


def _word(expression: object) -> str:
    return expression.text if isinstance(expression, Word) else "Any"


def _handle(module: Module, hidden: Sequence[str]) -> list[str]:
    aliased = all(each.attribute != "root" for each in module.namespaces)
    lines = [
        *("", "", "class McpHandle(Handle):"),
        *docstring(_described(module, hidden, aliased=aliased), indent=STEP),
        *("", f"{STEP}def __init__(self, bound: Bound) -> None:", f"{STEP * 2}super().__init__(bound)"),
    ]
    for namespace in module.namespaces:
        also = " = self.root" if namespace.wire == ROOT and aliased else ""
        target = f"{STEP * 2}self.{namespace.attribute}{also} = "
        arguments = ["bound", string(namespace.wire)]
        lines += called(target + namespace.class_name, arguments, "", indent=STEP * 2)
    return lines


def _described(module: Module, hidden: Sequence[str], *, aliased: bool) -> str:
    """The namespaces, and what `_root` is (R000-58)."""
    lines = ["The server's tools, by the word before the first dot of their names.", ""]
    for each in module.namespaces:
        name = f"`{each.attribute}`"
        if each.wire == ROOT:
            name = f"`{ROOT}`{', or `root`' if aliased else ''} (names without a dot)"
        lines.append(f"- {name}: {', '.join(method.attribute for method in each.methods)}")
    if all(each.wire != ROOT for each in module.namespaces):
        lines.append(f"- `{ROOT}` would be the tools without a dot in their names: there are none.")
    if hidden:
        lines += ["", f"About the session itself, and so only for `call`: {', '.join(hidden)}."]
    return "\n".join(lines)


def _hashes(tools: Iterable[Tool]) -> list[str]:
    entries = sorted((tool.name, tool_hash(tool)) for tool in tools)
    if not entries:
        return ["TOOL_HASHES: dict[str, str] = {}"]
    return ["TOOL_HASHES = {", *(f'{STEP}{string(name)}: "{hash}",' for name, hash in entries), "}"]


def _variable(adapter: str) -> str:
    """What an adapter is called where a module imports it."""
    return next(name for name in adapters.__all__ if getattr(adapters, name) is ADAPTERS[adapter])
