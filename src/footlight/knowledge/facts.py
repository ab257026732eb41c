"""Facts about the repository and the machine. Every step record includes them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.abc

from footlight.knowledge.steps import RepositoryFacts

__all__ = ["FactsReader", "read_repository_facts"]

logger = logging.getLogger(__name__)

PROGRAM_TIMEOUT_SECONDS = 2.0
"""Time limit for each program, so that a step does not wait for a program that hangs."""
MAX_OUTPUT_BYTES = 1 << 20

_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
"""A git command that only reads, and that starts no program configured in the repository."""


class FactsReader:
    """Reads the facts of a repository in the background. The first steps may have no facts yet."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._reading: asyncio.Task[RepositoryFacts] | None = None

    def refresh(self) -> None:
        """Start to read the facts again, because the branch may have changed."""
        self._reading = asyncio.create_task(read_repository_facts(self._repository))

    @property
    def facts(self) -> RepositoryFacts:
        """The facts of the last completed read, empty until then."""
        reading = self._reading
        if reading is None or not reading.done() or reading.cancelled():
            return RepositoryFacts()
        if error := reading.exception():
            logger.warning("The facts of the repository could not be read", exc_info=error)
            self._reading = None
            return RepositoryFacts()
        return reading.result()


async def read_repository_facts(root: Path, *, timeout_s: float = PROGRAM_TIMEOUT_SECONDS) -> RepositoryFacts:
    """Return the facts. Facts from a program that is missing, hangs or fails are left out."""
    commands = {
        "nodeVersion": ("node", "--version"),
        "yarnVersion": ("yarn", "--version"),
        "branch": (*_GIT, "symbolic-ref", "--quiet", "--short", "HEAD"),
        "commit": (*_GIT, "rev-parse", "--quiet", "--verify", "HEAD"),
        "dirty": (*_GIT, "status", "--porcelain"),
    }
    outputs: dict[str, str] = {}

    async def run(name: str, command: Sequence[str]) -> None:
        output = await _run_program(command, root, timeout_s)
        if output is not None:
            outputs[name] = output

    async with anyio.create_task_group() as tasks:
        for name, command in commands.items():
            tasks.start_soon(run, name, command)
    versions = {name: output for name, output in outputs.items() if name.endswith("Version") and output}
    revision = {name: output for name, output in outputs.items() if name in ("branch", "commit") and output}
    dirty = {"dirty": outputs["dirty"] != ""} if "dirty" in outputs else {}
    return RepositoryFacts(environment={"platform": sys.platform, **versions}, git={**revision, **dirty})


async def _run_program(command: Sequence[str], folder: Path, timeout_s: float) -> str | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        process = await anyio.open_process(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=_make_environment(),
            start_new_session=True,
        )
    except OSError:  # The folder was removed, or the file is not a program.
        return None
    output: str | None = None
    try:
        with anyio.move_on_after(timeout_s):
            output = await _read_output(process)
    finally:
        # Shielded: the process must be ended even if the caller is cancelled.
        with anyio.CancelScope(shield=True):
            _kill(process)
            await process.aclose()
    return output.strip() if output is not None else None


async def _read_output(process: anyio.abc.Process) -> str | None:
    """Return the output, or None if the program failed. Only the beginning of a long output is returned."""
    assert process.stdout is not None
    output = b""
    async for chunk in process.stdout:
        output += chunk
        if len(output) > MAX_OUTPUT_BYTES:
            return output.decode("utf-8", "replace")
    return output.decode("utf-8", "replace") if await process.wait() == 0 else None


def _kill(process: anyio.abc.Process) -> None:
    """Kill the process and its children, which may keep its pipe open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _make_environment() -> dict[str, str]:
    """Return an environment in which git uses only the folder, and no program prompts or downloads."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **inherited,
        "GIT_TERMINAL_PROMPT": "0",
        "COREPACK_ENABLE_NETWORK": "0",
        "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0",
        "LC_ALL": "C",
    }
