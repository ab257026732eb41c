"""The options `--tools` and `--secrets` of `footlight serve`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.wire import wired

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_tools_flag_selects_tools_and_instructions(tmp_path: Path) -> None:
    async with wired("--tools", "navigate,get_text", "--tools", "fill,-fill", cwd=tmp_path) as wire:
        hello = await wire.initialize()
        listed = (await wire.ask("tools/list"))["result"]["tools"]
        unknown = (await wire.ask("tools/call", {"name": "click", "arguments": {}}))["error"]
        denied = (await wire.ask("tools/call", {"name": "fill", "arguments": {}}))["error"]
        nothing = (await wire.ask("tools/call", {"name": "fly", "arguments": {}}))["error"]

    assert [tool["name"] for tool in listed] == ["navigate", "get_text"]
    assert "`navigate`" in hello["result"]["instructions"]
    assert "`click`" not in hello["result"]["instructions"]
    assert unknown["message"] == (
        "Unknown tool: click. click, of the group core, is not offered by this server. "
        "The server operator can add it: --tools navigate,get_text,fill,click"
    )
    assert denied["message"] == "Unknown tool: fill. fill is denied on this server (setting tools.deny)"
    assert nothing["message"] == "Unknown tool: fly"


@pytest.mark.slow
async def test_configuration_file_selects_tools(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"tools": {"groups": ["all"], "deny": ["evaluate"]}}))
    async with wired("--config", "settings.json", cwd=tmp_path) as wire:
        await wire.initialize()
        listed = [tool["name"] for tool in (await wire.ask("tools/list"))["result"]["tools"]]

    assert "click" in listed
    assert "evaluate" not in listed


async def test_the_minimal_list_has_at_most_15_tools(tmp_path: Path) -> None:
    async with wired("--tools", "minimal", cwd=tmp_path) as wire:
        await wire.initialize()
        listed = [tool["name"] for tool in (await wire.ask("tools/list"))["result"]["tools"]]

    assert {"navigate", "click", "fill", "get_text", "screenshot"} <= {*listed}
    assert len(listed) <= 15


HOSTILE_SERVER = r"""
import json, sys
tool = {"name": "odd", "description": "half \ud83d of a pair", "inputSchema": {"type": "object"}}
name = {"name": "x", "version": "1"}
hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": name}
results = {"initialize": hello, "tools/list": {"tools": [tool]}}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        missing = {"error": {"code": -32601, "message": "no"}}
        found = {"result": results[request["method"]]} if request["method"] in results else missing
        print(json.dumps(answer | found), flush=True)
"""


def test_lone_surrogate_in_a_description_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(HOSTILE_SERVER)
    server = f"{sys.executable} {tmp_path / 'server.py'}"

    text = run("tools", "--server", server)
    as_json = run("tools", "--server", server, "--format", "json")

    assert (text.status, text.out) == (0, "odd  half \\ud83d of a pair\n")
    assert json.loads(as_json.out)[0]["description"] == "half \ud83d of a pair"


ODD_SERVER = r"""
import json, sys

deep = {}
for _ in range(30):
    deep = {"anyOf": [deep, {"type": "string"}]}
parameters = {
    "any": True,
    "deep": {"type": "array", "items": deep},
    "choice": {"anyOf": [True, {"type": "string"}]},
    "list": {"type": "array", "items": True},
    "old": {"type": "array", "items": [{"type": "string"}]},
    "text": {"type": ["string", "null"]},
}
tool = {"name": "odd", "inputSchema": {"type": "object", "properties": parameters, "required": True}}
name = {"name": "x", "version": "1"}
hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": name}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        arguments = request["params"].get("arguments")
        contents = {
            "half": [{"type": "text", "text": "half \ud83d of a pair"}],
            "none": [{"type": "resource", "resource": None}],
            "bad": [{"type": "image", "data": "!", "mimeType": "image/png"}],
            "blob": [{"type": "resource", "resource": {"uri": "a:b", "blob": "a"}}],
        }
        echo = [{"type": "text", "text": json.dumps(arguments)}]
        content = contents.get((arguments or {}).get("any"), echo)
        results = {"initialize": hello, "tools/list": {"tools": [tool]}, "tools/call": {"content": content}}
        result = results[request["method"]]
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def test_unusual_schemas_and_invalid_results_of_a_server_are_handled(tmp_path: Path) -> None:
    """A schema may be a boolean. In old drafts, `items` may be a list, and `required` a boolean."""
    (tmp_path / "server.py").write_text(ODD_SERVER)
    server = ("--server", f"{sys.executable} {tmp_path / 'server.py'}")

    shown = run("tools", "odd", *server)
    echoed = run("call", "odd", *server, "--any=1", "--choice=a", "--list=b", "--old=c", "--text=d")
    empty = run("call", "odd", *server, "--any=none")
    invalid = [run("call", "odd", *server, f"--any={which}") for which in ("bad", "blob")]

    file = tmp_path / "half.txt"
    half = run("call", "odd", *server, "--any=half", "--output", str(file))

    assert (half.status, half.err, file.read_text()) == (0, "", "half \\ud83d of a pair\n")
    assert shown.out.splitlines()[1:] == [
        "  --any     any.",
        "  --deep    list of any or any or string or string or string or string.",
        "  --choice  any or string.",
        "  --list    list of any.",
        "  --old     list of any.",
        "  --text    string or null.",
    ]
    assert json.loads(echoed.out) == {"any": 1, "choice": "a", "list": ["b"], "old": ["c"], "text": "d"}
    assert (empty.status, empty.out, empty.err) == (0, "", "")
    for each in invalid:
        said = "footlight: the answer of odd contains data that is not base64\n"
        assert (each.status, each.out, each.err) == (1, "", said)


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        (["--tools", "clik"], "setting 'tools.allow': there is no tool 'clik'; closest: click"),
        (["--tools", "-evalute"], "setting 'tools.deny': there is no tool 'evalute'; closest: evaluate"),
        (["--secrets", "none.env"], "setting 'security.secretsFile': none.env cannot be read: No such file"),
        (["--secrets", "short.env"], "short.env line 1: PIN has fewer than 4 characters"),
    ],
)
def test_invalid_flags_prevent_the_start(tmp_path: Path, flags: list[str], part: str) -> None:
    (tmp_path / "short.env").write_text("PIN=123\n")

    done = run("serve", *flags, cwd=tmp_path)

    assert done.status == 2
    assert done.out == ""
    assert part in done.err
    assert "Traceback" not in done.err
