"""The client writes no files."""

import sys
from pathlib import Path

import pytest

from footlight import MCPClient

pytestmark = pytest.mark.anyio

ECHO_SERVER = Path(__file__).parents[2] / "benchmarks/echo_server.py"


async def test_the_client_stores_nothing_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    async with MCPClient([sys.executable, str(ECHO_SERVER), "stdio"]) as client:
        tools = await client.list_tools()
        await client.call(tools[0].name, {"text": "hello"})

    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240
