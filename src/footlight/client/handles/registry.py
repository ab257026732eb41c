"""Compare a server's tools with those of a generated module, by a short hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from footlight.protocol.errors import MCPError
from footlight.protocol.tools import Tool
from footlight.protocol.untrusted_json import cut_depth
from footlight.safe_text import escape_control_characters

__all__ = ["RegistryDriftError", "check_registry", "registry_hash", "tool_hash"]

DIGITS = 12


class RegistryDriftError(MCPError):
    """The server's tools differ from those of the generated module. The notes list the differences."""

    name = "RegistryDriftError"


def registry_hash(tools: Iterable[Tool]) -> str:
    """Return a hash of all names and input schemas, as 12 hexadecimal digits.

    The order of the tools does not matter. Titles, descriptions and output schemas are not included, because
    they do not change how a call is written.
    """
    return _hash([_signature(tool) for tool in sorted(tools, key=lambda tool: tool.name)])


def tool_hash(tool: Tool) -> str:
    """Return the hash of one tool, so that differences can be reported for each tool."""
    return _hash(_signature(tool))


def check_registry(
    tools: Iterable[Tool], *, expected: str, tool_hashes: Mapping[str, str], regenerate: str
) -> None:
    """Compare the tools with those of a generated module.

    `expected` and `tool_hashes` are those of the module. `regenerate` is the command that generates it again.

    Raises:
        RegistryDriftError: the tools differ.
    """
    current = tuple(tools)
    if registry_hash(current) == expected:
        return
    error = RegistryDriftError(f"MCP registry drift detected. Run {regenerate}", reason="invalid")
    for note in _describe_differences(current, tool_hashes):
        error.add_note(note)
    raise error


def _describe_differences(tools: Iterable[Tool], known: Mapping[str, str]) -> list[str]:
    current = {tool.name: tool_hash(tool) for tool in tools}
    differences = {
        "no longer there": known.keys() - current.keys(),
        "new": current.keys() - known.keys(),
        "other parameters": {name for name in current.keys() & known.keys() if current[name] != known[name]},
    }
    return [
        escape_control_characters(f"{what}: {', '.join(sorted(names))}")
        for what, names in differences.items()
        if names
    ]


def _signature(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "inputSchema": tool.input_schema}


def _hash(value: Any) -> str:
    try:
        canonical = _to_canonical_json(value)
    except RecursionError:
        canonical = _to_canonical_json(cut_depth(value))
    return hashlib.sha1(canonical.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[
        :DIGITS
    ]


def _to_canonical_json(value: Any) -> str:
    # Sorted keys and no spaces: the same bytes on every machine.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
