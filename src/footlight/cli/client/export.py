"""`footlight export`: write a call log as a test."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from footlight.atomic_files import write_atomically
from footlight.cli.output import ignore_broken_pipe, warn
from footlight.cli.sections import SectionedCommand
from footlight.cli.usage import BAD_USAGE, InvalidUsageError, read_input, read_variable

__all__ = ["export"]


EXAMPLES = (
    "footlight export calls.jsonl --to pytest --out test_shop.py",
    'footlight export calls.jsonl --to pytest --server "footlight serve" --var BASE_URL=http://localhost:8000',
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "--to", type=click.Choice(["pytest"]), required=True, expose_value=False, help="Kind of test to write."
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file. Default: standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists with other content.")
@click.option("--name", metavar="NAME", help="Name of the test. Default: made from the name of the log.")
@click.option(
    "--server", metavar="COMMAND|URL", help="Server to run the test with, which a comment in the file names."
)
@click.option(
    "--var",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="Replace VALUE by the environment variable NAME in the test. Repeatable.",
)
def export(
    *,
    log: Path,
    out: Path | None,
    force: bool,
    name: str | None,
    server: str | None,
    variables: tuple[str, ...],
) -> None:
    """Write a test that makes the calls of LOG and asserts the results in it. `-` is standard input.

    Only results that are the same each time are asserted. Elements that were named by refs are found by the
    locators that the server gave for them. Redacted values are read from the environment.
    """
    from footlight.protocol.errors import MCPError

    try:
        _write(_make_test(log, name, server, variables), out, force=force)
    except (InvalidUsageError, MCPError) as error:
        warn(str(error))
        sys.exit(BAD_USAGE)
    except BrokenPipeError:
        ignore_broken_pipe()


def _make_test(log: Path, name: str | None, server: str | None, variables: Sequence[str]) -> str:
    from footlight.client.export.exporter import export_test, name_of_test
    from footlight.client.replay.calls import read_calls
    from footlight.client.replay.logged_results import Sidecars

    input_name, data = read_input(log)
    test = name_of_test(name or (log.stem if str(log) != "-" else ""))
    values = dict(read_variable(each, os.environ) for each in variables)
    calls = read_calls(data, name=input_name)
    return export_test(
        calls, name=log.name, test=test, server=server, variables=values, sidecars=Sidecars(log)
    )


def _write(text: str, out: Path | None, *, force: bool) -> None:
    if out is None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
        return
    data = text.encode()
    try:
        # An existing file may have been edited by hand. Do not read devices and pipes.
        if out.is_file() and not force and out.read_bytes() != data:
            raise InvalidUsageError(f"{out} exists: give another --out, or --force to overwrite it")
        write_atomically(out, data)
    except OSError as error:
        raise InvalidUsageError(f"--out {out}: {error.strerror or error}") from None
