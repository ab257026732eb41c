"""The configurations that the documents give for MCP clients start or reach a server."""

import base64
import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from mcp import Client, StdioServerParameters

from footlight.config import Settings
from footlight.toolsets import metamask, szkrabok
from footlight.toolsets.browser import load_tools
from footlight.transports.network.listener import DEFAULT_PORT
from tests.docs.markdown import ROOT, Block, blocks

pytestmark = pytest.mark.anyio

TOOLSETS = {
    "szkrabok": szkrabok.TOOLS,
    "metamask": metamask.app_tools("mm", strict=False),
}
TABLES = ("mcpServers", "servers", "context_servers", "mcp_servers")
"""What clients call the table of their servers."""

URL_KEYS = ("url", "httpUrl", "serverUrl")

PARSED = [
    *((block, json.loads(block.text)) for block in blocks("json")),
    *((block, tomllib.loads(block.text)) for block in blocks("toml")),
]

ENTRIES: list[tuple[Block, dict[str, Any]]] = [
    (block, file[table]["footlight"])
    for block, file in sorted(PARSED, key=lambda each: (each[0].page, each[0].line))
    for table in TABLES
    if table in file
]
STARTED = {
    json.dumps([entry["command"], *entry["args"]]): block for block, entry in ENTRIES if "command" in entry
}
REACHED = [(block, entry) for block, entry in ENTRIES if "command" not in entry]


def test_every_client_has_a_local_and_where_supported_remote_entry() -> None:
    page = ROOT / "docs/clients.md"
    chapters = re.findall(r"^## (.+)$", page.read_text("utf-8"), re.MULTILINE)[:-1]
    lines = page.read_text("utf-8").splitlines()

    def chapter(block: Block) -> str:
        return next(line for line in reversed(lines[: block.line]) if line.startswith("## ")).removeprefix(
            "## "
        )

    entries = [(chapter(block), "command" in entry) for block, entry in ENTRIES if block.page == page]

    assert entries == [
        (each, starts) for each in chapters for starts in (True, False) if starts or each != "Claude Desktop"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", STARTED, ids=lambda command: str(STARTED[command]))
async def test_documented_entry_starts_a_server(command: str, tmp_path: Path) -> None:
    program, *arguments = json.loads(command)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    server = StdioServerParameters(
        command=program, args=arguments, env={**os.environ, "PATH": path}, cwd=tmp_path
    )

    async with Client(server) as client:
        tools = (await client.list_tools()).tools

    offered = next((toolset for name, toolset in TOOLSETS.items() if name in arguments), load_tools())
    assert [tool.name for tool in tools] == [tool.name for tool in offered if tool.group == "core"]


@pytest.mark.parametrize(("block", "entry"), REACHED, ids=str)
def test_documented_entry_matches_the_default_network_server(block: Block, entry: dict[str, Any]) -> None:
    [key] = [key for key in URL_KEYS if key in entry]
    url = urlsplit(str(entry[key]))
    sent = entry.get("headers") or {"Authorization": f"Bearer ${entry.get('bearer_token_env_var')}"}

    assert (url.scheme, url.hostname, url.port, url.path) == (
        "http",
        Settings().listen.host,
        DEFAULT_PORT,
        "/mcp",
    )
    assert list(sent) == ["Authorization"]
    assert re.fullmatch(
        r"Bearer (the-token|\$FOOTLIGHT_TOKEN|\$\{(env:)?FOOTLIGHT_TOKEN\}|\$\{input:footlight-token\})",
        sent["Authorization"],
    )


def test_readme_links_and_commands_start_the_same_server() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    cursor, code = (
        re.findall(rf"\]\((https://{host}/[^)]+)\)", page)[0] for host in ("cursor.com", "vscode.dev")
    )
    configs = [parse_qs(urlsplit(link).query)["config"][0] for link in (cursor, code)]
    lines = re.findall(r"`(?:claude|codex|gemini) mcp add footlight (?:-- )?([^`]+)`", page)

    assert json.loads(base64.b64decode(configs[0])) == json.loads(configs[1])
    assert json.loads(configs[1]) == {"command": "uvx", "args": ["footlight", "serve"]}
    assert lines == ["uvx footlight serve"] * 3
