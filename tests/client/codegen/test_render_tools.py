"""The text of a generated module."""

from __future__ import annotations

import ast
from typing import Any, get_overloads

import pytest

from footlight.client.codegen.names import attributes
from footlight.client.handles.adapters import browser_session, no_session, szkrabok_session
from footlight.client.handles.handle import Handle, Namespace
from footlight.client.handles.registry import registry_hash, tool_hash
from footlight.protocol.tools import Tool
from tests.client.codegen.modules import execute, render, tool

SESSION = {"sessionName": {"type": "string"}}

GOTO = tool(
    "nav.goto",
    {
        **SESSION,
        "url": {"type": "string", "description": "Where to go."},
        "wait": {"enum": ["load", "commit"], "description": "When it is done", "default": "load"},
    },
    *("sessionName", "url"),
    description="Go to a page.",
    output_schema={"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
)
HEALTH = tool("health", description="Whether it works.")

MODULE = '''\
# AUTO-GENERATED — do not edit manually.
# Regenerate: footlight codegen --server "footlight serve" --out mcp_tools.py
# Last generated: 2026-02-24T10:00:00Z
# Tools: 3  Hash: HASH
"""Typed handles of Test 1.0. `mcp_connect` opens one."""

# ruff: noqa

from typing import Any, Literal, NotRequired, TypedDict, Unpack, overload

from footlight.client.handles import (
    CallLog,
    CallOptions,
    Handle,
    Namespace,
    PendingConnection,
    Registry,
    SessionBinding,
    connect,
)
from footlight.client.handles.adapters import Adapter, szkrabok_session

REGISTRY_HASH = "HASH"
SERVER = "footlight serve"
REGENERATE = 'footlight codegen --server "footlight serve" --out mcp_tools.py'


class NavGotoArguments(TypedDict):
    url: str
    """Where to go."""
    wait: NotRequired[Literal["load", "commit"]]
    """When it is done. Default: "load"."""


class NavGotoResult(TypedDict):
    url: str


class Nav(Namespace):
    @overload
    async def goto(self, /, **arguments: Unpack[NavGotoArguments]) -> NavGotoResult: ...
    @overload
    async def goto(self, arguments: NavGotoArguments, /, **options: Unpack[CallOptions]) -> NavGotoResult: ...
    async def goto(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Go to a page."""
        return await self._invoke("goto", arguments, keywords)


class HealthArguments(TypedDict):
    """Empty."""


class Root(Namespace):
    @overload
    async def health(self, /, **arguments: Unpack[HealthArguments]) -> Any: ...
    @overload
    async def health(self, arguments: HealthArguments, /, **options: Unpack[CallOptions]) -> Any: ...
    async def health(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Whether it works."""
        return await self._invoke("health", arguments, keywords)


class McpHandle(Handle):
    """The server's tools, by the word before the first dot of their names.

    - `nav`: goto
    - `_root`, or `root` (names without a dot): health

    About the session itself, and so only for `call`: session.open.
    """

    def __init__(self, bound: SessionBinding) -> None:
        super().__init__(bound)
        self.nav = Nav(bound, "nav")
        self._root = self.root = Root(bound, "_root")


TOOL_HASHES = {
    "health": "H1",
    "nav.goto": "H2",
    "session.open": "H3",
}


def mcp_connect(
    session_name: str,
    adapter: Adapter = szkrabok_session,
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
    )
'''


def test_whole_module_matches_the_expected_text() -> None:
    """Header, imports, hash, handle, connect, in this order; no key, no
    `session.*`."""
    tools = [GOTO, tool("session.open", SESSION, "sessionName"), HEALTH]
    written = render(
        *tools,
        adapter="szkrabok",
        server="footlight serve",
        regenerate='footlight codegen --server "footlight serve" --out mcp_tools.py',
        server_name="Test 1.0",
        generated="2026-02-24T10:00:00Z",
    )

    expected = MODULE.replace("HASH = ", "hash = ").replace("Hash: HASH", f"Hash: {registry_hash(tools)}")
    expected = expected.replace('"HASH"', f'"{registry_hash(tools)}"').replace("hash = ", "HASH = ")
    for number, each in enumerate((HEALTH, GOTO, tools[1]), start=1):
        expected = expected.replace(f'"H{number}"', f'"{tool_hash(each)}"')
    assert written == expected


@pytest.mark.parametrize(
    ("adapter", "default", "keys"),
    [
        ("szkrabok", szkrabok_session, ["url", "wait"]),
        ("browser", browser_session, ["sessionName", "url", "wait"]),
        ("none", no_session, ["sessionName", "url", "wait"]),
    ],
)
def test_adapter_determines_defaults_and_injected_keys(
    adapter: str, default: object, keys: list[str]
) -> None:
    """The generator asks the adapter which key to leave out."""
    module = execute(render(GOTO, adapter=adapter))

    assert module["mcp_connect"].__defaults__[-1] is default
    assert list(module["NavGotoArguments"].__annotations__) == keys


@pytest.mark.parametrize(
    ("offered", "adapter"),
    [
        (("session.open", "health"), "szkrabok_session"),
        (("create_session",), "browser_session"),
        ((), "no_session"),
    ],
)
def test_default_adapter_is_chosen_from_the_tools(offered: tuple[str, ...], adapter: str) -> None:
    module = render(*map(tool, offered), adapter=None)  # type: ignore[arg-type]

    assert f"import Adapter, {adapter}\n" in module


def test_names_are_split_at_the_first_dot() -> None:
    module = render(*map(tool, ("nav.goto", "browser.run_test", "browser.run.file", "health")))

    assert _calls(module) == {
        ("nav", "goto"): "goto",
        ("browser", "run_test"): "run_test",
        ("browser", "run_file"): "run.file",
        ("_root", "health"): "health",
    }


def test_docstring_explains_a_missing_root_namespace() -> None:
    assert "`_root` would be" in execute(render(tool("nav.goto")))["McpHandle"].__doc__


def test_tools_named_root_get_their_own_namespace() -> None:
    module = render(tool("root.x"), tool("y"), tool("_root.z"))

    assert _calls(module) == {("root", "x"): "x", ("_root", "y"): "y", ("_root", "_root_z"): "_root.z"}
    assert "self.root = Root_" in module
    assert "self._root = Root(" in module


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        *((name, name) for name in ("goto", "fillForm", "_x", "match", "list", "type")),
        *(("class", "class_"), ("None", "None_"), ("run.file", "run_file"), ("get-sum", "get_sum")),
        *(
            ("1st", "_1st"),
            ("é", "_"),
            ("", "_"),
            ("close", "close_"),
            ("__init__", "_init__"),
            ("__x", "_x"),
        ),
    ],
)
def test_attribute_is_the_tool_name_or_a_safe_variant(name: str, attribute: str) -> None:
    """Requirements, section 4: keywords get an underscore, and so does what the class has already."""
    assert attributes([name], reserved={"close"}) == {name: attribute}


