"""What `footlight export` does, once it is known what is wanted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from footlight.cli.arguments import BadUsage
from footlight.cli.calling import BAD_USAGE
from footlight.cli.printing import OK, nobody_reads, warn
from footlight.cli.replaying import read_input, read_variable
from footlight.client.errors import MCPError
from footlight.client.replay.calls import read_calls
from footlight.client.replay.exporting import exported, name_of_test

__all__ = ["run_export"]


def run_export(
    log: Path,
    *,
    out: Path | None,
    force: bool,
    name: str | None,
    server: str | None,
    variables: Sequence[str],
) -> int:
    """The exit status."""
    try:
        called, data = read_input(log)
        test = name_of_test(name or (log.stem if str(log) != "-" else ""))
        given = dict(read_variable(each, os.environ) for each in variables)
        calls = read_calls(data, name=called)
        text = exported(calls, name=log.name, test=test, server=server, variables=given)
        _write(text, out, force=force)
    except (BadUsage, MCPError) as error:
        warn(str(error))
        return BAD_USAGE
    except BrokenPipeError:
        nobody_reads()
    return OK


def _write(text: str, out: Path | None, *, force: bool) -> None:
    if out is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
        return
    data = text.encode()
    try:
        if out.exists() and not force and out.read_bytes() != data:  # What somebody made of it by hand.
            raise BadUsage(f"{out} is there already: give another --out, or --force to overwrite it")
        out.write_bytes(data)
    except OSError as error:
        raise BadUsage(f"--out {out}: {error.strerror or error}") from None
