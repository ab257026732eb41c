"""`footlight daemon`: the background server of `footlight call` and `footlight serve --shared`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footlight.cli.sections import SectionedCommand
from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import LOG, find_folder
from footlight.daemon.running import NO_SERVER, ask_status, serve_options
from footlight.daemon.state import TOKEN, read_state

if TYPE_CHECKING:
    from footlight.daemon.running import Status
    from footlight.daemon.state import State

__all__ = ["daemon"]

NOT_RUNNING = "No background server is running."


EXAMPLES = (
    "footlight daemon start --tools all",
    "footlight daemon status --format json",
    "footlight daemon stop",
)


@click.command(cls=SectionedCommand, examples=EXAMPLES, context_settings={"ignore_unknown_options": True})
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Output format of the status. Default: text.",
)
@click.argument("action", type=click.Choice(["start", "status", "stop"]))
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def daemon(*, form: str, action: str, options: tuple[str, ...]) -> None:
    """Start or stop the background server, or show its status.

    `start` takes the options of `footlight serve`, such as `--headed` or `--tools all`. The server ends after
    half an hour without clients; `start --idle-exit SECONDS` sets another time, and 0 turns this off.

    `status` exits with 3 if no background server is running, or if it does not answer.
    """
    if options and action != "start":
        raise click.UsageError(f"`daemon {action}` takes no server options: {' '.join(options)}")
    try:
        if action == "start":
            _start(find_folder(os.environ), options)
        elif action == "stop":
            _stop(find_folder(os.environ))
        else:
            _print_status(find_folder(os.environ), form)
    except DaemonError as error:
        click.echo(f"footlight: {error.message}\n{error.suggestion}".rstrip(), err=True)
        sys.exit(NO_SERVER)


def _start(folder: Path, options: Sequence[str]) -> None:
    from footlight.daemon.starting import ensure_running

    state, is_new = ensure_running(folder, options)
    click.echo(f"{'started' if is_new else 'already running'}: process {state.pid}, {state.url}")
    current = serve_options(state.command)
    if not is_new and [*options] != current:
        click.echo(
            f"footlight: the server keeps the options it was started with: {' '.join(current) or 'none'}. "
            "To change them, stop it first with `footlight daemon stop`.",
            err=True,
        )


def _stop(folder: Path) -> None:
    from footlight.daemon.stopping import stop

    stopped = stop(folder)
    click.echo(f"stopped: process {stopped.pid}" if stopped else NOT_RUNNING)


def _print_status(folder: Path, form: str) -> None:
    from footlight.daemon.stopping import find_process

    state = read_state(folder)
    status = ask_status(state) if state else None
    if state and status:
        facts = _facts(folder, state, status)
    elif state and find_process(state):
        facts = {"running": True, "pid": state.pid, "answers": False}
    else:
        facts = {"running": False}
    if form == "json":
        click.echo(json.dumps(facts))
    elif facts["running"]:
        for name, fact in facts.items():
            shown = ("no", "yes")[fact] if isinstance(fact, bool) else "none" if fact == "" else fact
            click.echo(f"{name:10} {shown}")
    else:
        click.echo(NOT_RUNNING)
    if status is None:
        sys.exit(NO_SERVER)


def _facts(folder: Path, state: State, status: Status) -> dict[str, object]:
    token = folder / TOKEN
    return {
        "running": True,
        "pid": state.pid,
        "version": state.version,
        "url": state.url,
        **({"token": str(token)} if token.exists() else {}),
        "log": str(folder / LOG),
        "directory": state.directory,
        "options": " ".join(serve_options(state.command)),
        "clients": status.clients,
        "sessions": status.sessions,
    }