def test_exact_name_takes_precedence_over_lookalike() -> None:
    found = attributes(["run.file", "run_file", "class", "class_"], reserved=())

    digits = {"run.file": found["run.file"][-4:], "class": found["class"][-4:]}
    assert found == {
        "run.file": f"run_file_{digits['run.file']}",
        "run_file": "run_file",
        "class": f"class_{digits['class']}",
        "class_": "class_",
    }


def test_a_colliding_alias_does_not_move_when_a_tool_is_added() -> None:
    one = attributes(["run.file", "run-file"], reserved=())
    more = attributes(["run.file", "run-file", "run file", "run_file"], reserved=())

    assert one == {
        "run.file": "run_file_" + one["run.file"][-4:],
        "run-file": "run_file_" + one["run-file"][-4:],
    }
    assert {name: more[name] for name in one} == one


@pytest.mark.parametrize("name", ["bound", "call", "close", "_bound", "__aenter__", "root", "_root", "class"])
def test_namespace_never_shadows_a_handle_attribute(name: str) -> None:
    module = execute(render(tool(f"{name}.x"), tool("health")))

    assert {word for word in vars(Handle) if word in vars(module["McpHandle"])} <= {
        "__init__",
        "__doc__",
        "__module__",
    }
    assert _calls(render(tool(f"{name}.x")))


@pytest.mark.parametrize(
    "name", ["_invoke", "__getitem__", "__init__", "_name", "_bound", "Any", "overload", "list"]
)
def test_method_never_shadows_a_namespace_attribute(name: str) -> None:
    module = execute(render(tool(f"nav.{name}"), tool("nav.after", output_schema={"type": "array"})))

    assert {word for word in vars(Namespace) if word in vars(module["Nav"])} <= {"__doc__", "__module__"}


