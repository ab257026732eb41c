"""Any schema results in a module, in which no text of the server is code."""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footlight.client.codegen import schema_to_type
from footlight.protocol.tools import Tool
from tests.client.codegen.arbitrary import NASTY, Anything, anything
from tests.client.codegen.modules import execute, reformat, render
from tests.tiers import examples

KINDS = {
    *(ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.ClassDef, ast.FunctionDef),
    *(ast.AsyncFunctionDef, ast.Return, ast.Expr),
}
CALLS = {"TypedDict", "Registry", "connect", "super", "__init__", "_invoke"}

relaxed = examples(200)


@relaxed
@given(anything, st.sampled_from(("szkrabok", "browser", "none")))
def test_generated_module_contains_only_expected_code(server: Anything, adapter: str) -> None:
    text = server.text()
    module = render(*server.tools(), adapter=adapter, server=text, regenerate=text, server_name=text)

    tree = ast.parse(module)
    execute(module)

    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    assert {type(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)} <= KINDS
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            assert isinstance(node.value, ast.Constant | ast.Call)
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            assert called in CALLS | classes


@examples(100)
@given(anything)
def test_tool_order_does_not_change_the_module(server: Anything) -> None:
    tools = server.tools()
    others = server.chance.sample(tools, len(tools))

    assert render(*tools) == render(*others)


@pytest.mark.slow
@settings(relaxed, max_examples=5)
@given(anything)
def test_generated_module_is_formatted_like_ruff(server: Anything) -> None:
    texts = [render(*server.tools(), server=server.text(), server_name=server.text()) for _ in range(60)]
    with tempfile.TemporaryDirectory() as folder:
        assert reformat(texts, Path(folder)) == texts


@relaxed
@given(anything)
def test_property_type_is_a_valid_expression(server: Anything) -> None:
    ast.parse(schema_to_type(server.schema()), mode="eval")


def test_recursive_and_exponential_schemas_terminate() -> None:
    twice = {f"n{each}": {"allOf": [{"$ref": f"#/$defs/n{each + 1}"}] * 2} for each in range(60)}
    either = {f"n{each}": {"anyOf": [{"$ref": f"#/$defs/n{each + 1}"}] * 2} for each in range(60)}
    deep: dict[str, object] = {}
    for _ in range(900):
        deep = {"type": "object", "properties": {"x": deep}}

    for schema in (
        {"$ref": "#/$defs/n0", "$defs": twice},
        {"properties": {"x": {"$ref": "#/$defs/n0"}}, "$defs": either},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"properties": {"x": {"allOf": [{"$ref": "#"}, {"properties": {"y": {"$ref": "#/properties/x"}}}]}}},
        deep,
    ):
        execute(render(Tool(name="x", input_schema=schema, output_schema=schema)))


@pytest.mark.parametrize("text", NASTY)
def test_special_texts_are_rendered_everywhere(text: str) -> None:
    """Not only what hypothesis happens to choose."""
    schema = {
        "type": "object",
        "description": text,
        "properties": {text: {"type": "string", "description": text, "default": text, "enum": [text]}},
    }
    module = execute(
        render(Tool(name=text, description=text, input_schema=schema, output_schema=schema), server=text)
    )

    (arguments,) = [value for name, value in module.items() if name.endswith("Arguments")]
    assert list(arguments.__annotations__) == [text]
    assert module["SERVER"] == text
    assert list(module["TOOL_HASHES"]) == [text]
