"""A server from a configuration, as `.mcp.json` and other clients have it.

Run it: `python docs/examples/client_config.py`.
"""

import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from footlight import MCPClient, transport_from_config

WRITTEN = {
    "mcpServers": {
        "browser": {
            "command": "${PYTHON:-" + sys.executable + "}",
            "args": ["-m", "footlight", "serve", "--log-level", "error"],
            "env": {"TZ": "UTC"},
        },
        "props": {
            "type": "http",
            "url": "https://props.example/mcp",
            "headers": {"Authorization": "Bearer ${PROPS_TOKEN:-none}"},
        },
    }
}


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, ".mcp.json")
        path.write_text(json.dumps(WRITTEN))
        asyncio.run(show(json.loads(path.read_text())))


async def show(config: dict[str, Any]) -> None:
    print("props:", transport_from_config(config, "props").where)
    async with MCPClient(transport_from_config(config, "browser")) as client:
        print("browser:", client.get_server_info()["name"])


if __name__ == "__main__":
    main()