@pytest.mark.parametrize(("name", "kind"), [("str", str), ("int", int), ("float", float), ("bool", bool)])
def test_method_never_shadows_a_type_of_arguments(name: str, kind: type) -> None:
    words = {"string": str, "integer": int, "number": float, "boolean": bool}
    schema = next(word for word, each in words.items() if each is kind)
    values = {"type": "object", "additionalProperties": {"type": schema}}
    module = execute(
        render(tool(f"nav.a{name}"), tool(f"nav.{name}"), Tool(name="nav.z", input_schema=values))
    )

    by_keyword, _ = get_overloads(module["Nav"].z)
    assert by_keyword.__annotations__["arguments"] is kind


@pytest.mark.parametrize("name", ["SERVER", "REGENERATE", "McpHandle", "Root"])
def test_class_never_has_the_name_of_another_part_of_the_module(name: str) -> None:
    inside = {name: {"type": "object", "properties": {"x": {"type": "integer"}}}}
    module = execute(render(tool(f"{name}.x"), tool("a", inside), tool("b", inside)))

    assert isinstance(module["SERVER"], str)
    assert isinstance(module["REGENERATE"], str)
    assert issubclass(module["McpHandle"], Handle)
    assert issubclass(module["Root"], Namespace)


@pytest.mark.parametrize(
    "key", ["self", "arguments", "options", "keywords", "parallel", "timeout_ms", "class", "x-y"]
)
def test_a_parameter_may_have_any_name(key: str) -> None:
    module = execute(render(tool("nav.goto", {key: {"type": "string"}}, key)))

    assert module["NavGotoArguments"].__annotations__ == {key: str}
    assert module["NavGotoArguments"].__required_keys__ == {key}


def test_nested_objects_are_named_and_shared_between_tools() -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    module = execute(
        render(
            tool("a", {"from": point, "size": {"type": "object", "properties": {"w": {"type": "integer"}}}}),
            tool(
                "b", {"to": {"type": "array", "items": point}}, output_schema={"properties": {"from": point}}
            ),
        )
    )

    classes = {name for name in module if name.endswith(("From", "ASize", "Item"))}
    assert classes == {"From", "ASize"}


def test_recursive_schema_becomes_a_recursive_type() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/node"}, "value": {"$ref": "#/$defs/json"}},
    }
    json = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/json"}}]}
    module = render(tool("x", input_schema={**node, "$defs": {"node": node, "json": json}}))

    assert 'XValue: TypeAlias = "str | list[XValue]"' in module
    assert 'next: NotRequired["XNext"]' in module
    execute(module)


def test_non_object_result_gets_a_type_alias() -> None:
    module = execute(render(tool("x", output_schema={"type": "array", "items": {"type": "integer"}})))

    assert module["XResult"] == list[int]


def test_duplicate_tool_has_one_method() -> None:
    twice = [tool("x", {"a": {}}), tool("x", {"b": {}})]

    assert render(*twice) == render(*reversed(twice))
    assert render(*twice).count("async def x") == 3


def test_tool_without_named_parameters_accepts_any() -> None:
    module = render(
        Tool(name="any", input_schema={"type": "object"}),
        Tool(name="texts", input_schema={"type": "object", "additionalProperties": {"type": "string"}}),
    )

    assert "**arguments: Any" in module
    assert "**arguments: str" in module
    assert execute(module)["TextsArguments"] == dict[str, str]


def test_one_of_requires_only_the_common_parameters() -> None:
    module = execute(
        render(
            tool(
                "x",
                input_schema={
                    "type": "object",
                    "properties": {"id": {"type": "string"}},
                    "required": ["id"],
                    "oneOf": [
                        {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                        {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
                    ],
                },
            )
        )
    )

    assert module["XArguments"].__required_keys__ == {"id"}
    assert module["XArguments"].__optional_keys__ == {"a", "b"}


def test_server_without_tools_gives_a_valid_module() -> None:
    assert execute(render())["TOOL_HASHES"] == {}


def _calls(module: str) -> dict[tuple[str, str], Any]:
    """Return what each method sends, by its namespace's name and its own."""
    tree = ast.parse(module)
    words = {
        node.value.func.id: node.value.args[1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.args[1:]
        and isinstance(node.value.args[1], ast.Constant)
    }
    return {
        (words[node.name], method.name): call.args[0].value
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name in words
        for method in node.body
        if isinstance(method, ast.AsyncFunctionDef)
        for call in ast.walk(method)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "_invoke"
    }
