"""`footlight watch` and `footlight report`: watch the sessions of a server, and write one as an HTML file."""

from __future__ import annotations

import json
import os
import webbrowser
from pathlib import Path
from typing import Any

import click

from footlight.cli.output import say
from footlight.cli.sections import SectionedCommand
from footlight.cli.watched_server import WatchedServer, find_watched_server, server_options
from footlight.private_files import open_private

__all__ = ["report", "watch"]

WATCH_EXAMPLES = ("footlight watch", "footlight watch --url http://localhost:8931 --token-file token.txt")
REPORT_EXAMPLES = ("footlight report last", "footlight report calls.jsonl --out calls.html")


@click.command(cls=SectionedCommand, examples=WATCH_EXAMPLES)
@server_options
@click.option("--open/--no-open", "opens", default=True, help="Open the page in a browser. Default: open.")
def watch(*, url: str | None, token_file: str | None, opens: bool) -> None:
    """Print the address of the page on which a person can watch a server, and open it.

    Without --url it is the page of the background server, which is started if it is not running. The printed
    address contains the token: anyone who has it can use the browser.
    """
    server = find_watched_server(url, token_file, start=True)
    click.echo(server.page)
    if opens:
        webbrowser.open(server.page)


@click.command(cls=SectionedCommand, examples=REPORT_EXAMPLES)
@click.argument("what", metavar="SESSION|LOG")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file. Default: report.html."
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@server_options
def report(*, what: str, out: Path | None, force: bool, url: str | None, token_file: str | None) -> None:
    """Write what happened in a session as one HTML file, which opens without a network.

    LOG is a call log of a client. SESSION is the id of a session, or its beginning, or `last`, on the
    background server or the one at --url; a session that has ended is known until its server ends.
    """
    file = out or Path("report.html")
    if file.exists() and not force:
        raise click.BadParameter(f"{file} exists; use --force to overwrite it.", param_hint="--out")
    page = _report_log(Path(what)) if Path(what).is_file() else _report_session(what, url, token_file)
    try:
        with os.fdopen(open_private(file, os.O_TRUNC), "w", encoding="utf-8", errors="replace") as target:
            target.write(page)
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be written: {error.strerror}", param_hint="--out") from None
    say(str(file))


def _report_log(file: Path) -> str:
    from footlight.protocol.errors import MCPError
    from footlight.watch.report.call_log import read_call_log
    from footlight.watch.report.page import render_report

    try:
        return render_report(read_call_log(file.read_bytes(), name=file.name))
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="LOG") from None
    except MCPError as error:
        raise click.BadParameter(str(error), param_hint="LOG") from None


def _report_session(name: str, url: str | None, token_file: str | None) -> str:
    server = find_watched_server(url, token_file, start=False)
    status, page = server.get("report", session=_find_session(server, name))
    if status != 200:
        raise click.ClickException(_explain(status, page))
    return page


def _find_session(server: WatchedServer, name: str) -> str:
    status, text = server.get("state")
    if status != 200:
        raise click.ClickException(_explain(status, text))
    state: dict[str, Any] = json.loads(text)
    known = [each["id"] for each in (*state["ended"], *state["sessions"])]
    found = known[-1:] if name == "last" else [id for id in known if id.startswith(name)]
    if len(found) != 1:
        some = ", ".join(known[-5:]) or "none"
        many = "more than one session begins" if found else "there is no file and no session that begins"
        raise click.UsageError(f"{many} with {name!r}. The latest sessions: {some}")
    return found[0]


def _explain(status: int, text: str) -> str:
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        missing = " It may have been started with --no-watch." if status == 404 else ""
        return f"The server answered {status}.{missing}"
