"""A server that lists the tools in a file, and answers a call with its arguments. It starts at once.

    python -m tests.client.codegen.listing_server TOOLS.json [STARTS]

Each start is a line in the second file, and so is each end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def answer(method: str, params: Mapping[str, Any], tools: list[Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "listing", "version": "1.0"},
            }
        case "tools/list":
            return {"tools": tools}
        case "tools/call":
            return {"content": [], "structuredContent": {params["name"]: params["arguments"]}}
        case _:
            return {}


def main() -> None:
    tools = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    note(b"started\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(message["method"], message.get("params", {}), tools)
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)  # noqa: T201
    note(b"ended\n")


def note(line: bytes) -> None:
    for file in sys.argv[2:]:
        with Path(file).open("ab") as notes:
            notes.write(line)


if __name__ == "__main__":
    main()
