"""Count the tokens of texts and of the tool lists of servers.

A tool list is counted as clients pass it to a model: compact JSON without output schemas. The npm package
`gpt-tokenizer` counts, with the encoding o200k_base.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from benchmarks.goals import Figures
from benchmarks.servers import NODE, PEERS, SERVERS, Footlight

__all__ = ["compare_lists", "count_tokens"]

LISTS = {"default": (), "minimal": ("--tools", "minimal"), "all": ("--tools", "all")}

Listed = Mapping[str, Any]

_COUNT = """
const {encode} = require(process.argv[1]);
let text = '';
process.stdin.on('data', data => text += data).on('end', () =>
  console.log(JSON.stringify(JSON.parse(text).map(each => encode(each).length))));
"""


def count_tokens(texts: Sequence[str]) -> list[int]:
    encoding = PEERS / "gpt-tokenizer/cjs/encoding/o200k_base.js"
    done = subprocess.run(
        [NODE, "-e", _COUNT, str(encoding)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def compare_lists(figures: Figures, *, each: bool = False) -> None:
    """Print the tokens of every tool list and, with `each`, of every tool of Footlight."""
    folder = Path(gettempdir())
    ours = Footlight.start(folder).command
    commands = {f"footlight --tools {name}": [*ours, *flags] for name, flags in LISTS.items()}
    commands |= {kind.name: kind.start(folder).command for kind in SERVERS if kind is not Footlight}
    print(f"\n{'list of tools':<30} {'tools':>5} {'tokens':>7}")
    for name, command in commands.items():
        tools = _list_tools(command)
        tokens = count_tokens([_compact([_without_output(tool) for tool in tools])])[0]
        print(f"  {name:<28} {len(tools):>5} {tokens:>7}")
        if name == "footlight --tools default" or not name.startswith(Footlight.name):
            server = name.partition(" ")[0]
            figures.add("tools/list", server, tokens)
            figures.add("tools/list on the wire", server, len(_compact(tools).encode()) / 1000)
        if each and name.endswith("all"):
            counted = count_tokens([_compact([_without_output(tool)]) for tool in tools])
            for tool, tokens in zip(tools, counted, strict=True):
                print(f"    {tool['name']:<26} {tokens:>7}")


def _compact(tools: Sequence[Listed]) -> str:
    return json.dumps(tools, separators=(",", ":"), ensure_ascii=False)


def _list_tools(command: Sequence[str]) -> list[Listed]:
    """Return the tools as sent. The SDK's client would drop fields that it does not know."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.writelines(f"{json.dumps({'jsonrpc': '2.0', **message})}\n" for message in _MESSAGES)
        process.stdin.flush()
        answers = (json.loads(line) for line in process.stdout)
        tools = next(answer["result"]["tools"] for answer in answers if answer.get("id") == 2)
        process.stdin.close()
        process.terminate()
    return tools


def _without_output(tool: Listed) -> Listed:
    return {key: value for key, value in tool.items() if key != "outputSchema"}


_MESSAGES: tuple[dict[str, Any], ...] = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "tokens", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)


if __name__ == "__main__":
    compare_lists(Figures(), each="--each" in sys.argv)
