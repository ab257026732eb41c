"""Comparing the tools of a server with those of a generated module."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.client.handles import Registry, RegistryDriftError, connect, registry_hash
from footlight.client.handles.adapters import szkrabok_session
from footlight.client.handles.registry import check_registry, tool_hash
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPError
from footlight.protocol.tools import Tool
from tests.client.handles.handles import (
    REGENERATE,
    REGISTRY,
    Log,
    McpHandle,
    Started,
    mcp_connect,
    serve_in_memory,
    soon,
)
from tests.client.handles.session_server import PAGE, TOOLS, Variant, list_registered_tools
from tests.tiers import examples

pytestmark = pytest.mark.anyio

DRIFT = f"MCP registry drift detected. Run {REGENERATE}"

DIFFERENT: Sequence[tuple[Variant, list[str]]] = [
    ("renamed", ["no longer there: nav.goto", "new: nav.visit"]),
    ("changed", ["other parameters: nav.goto"]),
    ("swapped", ["other parameters: browser.snapshot, nav.goto"]),
    ("fewer", ["no longer there: health"]),
]


# The hash


def test_registry_hash_covers_sorted_names_and_input_schemas() -> None:
    tools = [
        Tool("nav.goto", description="Go", input_schema={"type": "object", "properties": {"ü": {}, "a": {}}}),
        Tool("health"),
        Tool("Nav"),
    ]
    canonical = (
        '[{"inputSchema":{},"name":"Nav"},{"inputSchema":{},"name":"health"},'
        '{"inputSchema":{"properties":{"a":{},"ü":{}},"type":"object"},"name":"nav.goto"}]'
    )

    assert registry_hash(tools) == hashlib.sha1(canonical.encode()).hexdigest()[:12]
    assert registry_hash([]) == hashlib.sha1(b"[]").hexdigest()[:12]
    assert registry_hash(iter(tools)) == registry_hash(tools)


@pytest.mark.parametrize(("variant", "_"), DIFFERENT)
def test_different_name_or_schema_changes_the_hash(variant: Variant, _: object) -> None:
    assert registry_hash(list_registered_tools(variant)) != registry_hash(list_registered_tools())
    assert len(registry_hash(list_registered_tools(variant))) == 12


@pytest.mark.parametrize("variant", ["reordered", "described"])
def test_order_and_descriptions_do_not_change_the_hash(variant: Variant) -> None:
    assert registry_hash(list_registered_tools(variant)) == registry_hash(list_registered_tools())
    assert list_registered_tools(variant) != list_registered_tools()


def test_description_within_a_schema_changes_the_hash() -> None:
    """The schema is hashed whole."""
    first, *others = list_registered_tools()
    schema = {**first.input_schema, "description": "In other words"}

    assert registry_hash([replace(first, input_schema=schema), *others]) != registry_hash(
        list_registered_tools()
    )


def test_tool_names_are_sorted_by_code_point() -> None:
    """Lessons 2.0, 8"""
    names = ["browser_click", "browser.run_test", "browser.run.file", "health", "Nav"]
    order = ["Nav", "browser.run.file", "browser.run_test", "browser_click", "health"]
    canonical = json.dumps([{"inputSchema": {}, "name": name} for name in order], separators=(",", ":"))

    assert (
        registry_hash([Tool(name) for name in names]) == (hashlib.sha1(canonical.encode()).hexdigest()[:12])
    )


SCHEMAS = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=3)
NAMES = st.text(st.characters(codec=None), min_size=1, max_size=5)


@examples(50)
@given(st.dictionaries(NAMES, SCHEMAS, max_size=4))
def test_tool_and_key_order_never_change_the_hash(
    schemas: dict[str, dict[str, object]],
) -> None:
    tools = [Tool(name, input_schema=schema) for name, schema in schemas.items()]
    turned = [
        Tool(name, input_schema=dict(reversed(schema.items()))) for name, schema in reversed(schemas.items())
    ]

    assert registry_hash(turned) == registry_hash(tools)
    assert [tool_hash(tool) for tool in reversed(turned)] == [tool_hash(tool) for tool in tools]


def test_control_characters_in_tool_names_are_escaped_in_drift_notes() -> None:
    live = [Tool(name="a\x1b[2J\x9b31m")]
    with pytest.raises(RegistryDriftError) as raised:
        check_registry(live, expected="", tool_hashes={}, regenerate="x")

    assert raised.value.__notes__ == ["new: a\\x1b[2J\\x9b31m"]


def test_drift_error_names_each_changed_tool() -> None:
    first, second, third = list_registered_tools()[:3]
    known = {tool.name: tool_hash(tool) for tool in (first, second)}
    with pytest.raises(RegistryDriftError) as caught:
        check_registry(
            [replace(second, input_schema={}), third],
            expected="0" * 12,
            tool_hashes=known,
            regenerate="the generator",
        )

    assert str(caught.value) == "MCP registry drift detected. Run the generator"
    assert caught.value.__notes__ == [
        f"no longer there: {first.name}",
        f"new: {third.name}",
        f"other parameters: {second.name}",
    ]
    assert caught.value.to_dict() == {
        "name": "RegistryDriftError",
        "code": "MCP_ERROR",
        "message": "MCP registry drift detected. Run the generator",
        "reason": "invalid",
        "rpcCode": -32602,
    }
    assert isinstance(caught.value, MCPError)


# At a server


@pytest.mark.parametrize(("variant", "notes"), DIFFERENT)
async def test_drift_is_reported_before_a_session_is_opened(variant: Variant, notes: list[str]) -> None:
    target, _, journal = serve_in_memory(variant)
    log = Log()
    with pytest.raises(RegistryDriftError) as caught:
        await soon(mcp_connect("p4n-test", server=target, log=log.log))

    assert str(caught.value) == DRIFT
    assert caught.value.__notes__ == notes
    assert (journal.calls, log.text) == ([], "")


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["renamed", "changed", "swapped"])
async def test_drift_check_starts_one_process_and_leaves_none(variant: Variant, tmp_path: Path) -> None:
    started = Started(tmp_path, variant)
    with pytest.raises(RegistryDriftError):
        await soon(mcp_connect("p4n-test", server=started.command, log=Log().log))

    assert len(started.pids) == 1
    assert await started.find_left_processes() == []
    assert started.journal.calls == []


@pytest.mark.slow
async def test_check_and_calls_share_one_server_process(tmp_path: Path) -> None:
    started = Started(tmp_path, "reordered")
    async with mcp_connect("p4n-test", server=started.command, log=Log().log) as mcp:
        assert await mcp.root.health() == "well"

    assert len(started.pids) == 1
    assert await started.find_left_processes() == []


@pytest.mark.parametrize("variant", ["reordered", "described"])
async def test_changes_irrelevant_to_calls_are_not_drift(variant: Variant) -> None:
    target, _, _ = serve_in_memory(variant)
    async with mcp_connect("p4n-test", server=target, log=Log().log) as mcp:
        assert await mcp.root.health() == "well"


async def test_drift_check_compares_all_pages_of_the_tool_list() -> None:
    target, _, _ = serve_in_memory()
    async with MCPClient(target) as client:
        tools = await client.list_tools()

    assert len(tools) == len(TOOLS) > PAGE
    assert registry_hash(tools) == REGISTRY.hash != registry_hash(tools[:PAGE])


async def test_drift_check_refreshes_a_cached_tool_list() -> None:
    target, server, journal = serve_in_memory()
    client = MCPClient(target)
    await client.list_tools()
    server.offer_later("later")
    with pytest.raises(RegistryDriftError) as caught:
        await soon(mcp_connect("p4n-test", server=client, log=Log().log))

    assert caught.value.__notes__ == ["new: later"]
    assert client.state == "disconnected"
    assert journal.calls == []


async def test_edited_registry_hash_is_reported_as_drift_without_notes() -> None:
    target, _, _ = serve_in_memory()
    edited = Registry("000000000000", REGISTRY.tool_hashes, regenerate=REGENERATE)
    connecting = connect(
        McpHandle, "p4n-test", adapter=szkrabok_session, server=target, registry=edited, log=Log().log
    )
    with pytest.raises(RegistryDriftError) as caught:
        await soon(connecting)

    assert (str(caught.value), getattr(caught.value, "__notes__", [])) == (DRIFT, [])
