"""Plan a generated module: its namespaces and methods, its definitions, and all names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from footlight.client.codegen.definitions import AliasDefinition, Definition, Path, Translator
from footlight.client.codegen.expressions import Expression, SimpleType, Subscript
from footlight.client.codegen.names import attributes, pascal, shorten, type_names
from footlight.client.handles.adapters import KnownAdapter
from footlight.client.handles.handle import ROOT, Handle, Namespace
from footlight.protocol.tools import Tool
from footlight.protocol.untrusted_json import cut_depth

__all__ = ["Method", "Module", "NamespaceClass", "plan_module", "split_name"]

RESERVED_TYPES = frozenset(
    (
        *("Adapter", "CallLog", "CallOptions", "Handle", "Namespace", "PendingConnection", "Registry"),
        "SessionBinding",
        *("Any", "Literal", "Never", "NotRequired", "Required", "TypeAlias", "TypedDict", "Unpack"),
        *("False", "McpHandle", "None", "REGENERATE", "Root", "SERVER", "ServerFromEnvironment", "True"),
    )
)
"""Names that generated modules use. No generated class may have one of them."""
RESERVED_METHODS = frozenset(
    (
        *(*dir(Namespace), "_bound", "_name"),
        *("Any", "CallOptions", "Never", "Unpack", "bool", "float", "int", "overload", "str"),
    )
)
"""Names that the methods of a generated class use. No method may have one of them."""
RESERVED_NAMESPACES = frozenset((*dir(Handle), "_bound", ROOT))

NO_WORD = "Unnamed"
SHORT = 40
"""The maximum length of the names of namespaces, and of tool names within class names."""


@dataclass(frozen=True, slots=True)
class Method:
    """The method of a tool. `arguments` and `result` are keys of definitions."""

    tool: Tool
    wire: str
    """The name within the namespace."""
    attribute: str
    arguments: str
    each_argument: Expression | None
    """The type of all arguments if the tool does not name its parameters, else None."""
    result: str | None


@dataclass(frozen=True, slots=True)
class NamespaceClass:
    """The tools whose names begin with the same word and a dot."""

    wire: str
    attribute: str
    class_name: str
    methods: Sequence[Method]


@dataclass(frozen=True, slots=True)
class Module:
    """The content of a generated module. `names` maps the keys of definitions to class names."""

    namespaces: Sequence[NamespaceClass]
    definitions: Mapping[str, Definition]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Types:
    """The types of a tool's arguments and result."""

    tool: Tool
    definitions: Mapping[str, Definition]
    paths: Mapping[str, Path]
    arguments: Definition
    result: Definition | None

    @property
    def arguments_key(self) -> str:
        return f"arguments of {self.tool.name}"

    @property
    def result_key(self) -> str:
        return f"result of {self.tool.name}"


def plan_module(tools: Iterable[Tool], adapter: KnownAdapter) -> Module:
    """Plan the module of these tools. Each tool must be given once; the order does not matter."""
    grouped: dict[str, list[_Types]] = {}
    for tool in sorted(tools, key=lambda tool: tool.name):
        injected = adapter.injected_keys if adapter.has_session(tool) else ()
        grouped.setdefault(split_name(tool.name)[0], []).append(_types_of(tool, injected))
    alone = attributes(grouped.keys() - {ROOT}, reserved=RESERVED_NAMESPACES, longest=SHORT)
    alone[ROOT] = ROOT
    inside = {
        namespace: attributes((split_name(each.tool.name)[1] for each in types), reserved=RESERVED_METHODS)
        for namespace, types in grouped.items()
    }
    # Within a class, the names of its methods hide those of the module.
    reserved = RESERVED_TYPES.union(*(names.values() for names in inside.values()))
    everything = [each for types in grouped.values() for each in types]
    classes = _class_names(grouped.keys() - {ROOT}, reserved) | {ROOT: "Root"}
    return Module(
        [
            NamespaceClass(
                namespace,
                alone[namespace],
                classes[namespace],
                [_method(each, inside[namespace]) for each in types],
            )
            for namespace, types in sorted(grouped.items(), key=lambda item: (item[0] == ROOT, item[0]))
        ],
        _definitions(everything),
        _names(everything, reserved | set(classes.values())),
    )


def split_name(name: str) -> tuple[str, str]:
    """Split the name of a tool into namespace and method, at the first dot."""
    namespace, dot, method = name.partition(".")
    # Methods in `_root` call tools without a prefix, so a tool name that begins with `_root.` is not split.
    return (namespace, method) if dot and namespace != ROOT else (ROOT, name)


def _types_of(tool: Tool, injected: Sequence[str]) -> _Types:
    translator = Translator(cut_depth(tool.input_schema))
    arguments = translator.arguments(without=injected)
    if tool.output_schema is None:
        return _Types(tool, translator.definitions, translator.paths, arguments, None)
    gives = Translator(cut_depth(tool.output_schema))
    result = gives.result()
    return _Types(
        tool, translator.definitions | gives.definitions, translator.paths | gives.paths, arguments, result
    )


def _method(types: _Types, names: Mapping[str, str]) -> Method:
    wire = split_name(types.tool.name)[1]
    return Method(
        types.tool,
        wire,
        names[wire],
        types.arguments_key,
        _find_value_type(types.arguments),
        None if types.result is None else types.result_key,
    )


def _find_value_type(arguments: Definition) -> Expression | None:
    if not isinstance(arguments, AliasDefinition):
        return None
    values = arguments.type.arguments[-1] if isinstance(arguments.type, Subscript) else None
    return values if isinstance(values, SimpleType) else SimpleType("Any")


def _definitions(everything: Sequence[_Types]) -> dict[str, Definition]:
    definitions: dict[str, Definition] = {}
    for types in everything:
        definitions |= types.definitions
        definitions[types.arguments_key] = types.arguments
        if types.result is not None:
            definitions[types.result_key] = types.result
    return definitions


def _class_names(namespaces: Iterable[str], reserved: frozenset[str]) -> dict[str, str]:
    return type_names(
        {name: [shorten(pascal(name) or NO_WORD, SHORT)] for name in namespaces}, reserved=reserved
    )


def _names(everything: Sequence[_Types], reserved: frozenset[str]) -> dict[str, str]:
    """Return names for all definitions. Arguments and results are named before nested definitions."""
    tops: dict[str, list[str]] = {}
    inner: dict[str, list[tuple[str, Path]]] = {}
    for types in everything:
        owner = shorten(pascal(types.tool.name) or NO_WORD, SHORT)
        tops[types.arguments_key] = [f"{owner}Arguments"]
        if types.result is not None:
            tops[types.result_key] = [f"{owner}Result"]
        for key in types.definitions:
            inner.setdefault(key, []).append((owner, types.paths[key]))
    named = type_names(tops, reserved=reserved)
    candidates = {key: _candidates(found) for key, found in inner.items()}
    return {**named, **type_names(candidates, reserved=reserved | set(named.values()))}


def _candidates(found: Sequence[tuple[str, Path]]) -> list[str]:
    """Return candidates for the name of a definition: its path, after the tool's name if only one has it."""
    owners = {owner for owner, _ in found}
    path = min((path for _, path in found), key=lambda path: (len(path), path))
    last = (path[-1] if path else "") or "Part"
    if len(owners) > 1:
        return [last, "".join(path) or last]
    return [f"{min(owners)}{last}", f"{min(owners)}{''.join(path)}"]
