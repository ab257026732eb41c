"""The messages of a type checker about generated modules and code that uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footlight.protocol.tools import Tool
from tests.client.codegen.arbitrary import NASTY, Anything
from tests.client.codegen.checking import errors_in
from tests.client.codegen.expressible import Chance
from tests.client.codegen.modules import render, tool

MM = Path(__file__).with_name("mm_schemas.json")
"""The specified input schemas of the toolset `metamask`."""

SHOP = (
    tool(
        "nav.goto",
        {"url": {"type": "string"}, "wait": {"enum": ["load", "commit"]}, "session": {"type": "string"}},
        "url",
        output_schema={
            "type": "object",
            "properties": {"status": {"type": "integer"}},
            "required": ["status"],
        },
    ),
    tool("nav.back"),
    tool(
        "cart.add",
        {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sku": {"type": "string"}, "count": {"type": ["integer", "null"]}},
                    "required": ["sku"],
                },
            },
            "note": {"type": "string"},
            "price": {"type": "number"},
        },
        "items",
    ),
    tool(
        "odd.keys",
        {"class": {"type": "integer"}, "x-y": {"type": "string"}, "self": {"type": "boolean"}},
        "class",
    ),
    tool("odd.empty", {"": {"type": "string"}}, ""),
    tool("odd.inside", {"a": {"type": "object", "properties": {"": {}}}}),
    tool("run.file", {"arguments": {"type": "string"}, "parallel": {"type": "boolean"}}, "arguments"),
    Tool(name="open", input_schema={"type": "object"}),
    tool("health", output_schema={"type": "array", "items": {"type": "string"}}),
)

USER = """\
from typing import assert_type

from shop import (
    CartAddArguments,
    HealthResult,
    McpHandle,
    NavGotoArguments,
    NavGotoResult,
    OddKeysArguments,
    mcp_connect,
)


async def use() -> None:
    mcp = await mcp_connect("x")
    async with mcp_connect("x", timeout_ms=5) as other:
        assert_type(other, McpHandle)

    assert_type(await mcp.nav.goto(url="x"), NavGotoResult)
    assert_type(await mcp.nav.goto({"url": "x", "wait": "load"}, parallel=True, timeout_ms=5), NavGotoResult)
    status: int = (await mcp.nav.goto(url="x"))["status"]
    await mcp.nav.goto(url=status)  # error
    await mcp.nav.goto({"url": status})  # error
    await mcp.nav.goto()  # error
    await mcp.nav.goto({})  # error
    await mcp.nav.goto(url="x", wait="never")  # error
    await mcp.nav.goto({"url": "x", "wait": "never"})  # error
    await mcp.nav.goto(url="x", weit="load")  # error
    await mcp.nav.goto({"url": "x", "weit": "load"})  # error
    await mcp.nav.goto("x")  # error
    await mcp.nav.goto({"url": "x"}, wait="load")  # error
    await mcp.nav.goto({"url": "x"}, parallel="yes")  # error
    await mcp.nav.goto(url="x", parallel=True)  # error
    (await mcp.nav.goto(url="x"))["state"]  # error
    await mcp.nav.forward()  # error
    await mcp.naw.goto(url="x")  # error

    await mcp.nav.back()
    await mcp.nav.back({}, parallel=True)
    await mcp.nav.back(url="x")  # error
    await mcp.nav.back({"url": "x"})  # error

    one: CartAddArguments = {"items": [{"sku": "a", "count": None}, {"sku": "b"}], "price": 1}
    await mcp.cart.add(one)
    await mcp.cart.add(**one)
    await mcp.cart.add(items=[{"sku": "a"}], note="n")
    await mcp.cart.add(items=[{"sku": 1}])  # error
    await mcp.cart.add({"items": [{"count": 1}]})  # error
    await mcp.cart.add({"items": [{"sku": "a", "count": "1"}]})  # error
    await mcp.cart.add(items="a")  # error
    two: NavGotoArguments = one  # error

    await mcp.odd.keys({"class": 1, "x-y": "x", "self": True})
    keys: OddKeysArguments = {"class": 1, "x-y": "x"}
    await mcp.odd.keys(**keys)
    await mcp.odd.keys({"class": "1"})  # error
    await mcp.odd.keys({"x-y": "x"})  # error

    await mcp.run.file(arguments="x", parallel=False)
    await mcp.run.file({"arguments": "x"}, parallel=True)
    await mcp.run["file"](anything=1)

    await mcp.root.open(anything=1)
    await mcp.root.open({"anything": 1})
    assert_type(await mcp.root.health(), HealthResult)
    names: list[str] = await mcp.root.health()
    print(two, names, (await mcp.call("any.tool", {"a": 1})).text)
    await mcp.close()
"""


@pytest.mark.slow
def test_type_checker_reports_only_wrong_calls(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(render(*SHOP), "utf-8")
    (tmp_path / "user.py").write_text(USER, "utf-8")
    wrong = {number for number, line in enumerate(USER.split("\n"), start=1) if line.endswith("# error")}

    found = errors_in(tmp_path)

    assert {(file, line) for file, line, _ in found} == {("user.py", line) for line in wrong}, found


@pytest.mark.slow
def test_generated_modules_have_no_type_errors(tmp_path: Path) -> None:
    """The tools of `metamask`, schemas that refer to themselves, and whatever a server may send."""
    schemas = json.loads(MM.read_text("utf-8"))
    assert len(schemas) == 16
    modules = {
        "mm": render(*(Tool(name=name, input_schema=schema) for name, schema in schemas.items())),
        "nasty": render(*(tool(f"x.{text}", {text: {"const": text}}, description=text) for text in NASTY)),
    }
    for seed in range(25):
        schema = Chance(seed).schema
        modules[f"said{seed}"] = render(Tool(name="x", input_schema=schema, output_schema=schema))
        modules[f"sent{seed}"] = render(*Anything(seed).tools())
    for name, module in modules.items():
        (tmp_path / f"{name}.py").write_text(module, "utf-8")

    found = errors_in(tmp_path)
    assert found == [], found
