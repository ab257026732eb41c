"""`footlight replay`: the calls of a log or a sequence, made again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

__all__ = ["replay"]

DIFFERS = 1


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--server", metavar="COMMAND|URL", help="The server that is called. Needed, except for a dry run."
)
@click.option(
    "--header", "headers", metavar="NAME:VALUE", multiple=True, help="Send it to a URL. Repeatable."
)
@click.option(
    "--adapter",
    type=click.Choice(["auto", "szkrabok", "browser", "none"]),
    default="auto",
    show_default=True,
    help="How the server names its sessions; none makes the calls as they are.",
)
@click.option("--session", metavar="NAME", help="Make the calls in this session, which is opened and closed.")
@click.option(
    "--var",
    "variables",
    metavar="NAME[=VALUE]",
    multiple=True,
    help="The value of ${NAME}; without one, that of the environment. Repeatable.",
)
@click.option("--verify", is_flag=True, help="Compare what comes of each call with what the log says.")
@click.option(
    "--ignore", metavar="PATH", multiple=True, help="Do not compare it: $.data.rows[*].price. Repeatable."
)
@click.option(
    "--ignore-field", metavar="NAME", multiple=True, help="Nor a field of this name, anywhere. Repeatable."
)
@click.option("--log", type=click.Path(dir_okay=False, path_type=Path), help="Log the calls to this file.")
@click.option(
    "--timeout",
    metavar="MS",
    type=click.IntRange(min=1),
    default=600_000,
    help="For each call.",
    show_default=True,
)
@click.option("--dry-run", is_flag=True, help="Only check the file, and list its calls.")
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
    """Make the calls of FILE again: a call log, or a sequence. `-` is standard input.

    A log that opens its own sessions is replayed as it is, unless --session is given. For any other calls a
    session is opened, and closed whatever happens. The first call that fails ends it; with --verify, one that
    was logged as failed must fail the same way again.

    Exits with 1 where a call failed or differs, 2 where the file or an option is wrong, 3 where there is no
    server.
    """
    from footlight.cli.replaying import Wanted, run_replay

    wanted = Wanted(
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
    sys.exit(run_replay(wanted))
