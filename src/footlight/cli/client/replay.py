"""The `click` command of `footlight replay`. `replay_run` does the work."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from footlight.cli.sections import SectionedCommand, header_option

__all__ = ["replay"]


EXAMPLES = (
    'footlight replay calls.jsonl --server "footlight serve" --verify',
    "footlight replay calls.jsonl --server http://localhost:8931/mcp --var TOKEN",
    "footlight replay calls.jsonl --dry-run",
)


@click.command(cls=SectionedCommand, examples=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--server", metavar="COMMAND|URL", help="The server to call. Required, except with --dry-run.")
@header_option
@click.option(
    "--adapter",
    type=click.Choice(["auto", "szkrabok", "browser", "none"]),
    default="auto",
    help="How the server names its sessions. `none` repeats the calls unchanged. Default: auto.",
)
@click.option(
    "--session",
    metavar="NAME",
    help="Make the calls in this session, which is opened before and closed after.",
)
@click.option(
    "--var",
    "variables",
    metavar="NAME[=VALUE]",
    multiple=True,
    help="The value of ${NAME}. Without VALUE, it is read from the environment. Repeatable.",
)
@click.option("--verify", is_flag=True, help="Compare the result of each call with the log.")
@click.option(
    "--ignore",
    metavar="PATH",
    multiple=True,
    help="Do not compare the values at this path, such as $.data.rows[*].price. Repeatable.",
)
@click.option(
    "--ignore-field", metavar="NAME", multiple=True, help="Do not compare fields of this name. Repeatable."
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a log of the repeated calls to this file.",
)
@click.option(
    "--timeout",
    metavar="MS",
    type=click.IntRange(min=1),
    default=600_000,
    help="Time limit of each call. Default: 600000.",
)
@click.option("--dry-run", is_flag=True, help="Only check the file and list its calls.")
def replay(
    *,
    file: Path,
    server: str | None,
    headers: tuple[str, ...],
    adapter: str,
    session: str | None,
    variables: tuple[str, ...],
    verify: bool,
    ignore: tuple[str, ...],
    ignore_field: tuple[str, ...],
    log: Path | None,
    timeout: int,
    dry_run: bool,
) -> None:
    """Repeat the calls of FILE, which is a call log or a sequence. `-` is standard input.

    A log that opens its own sessions is replayed unchanged, unless --session is given. For other calls, a
    session is opened, and always closed at the end. Replay stops at the first call that fails; with --verify,
    a call that was logged as failed must fail in the same way.

    Exits with 1 if a call failed or differs, 2 if the file or an option is wrong, and 3 if there is no
    server.
    """
    from footlight.cli.client.replay_run import ReplayArguments, run_replay

    arguments = ReplayArguments(
        file=file,
        server=server,
        headers=headers,
        adapter=adapter,
        session=session,
        variables=variables,
        verify=verify,
        ignore=(*ignore, *ignore_field),
        log=log,
        timeout_ms=timeout,
        dry_run=dry_run,
    )
    sys.exit(run_replay(arguments))
