"""What a repository and its machine are like, as every step of a session tells it (R002-61)."""

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

from footlight.knowledge.records import Facts

__all__ = ["LearntFacts", "repository_facts"]

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 2.0
"""For each program: a step must not wait for one that hangs."""
LONGEST_ANSWER = 1 << 20

_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
"""Reads only, and starts no program that the repository names."""


class LearntFacts:
    """What is known of a repository by now. It is asked beside the steps: the first ones may know nothing."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._asking: asyncio.Task[Facts] | None = None

    def ask(self) -> None:
        """Once more: the branch may be another by now."""
        self._asking = asyncio.create_task(repository_facts(self._repository))

    @property
    def known(self) -> Facts:
        asking = self._asking
        if asking is None or not asking.done() or asking.cancelled():
            return Facts()
        if error := asking.exception():
            logger.warning("nothing could be learnt of the repository", exc_info=error)
            self._asking = None
            return Facts()
        return asking.result()


async def repository_facts(root: Path, *, answer_s: float = ANSWER_SECONDS) -> Facts:
    """Ask once per session. What cannot be had is left out: a program that is missing, hangs or fails."""
    questions = {
        "nodeVersion": ("node", "--version"),
        "yarnVersion": ("yarn", "--version"),
        "branch": (*_GIT, "symbolic-ref", "--quiet", "--short", "HEAD"),
        "commit": (*_GIT, "rev-parse", "--quiet", "--verify", "HEAD"),
        "dirty": (*_GIT, "status", "--porcelain"),
    }
    answers: dict[str, str] = {}

    async def ask(name: str, command: Sequence[str]) -> None:
        said = await _find_answer(command, root, answer_s)
        if said is not None:
            answers[name] = said

    async with anyio.create_task_group() as asking:
        for name, command in questions.items():
            asking.start_soon(ask, name, command)
    versions = {name: said for name, said in answers.items() if name.endswith("Version") and said}
    named = {name: said for name, said in answers.items() if name in ("branch", "commit") and said}
    dirty = {"dirty": answers["dirty"] != ""} if "dirty" in answers else {}
    return Facts(environment={"platform": sys.platform, **versions}, git={**named, **dirty})


async def _find_answer(command: Sequence[str], folder: Path, answer_s: float) -> str | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        process = await anyio.open_process(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=_environment(),
            start_new_session=True,
        )
    except OSError:  # the folder is gone, or the program is none
        return None
    said: str | None = None
    try:
        with anyio.move_on_after(answer_s):
            said = await _output(process)
    finally:
        # Shielded: a cancelled caller must still not leave a process behind.
        with anyio.CancelScope(shield=True):
            _kill(process)
            await process.aclose()
    return said.strip() if said is not None else None


async def _output(process: anyio.abc.Process) -> str | None:
    """None where it failed. Of a long one, the beginning: that a tree is dirty is seen there."""
    assert process.stdout is not None
    output = b""
    async for piece in process.stdout:
        output += piece
        if len(output) > LONGEST_ANSWER:
            return output.decode("utf-8", "replace")
    return output.decode("utf-8", "replace") if await process.wait() == 0 else None


def _kill(process: anyio.abc.Process) -> None:
    """With its children, which may have its pipe."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """Git looks at the folder alone, and nothing asks or downloads."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "COREPACK_ENABLE_NETWORK": "0",
        "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0",
        "LC_ALL": "C",
    }
