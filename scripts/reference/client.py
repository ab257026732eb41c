"""The page of the Python API of the client."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, cast

import footlight
import footlight.sync
from footlight.browser_client import controllers, mcp_config, playwright_client
from footlight.browser_client import results as playwright_results
from footlight.client import client_session, describe
from footlight.client.handles import adapters, call_log
from footlight.client.replay.runner import ReplayMismatchError
from footlight.client.transports import http, memory, stdio, websocket
from footlight.protocol import callbacks, connection, errors, handshake, listings, results, tools
from footlight.protocol.errors import LOCAL_CODES, MCPError, Reason
from scripts.reference.markdown import Row, join, prose, table
from scripts.reference.python_code import attribute_docstrings, render_definition, render_title

INTRO = """\
The public Python API of the client; [the guide](../client.md) shows how to use it. Each heading says where a
name is imported from; [errors](#errors) and
[functions that classify errors](#functions-that-classify-errors) are in `footlight`.
"""

SYNC_ONLY = "Its methods are those of [`MCPClient`](#footlightmcpclient), without `await`."

REASONS_INTRO = """\
`reason` says what happened. `rpc_code` is its JSON-RPC number, unless the server gave one. Servers use some
of these numbers for other things, so compare reasons rather than numbers.
"""

TARGETS = (stdio.Stdio, http.StreamableHTTP, websocket.WebSocket, memory.InMemory)

HANDLES = (
    footlight.connect_dynamic,
    footlight.Handle,
    footlight.create_logger,
    footlight.CallLog,
    footlight.run_sequence,
    ReplayMismatchError,
    footlight.RegistryDriftError,
    adapters.SzkrabokSession,
    adapters.BrowserSession,
    adapters.NoSession,
    adapters.Adapter,
)

SECTIONS: Mapping[str, Sequence[object]] = {
    "Connections": (footlight.MCPClient, footlight.sync.MCPClient),
    "Targets": (*TARGETS, footlight.transport_from_config),
    "Results": (results.ToolResult, results.CallResult, results.Content, tools.Tool),
    "Lists": tuple(getattr(listings, name) for name in listings.__all__ if name[0].isupper()),
    "Describing tools": tuple(getattr(describe, name) for name in describe.__all__),
    "Typed browser client": (
        playwright_client.PlaywrightClient,
        mcp_config.MCPConfig,
        playwright_results.NavigateResult,
        playwright_results.ScreenshotResult,
        playwright_results.SnapshotResult,
        controllers.MCPConnectionController,
        controllers.BrowserAutomation,
    ),
    "Handles": HANDLES,
}

TYPES = (
    (client_session, ("State",)),
    (handshake, ("RequestedVersion",)),
    (connection, ("Result", "OnProgress", "OnNotification")),
    (callbacks, ("Handler",)),
    (connection, ("OnMessage", "OnError")),
    (call_log, ("Redact",)),
    (adapters, ("AdapterChoice",)),
)


def render() -> str:
    parts = [
        part
        for heading, definitions in SECTIONS.items()
        for part in (f"## {heading}", *map(_render_definition, definitions))
    ]
    return join(["# The Python client", INTRO.strip(), *parts, *_render_types(), *_render_errors()])


def _render_definition(definition: Any) -> str:
    if definition is footlight.sync.MCPClient:
        return join([render_title(definition), SYNC_ONLY])
    return render_definition(
        definition,
        is_constructed=definition not in (footlight.Handle, footlight.CallLog),
        hidden_methods=("open",) if definition in TARGETS else (),
        requires_docstrings=definition in HANDLES,
    )


def _render_types() -> Iterator[str]:
    yield "## Types"
    yield "The names used in the signatures above, with the modules that define them."
    rows = (_type_row(module, name) for module, names in TYPES for name in names)
    yield table(["Name", "Module", "Definition", "Description"], rows)


def _type_row(module: ModuleType, name: str) -> Row:
    statements = ast.parse(inspect.getsource(module)).body
    assignments = (each for each in statements if isinstance(each, ast.Assign))
    value = next(ast.unparse(each.value) for each in assignments if ast.unparse(each.targets[0]) == name)
    return [f"`{name}`", f"`{module.__name__}`", f"`{value}`", prose(attribute_docstrings(module).get(name))]


def _render_errors() -> Iterator[str]:
    public = [getattr(errors, name) for name in errors.__all__]
    yield "## Errors"
    heads = ["Class", "`code`", "`name`", "Also has", "What it means"]
    yield table(heads, (_error_row(each) for each in public if _is_error(each)))
    yield "## Reasons"
    yield REASONS_INTRO.strip()
    reasons = re.findall(r"^- `(\w+)`: (.*)", attribute_docstrings(errors)["Reason"], re.MULTILINE)
    rows = ([f"`{name}`", prose(text), _number(name)] for name, text in reasons)
    yield table(["`reason`", "What happened", "`rpc_code`"], rows)
    yield "## Functions that classify errors"
    functions = [each for each in public if inspect.isfunction(each) and each.__name__.startswith("is_")]
    rows = ([f"`{each.__name__}(error)`", prose(each.__doc__)] for each in functions)
    yield table(["Function", "True when"], rows)


def _number(reason: str) -> str:
    others = {"peer": "the server's", "http": "the status"}
    return others.get(reason) or str(LOCAL_CODES[cast("Reason", reason)])


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, MCPError)


def _error_row(error: Any) -> Row:
    inherited = inspect.signature(MCPError).parameters
    own = [name for name in inspect.signature(error).parameters if error is MCPError or name not in inherited]
    return [
        f"`{error.__name__}`",
        f"`{error.code}`",
        f"`{error.name}`",
        ", ".join(f"`{name}`" for name in own),
        prose(error.__doc__),
    ]
