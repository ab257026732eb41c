"""Run the demo: a client works in a demonstration shop through a Footlight server over stdio."""

import logging
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
from rich.console import Console

from footlight.client.mcp_client import MCPClient
from footlight.client.transports.stdio import Stdio
from footlight.demo.remote_browser import RemoteBrowser, StepError, ToolRefusedError
from footlight.demo.shop.site import serve_shop
from footlight.demo.steps import SECRETS, STEPS, DemoStage, DemoStep
from footlight.demo.transcript import DemoTranscript
from footlight.demo.verdict import StepVerdict, fail_step
from footlight.protocol.errors import MCPError

__all__ = ["run_demo"]

_LOG = "server.log"

_KEPT = ("shop.png", "products.json", "order.json", "price-list.csv", _LOG)
_REMEDY = "Run `footlight doctor`: it says what is missing and how to install it."
_CALL_LIMIT_MS = 60_000
_DEMO_LIMIT_S = 300
_LOG_LINES = 12


async def run_demo(output: Path, *, console: Console, server_arguments: Sequence[str] = ()) -> int:
    """Run the demo and keep its files in `output`. Return 0 if every step returned what the shop has."""
    transcript = DemoTranscript(console, secrets=SECRETS)
    verdicts: list[StepVerdict] = []
    try:
        with anyio.fail_after(_DEMO_LIMIT_S):
            async with _open_stage(output, transcript, server_arguments) as stage:
                await _perform(stage, transcript, verdicts)
    except* (MCPError, TimeoutError) as lost:
        transcript.failure(f"the server was lost or does not answer: {_find_first_error(lost)}")
    return _conclude(output, transcript, verdicts)


@asynccontextmanager
async def _open_stage(
    output: Path, transcript: DemoTranscript, server_arguments: Sequence[str]
) -> AsyncGenerator[DemoStage]:
    log_path = _clear(output)
    with tempfile.TemporaryDirectory(prefix="footlight-demo-") as folder, _log_to(log_path):
        files, downloads = (_make_folder(Path(folder), name) for name in ("files", "downloads"))
        folders = ("--upload-root", str(files), "--download-path", str(downloads))
        async with serve_shop() as site:
            transcript.fact("Shop", site.url)
            async with _connect([*folders, *server_arguments]) as client:
                transcript.fact("Server", await _describe_server(client))
                yield DemoStage(
                    browser=RemoteBrowser(client, transcript), site=site, files=files, output=output
                )


def _connect(arguments: Sequence[str]) -> MCPClient:
    server = Stdio(sys.executable, ("-m", "footlight", "serve", "--log-format", "text", *arguments))
    return MCPClient(server, timeout_ms=_CALL_LIMIT_MS)


@contextmanager
def _log_to(path: Path) -> Generator[None]:
    """Write the server's log, which the client logs line by line, to a file."""
    logger = logging.getLogger("footlight.client.stdio")
    handler, level = logging.FileHandler(path, mode="w", encoding="utf-8"), logger.level
    handler.setFormatter(_ServerLine("%(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        handler.close()


class _ServerLine(logging.Formatter):
    """Leaves out the name of the server, which the client puts before each line."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).partition(": ")[2]


async def _describe_server(client: MCPClient) -> str:
    info = client.get_server_info()
    name = f"{info.get('title') or info.get('name')} {info.get('version')}"
    version, tools = client.get_protocol_version(), await client.list_tools()
    return f"{name}, {len(tools)} tools, protocol {version}, a child process over stdio"


async def _perform(stage: DemoStage, transcript: DemoTranscript, verdicts: list[StepVerdict]) -> None:
    for number, step in enumerate(STEPS, start=1):
        transcript.heading(number, step.name)
        verdicts.append(await _take(step, stage))
        if number == 1 and not verdicts[0].agrees:
            return


async def _take(step: DemoStep, stage: DemoStage) -> StepVerdict:
    try:
        check = await step.run(stage)
    except (StepError, OSError) as error:
        return fail_step(step.name, str(error), remedy=_remedy(error))
    return check.judge(step.name)


def _remedy(error: Exception) -> str:
    return (error.error.suggestion or "") if isinstance(error, ToolRefusedError) else ""


def _conclude(output: Path, transcript: DemoTranscript, verdicts: Sequence[StepVerdict]) -> int:
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


def _find_first_error(errors: BaseExceptionGroup[Exception]) -> Exception:
    error = errors.exceptions[0]
    return _find_first_error(error) if isinstance(error, BaseExceptionGroup) else error
