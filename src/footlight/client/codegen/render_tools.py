"""Render the tools of a server as the text of a Python module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from footlight.client.codegen.expressions import SimpleType
from footlight.client.codegen.layout import STEP, assignment, call_lines
from footlight.client.codegen.module import Method, Module, NamespaceClass, plan_module
from footlight.client.codegen.python_text import LINE_LENGTH, comment_safe, docstring, string
from footlight.client.codegen.render_types import TypeWriter
from footlight.client.handles import adapters
from footlight.client.handles.adapters import ADAPTERS, choose_adapter
from footlight.client.handles.handle import ROOT
from footlight.client.handles.registry import registry_hash, tool_hash
from footlight.protocol.tools import Tool

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
) -> PendingConnection[McpHandle]:
    """Connect, check that the tools are those of this module, and open the session.

    `await` it for a handle that you close, or `async with` it. `log` is made by `create_logger`; without one
    the calls are written to standard output. `timeout_ms` bounds each call.

    Raises what `footlight.client.handles.connect` raises: `RegistryDriftError` if the tools differ.
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
    """The origin of a generated module. Its header shows some of it."""

    server: str = ""
    """The command or URL of the server."""
    variables: Sequence[str] = ()
    """The environment variables that replace secrets in `server`, as `${NAME}`."""
    regenerate: str = ""
    """The command that generates the module again."""
    server_name: str = ""
    adapter: str | None = None
    """A name in `ADAPTERS`, or None for the adapter that fits the tools."""
    generated: str = ""
    """The time of generation, in ISO 8601."""


def render_tools(tools: Iterable[Tool], source: Source | None = None) -> str:
    """Return the text of the module. The order of the tools does not matter, and duplicates are ignored."""
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
            *_imports(types.used, adapter, methods=bool(module.namespaces), variables=source.variables),
            *("", f'REGISTRY_HASH = "{registry_hash(listed)}"'),
            *_server(source),
            *assignment("REGENERATE", SimpleType(string(source.regenerate)), {}),
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
    return [
        FIRST_LINE,
        f"# Regenerate: {comment_safe(source.regenerate)}".rstrip(),
        f"{GENERATED}{source.generated}".rstrip(),
        f"# Tools: {count}  Hash: {hash}",
    ]


def _server(source: Source) -> list[str]:
    if not source.variables:
        return assignment("SERVER", SimpleType(string(source.server)), {})
    words = [string(source.server), *map(string, source.variables)]
    return call_lines("SERVER = ServerFromEnvironment", words, "", indent="")


def _imports(used: set[str], adapter: str, *, methods: bool, variables: Sequence[str]) -> list[str]:
    """Return the imports that the module uses."""
    typing = {"Any", "Literal", "Never", "NotRequired", "Required", "TypeAlias", "TypedDict"} & used
    runtime = {"SessionBinding", "CallLog", "PendingConnection", "Handle", "Registry", "connect"}
    if variables:
        runtime |= {"ServerFromEnvironment"}
    if methods:
        typing |= {"Any", "Unpack", "overload"}
        runtime |= {"CallOptions", "Namespace"}
    return [
        *([*_import("typing", typing), ""] if typing else []),
        *_import("footlight.client.handles", runtime),
        *_import("footlight.client.handles.adapters", {"Adapter", _variable(adapter)}),
    ]


def _import(module: str, names: Iterable[str]) -> list[str]:
    sorted_names = sorted(names, key=lambda name: (name.islower(), name))
    line = f"from {module} import {', '.join(sorted_names)}"
    if len(line) <= LINE_LENGTH:
        return [line]
    return [f"from {module} import (", *(f"{STEP}{name}," for name in sorted_names), ")"]


def _namespace(namespace: NamespaceClass, module: Module, types: TypeWriter) -> list[str]:
    """Return the class of a namespace, after the types that its methods use and that are not written yet."""
    before: list[str] = []
    lines = ["", "", f"class {namespace.class_name}(Namespace):"]
    for number, method in enumerate(namespace.methods):
        before += types.write(method.arguments)
        if method.result is not None:
            before += types.write(method.result)
        lines += [*([""] if number else []), *_method(method, module)]
    return before + lines


def _method(method: Method, module: Module) -> list[str]:
    """Return a method. It takes its arguments as keywords, or as one mapping followed by call options."""
    arguments = module.names[method.arguments]
    result = "Any" if method.result is None else module.names[method.result]
    each = f"Unpack[{arguments}]" if method.each_argument is None else _type_text(method.each_argument)
    head, indent = f"{STEP}async def {method.attribute}", STEP
    tool = method.tool
    return [
        f"{STEP}@overload",
        *call_lines(head, ["self", "/", f"**arguments: {each}"], f" -> {result}: ...", indent=indent),
        f"{STEP}@overload",
        *call_lines(
            head,
            ["self", f"arguments: {arguments}", "/", "**options: Unpack[CallOptions]"],
            f" -> {result}: ...",
            indent=indent,
        ),
        *call_lines(
            head, ["self", "arguments: Any = None", "/", "**keywords: Any"], " -> Any:", indent=indent
        ),
        *docstring(tool.description or tool.title or "", indent=STEP * 2),
        *call_lines(
            f"{STEP * 2}return await self._invoke",
            [string(method.wire), "arguments", "keywords"],
            "",
            indent=STEP * 2,
        ),
    ]


def _type_text(expression: object) -> str:
    return expression.text if isinstance(expression, SimpleType) else "Any"


def _handle(module: Module, hidden: Sequence[str]) -> list[str]:
    aliased = all(each.attribute != "root" for each in module.namespaces)
    lines = [
        *("", "", "class McpHandle(Handle):"),
        *docstring(_describe_namespaces(module, hidden, aliased=aliased), indent=STEP),
        "",
        f"{STEP}def __init__(self, bound: SessionBinding) -> None:",
        f"{STEP * 2}super().__init__(bound)",
    ]
    for namespace in module.namespaces:
        also = " = self.root" if namespace.wire == ROOT and aliased else ""
        target = f"{STEP * 2}self.{namespace.attribute}{also} = "
        arguments = ["bound", string(namespace.wire)]
        lines += call_lines(target + namespace.class_name, arguments, "", indent=STEP * 2)
    return lines


def _describe_namespaces(module: Module, hidden: Sequence[str], *, aliased: bool) -> str:
    """Return the docstring of the handle, which lists the namespaces and explains `_root`."""
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
    """Return the name by which a module imports an adapter."""
    return next(name for name in adapters.__all__ if getattr(adapters, name) is ADAPTERS[adapter])
