"""A small MCP server on the standard library, for tests of the pytest plugin without a browser.

    python tests/testing/small_server.py [FILE]

It notes its process id and then each method in the file. Its tools: `echo`, `never`, `die`, `snapshot`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOLS = ("echo", "never", "die", "snapshot")


def main() -> None:
    notes = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    note(notes, f"pid {os.getpid()}")
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked["method"]
        note(notes, method)
        if "id" in asked and (result := answer(method, asked.get("params", {}))) is not None:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}) + "\n")
            sys.stdout.flush()


def note(notes: Path | None, text: str) -> None:
    if notes is not None:
        with notes.open("a") as file:
            file.write(f"{text}\n")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "small", "version": "1"}
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": info,
        }
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    if method != "tools/call":
        return {}
    match params["name"]:
        case "never":
            return None
        case "die":
            os._exit(3)
        case "snapshot":
            return {"content": [{"type": "text", "text": 'heading "Small"'}]}
        case _:
            return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}


if __name__ == "__main__":
    main()
