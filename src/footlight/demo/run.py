"""The demo: a shop, a server as a child over stdio, and a client that works in the one through the other."""

import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from rich.console import Console

from footlight.demo.answer import StepError
from footlight.demo.remote_browser import RemoteBrowser, ToolRefused
from footlight.demo.site import serve_shop
from footlight.demo.steps import SECRETS, STEPS, Stage, Step
from footlight.demo.transcript import Transcript
from footlight.demo.verdict import Verdict, failed

__all__ = ["run_demo"]

_LOG = "server.log"

_KEPT = ("shop.png", "products.json", "order.json", "price-list.csv", _LOG)
_REMEDY = "Run `footlight doctor`: it says what is missing and how to mend it."
_CALL_LIMIT_S = 60
_DEMO_LIMIT_S = 300
_LOG_LINES = 12


async def run_demo(output: Path, *, console: Console, server_arguments: Sequence[str] = ()) -> int:
    """Do the demo and keep what it brings home in `output`; 0 if every step gave what the site holds."""
    transcript = Transcript(console, secrets=SECRETS)
    verdicts: list[Verdict] = []
    try:
        with anyio.fail_after(_DEMO_LIMIT_S):
            async with _open_stage(output, transcript, server_arguments) as stage:
                await _perform(stage, transcript, verdicts)
    except* (MCPError, TimeoutError) as lost:
        transcript.failure(f"the server is gone or does not answer: {_first(lost)}")
    return _conclude(output, transcript, verdicts)


@asynccontextmanager
async def _open_stage(
    output: Path, transcript: Transcript, server_arguments: Sequence[str]
) -> AsyncGenerator[Stage]:
    log_path = _clear(output)
    with tempfile.TemporaryDirectory(prefix="footlight-demo-") as folder, log_path.open("w") as log:
        files, downloads = (_make_folder(Path(folder), name) for name in ("files", "downloads"))
        folders = ("--upload-root", str(files), "--download-path", str(downloads))
        async with serve_shop() as site:
            transcript.fact("Shop", site.url)
            async with _connect([*folders, *server_arguments], log) as client:
                transcript.fact("Server", await _describe_server(client))
                yield Stage(browser=RemoteBrowser(client, transcript), site=site, files=files, output=output)


def _connect(arguments: Sequence[str], log: TextIO) -> Client:
    command = ["-m", "footlight", "serve", "--log-format", "text", *arguments]
    # The environment is given whole: the SDK passes on only a few variables by itself.
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    return Client(stdio_client(server, errlog=log), read_timeout_seconds=_CALL_LIMIT_S)


async def _describe_server(client: Client) -> str:
    name = f"{client.server_info.name} {client.server_info.version}" if client.server_info else "no name"
    tools = (await client.list_tools()).tools
    return f"{name}, {len(tools)} tools, protocol {client.protocol_version}, a child process over stdio"


async def _perform(stage: Stage, transcript: Transcript, verdicts: list[Verdict]) -> None:
    for number, step in enumerate(STEPS, start=1):
        transcript.heading(number, step.name)
        verdicts.append(await _take(step, stage))
        if number == 1 and not verdicts[0].agrees:
            return


async def _take(step: Step, stage: Stage) -> Verdict:
    try:
        check = await step.run(stage)
    except (StepError, OSError) as error:
        return failed(step.name, str(error), remedy=_remedy(error))
    return check.judge(step.name)


def _remedy(error: Exception) -> str:
    return (error.error.suggestion or "") if isinstance(error, ToolRefused) else ""


def _conclude(output: Path, transcript: Transcript, verdicts: Sequence[Verdict]) -> int:
    right = sum(verdict.agrees for verdict in verdicts)
    if right:
        transcript.verdicts(verdicts)
    if len(verdicts) < len(STEPS):
        transcript.remark(f"The server said ({output / _LOG}):", _read_tail(output / _LOG))
        transcript.remark(
            "What to do:", [*(verdict.remedy for verdict in verdicts if verdict.remedy), _REMEDY]
        )
    transcript.remark(f"{right} of {len(STEPS)} steps gave what the site holds.")
    transcript.remark(f"Left in {output}: {', '.join(name for name in _KEPT if (output / name).exists())}")
    return 0 if right == len(STEPS) else 1


def _clear(output: Path) -> Path:
    output.mkdir(parents=True, exist_ok=True)
    for name in _KEPT:
        (output / name).unlink(missing_ok=True)
    return output / _LOG


def _make_folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def _read_tail(path: Path) -> list[str]:
    return path.read_text("utf-8", errors="replace").splitlines()[-_LOG_LINES:]


def _first(errors: BaseExceptionGroup[Exception]) -> Exception:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
