"""Run commands of `footlight` to their end, each in a process of its own.

The processes are forked from one that has imported the package already, which takes most of a second.
"""

from __future__ import annotations

import asyncio
import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Done", "run", "run_command"]

PRELOADED = (
    "footlight.cli.commands",
    "footlight.cli.audit.command",
    "footlight.cli.call.run",
    "footlight.audit",
    "mcp",
)
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload([*PRELOADED])


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    status: int
    out: str
    err: str


async def run_command(
    *arguments: str, cwd: Path, environment: Mapping[str, str], stdin: str = "", limit_seconds: float
) -> Done:
    """Run `footlight` with these arguments, as `run` does."""
    return await asyncio.to_thread(_run, arguments, cwd, environment, stdin, limit_seconds)


def run(*arguments: str, cwd: Path | None = None, stdin: str = "", **environment: str) -> Done:
    """Run `footlight` with these arguments, and these variables beside those of the tests.

    Raises:
        TimeoutError: it took longer than a minute, and was killed.
    """
    return _run(arguments, cwd or Path.cwd(), {**os.environ, **environment}, stdin, 60)


def _run(
    arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str, limit_seconds: float
) -> Done:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("in", "out", "err")]
        files[0].write_text(stdin)
        process = _SERVER.Process(target=_main, args=([*arguments], cwd, {**environment}, files))
        process.start()
        process.join(limit_seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"footlight {' '.join(arguments)}: {files[2].read_text()}")
        return Done(process.exitcode, *(file.read_bytes().decode() for file in files[1:]))


def _main(arguments: list[str], cwd: Path, environment: dict[str, str], files: list[Path]) -> None:
    """Run the command in the forked process, with the folder, environment and files of the caller."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, (file, flags) in enumerate(
        zip(files, (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT), strict=True)
    ):
        opened = os.open(file, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = io.TextIOWrapper(io.FileIO(0), encoding=encoding)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, "w"), encoding=encoding) for number in (1, 2)
    )
    sys.argv = ["footlight", *arguments]
    from footlight.cli.main import main

    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)
