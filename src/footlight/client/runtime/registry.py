"""What a server offers, as a short hash: is it what a module was generated from? (R000-21 to R000-26)"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from footlight.client.errors import MCPError
from footlight.client.results import Tool
from footlight.steering import harmless

__all__ = ["RegistryDriftError", "check_registry", "registry_hash", "tool_hash"]

DIGITS = 12


class RegistryDriftError(MCPError):
    """The server's tools are not those of the generated module. Its notes say which differ."""

    name = "RegistryDriftError"


def registry_hash(tools: Iterable[Tool]) -> str:
    """Of all names and input schemas, in whatever order the server lists them: 12 hexadecimal digits.

    Titles, descriptions of tools and output schemas do not count: calls are written the same without them.
    """
    return _hash([_signature(tool) for tool in sorted(tools, key=lambda tool: tool.name)])


def tool_hash(tool: Tool) -> str:
    """Of one tool, so that drift can be told by name."""
    return _hash(_signature(tool))


def check_registry(
    tools: Iterable[Tool], *, expected: str, tool_hashes: Mapping[str, str], regenerate: str
) -> None:
    """`tool_hashes` are those at generation; `regenerate` is the command that writes the module anew.

    Raises:
        RegistryDriftError: the tools are others.
    """
    live = tuple(tools)
    if registry_hash(live) == expected:
        return
    error = RegistryDriftError(f"MCP registry drift detected. Run {regenerate}", reason="invalid")
    for note in _differences(live, tool_hashes):
        error.add_note(note)
    raise error


def _differences(tools: Iterable[Tool], known: Mapping[str, str]) -> list[str]:
    live = {tool.name: tool_hash(tool) for tool in tools}
    told = {
        "no longer there": known.keys() - live.keys(),
        "new": live.keys() - known.keys(),
        "other parameters": {name for name in live.keys() & known.keys() if live[name] != known[name]},
    }
    return [harmless(f"{what}: {', '.join(sorted(names))}") for what, names in told.items() if names]


def _signature(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "inputSchema": tool.input_schema}


def _hash(value: Any) -> str:
    # Code-point order and no spaces: the same bytes wherever it is computed.
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha1(canonical.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[
        :DIGITS
    ]
