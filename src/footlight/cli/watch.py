"""`footlight watch` and `footlight report`: watch the sessions of a server, and write one as an HTML file."""

from __future__ import annotations

import json
import os
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import click

from footlight.atomic_files import write_atomically
from footlight.cli.output import say
from footlight.cli.sections import SectionedCommand

__all__ = ["report", "watch"]

WATCH_EXAMPLES = ("footlight watch", "footlight watch --url http://localhost:8931 --token-file token.txt")
REPORT_EXAMPLES = (
    "footlight report last",
    "footlight report last --trace",
    "footlight report calls.jsonl --out calls.html",
)
ASK_SECONDS = 30.0


class ServerNotRunningError(click.ClickException):
    """No server is running, or it does not answer."""

    exit_code = 3


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select a server."""
    token = click.option(
        "--token-file",
        type=click.Path(dir_okay=False, exists=True),
        help="File whose first line is the token. Default: FOOTLIGHT_TOKEN.",
    )
    url = click.option(
        "--url", metavar="URL", help="URL of a server with --transport http, such as http://localhost:8931."
    )
    return url(token(command))


@dataclass(frozen=True, slots=True)
class WatchedServer:
    """A server with the watch page. `url` is that of its listener, without a path."""

    url: str
    token: str | None

    @property
    def page(self) -> str:
        # Browsers do not send the fragment of a URL.
        return f"{self.url}/watch" + (f"#token={self.token}" if self.token else "")

    def get(self, path: str, **query: str) -> tuple[int, str]:
        """Send a GET request, and return the status and the text of the answer.

        Raises:
            ServerNotRunningError: The server cannot be reached.
        """
        return self._send("GET", f"{path}?{urlencode(query)}", None)

    def post(self, path: str, **body: str) -> tuple[int, str]:
        """Send a POST request, and return the status and the text of the answer. Raises what `get` raises."""
        return self._send("POST", path, body)

    def _send(self, method: str, path: str, body: Mapping[str, str] | None) -> tuple[int, str]:
        import httpx2

        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        url = f"{self.url}/watch/api/{path}"
        try:
            answer = httpx2.request(method, url, json=body, headers=headers, timeout=ASK_SECONDS)
        except httpx2.HTTPError as error:
            raise ServerNotRunningError(f"{self.url} cannot be reached: {error}") from None
        return answer.status_code, answer.text


def find_watched_server(url: str | None, token_file: str | None, *, start: bool) -> WatchedServer:
    """Return the server at a URL, or the background server. With `start`, start it if necessary.

    Raises:
        ServerNotRunningError: No server is running.
    """
    token = Path(token_file).read_text("utf-8").split("\n")[0].strip() if token_file else None
    if url is not None:
        return WatchedServer(_origin(url), token or os.environ.get("FOOTLIGHT_TOKEN"))
    from footlight.daemon.errors import DaemonError
    from footlight.daemon.folder import find_folder
    from footlight.daemon.running import find_running
    from footlight.daemon.starting import ensure_running
    from footlight.daemon.state import TOKEN

    folder = find_folder(os.environ)
    try:
        state = ensure_running(folder, ())[0] if start else find_running(folder)
    except DaemonError as error:
        raise ServerNotRunningError(f"{error.message}\n{error.suggestion}".rstrip()) from None
    if state is None:
        raise ServerNotRunningError("No background server is running. Name another one with --url.")
    file = folder / TOKEN
    if token is None and file.exists():
        token = file.read_text("utf-8").strip()
    return WatchedServer(_origin(state.url), token)


def _origin(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise click.BadParameter(f"{url} is not an http or https URL of a server", param_hint="--url")
    return f"{parts.scheme}://{parts.netloc}"


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
@click.option(
    "--trace",
    "shows_trace",
    is_flag=True,
    help="Show the last recorded trace in the trace viewer instead. For a LOG, until you press Ctrl+C.",
)
@click.option("--open/--no-open", "opens", default=True, help="Open the viewer in a browser. Default: open.")
@server_options
def report(
    *,
    what: str,
    out: Path | None,
    force: bool,
    shows_trace: bool,
    opens: bool,
    url: str | None,
    token_file: str | None,
) -> None:
    """Write what happened in a session as one HTML file, which opens without a network.

    LOG is a call log of a client. SESSION is the id of a session, or its beginning, or `last`, on the
    background server or the one at --url; a session that has ended is known until its server ends.
    """
    if shows_trace:
        if Path(what).is_file():
            _show_trace_of_log(Path(what), opens=opens)
        else:
            _show_trace_of_session(what, url, token_file, opens=opens)
        return
    file = out or Path("report.html")
    if file.exists() and not force:
        raise click.BadParameter(f"{file} exists; use --force to overwrite it.", param_hint="--out")
    page = _report_log(Path(what)) if Path(what).is_file() else _report_session(what, url, token_file)
    try:
        write_atomically(file, page.encode("utf-8", "replace"), private=True)
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be written: {error.strerror}", param_hint="--out") from None
    say(str(file))


def _show_trace_of_session(name: str, url: str | None, token_file: str | None, *, opens: bool) -> None:
    server = find_watched_server(url, token_file, start=False)
    status, text = server.post("open-trace", session=_find_session(server, name))
    if status != 200:
        raise click.ClickException(_explain(status, text))
    _announce_viewer(server.url + json.loads(text)["url"], opens=opens)


def _show_trace_of_log(file: Path, *, opens: bool) -> None:
    import asyncio

    from footlight.protocol.errors import MCPError
    from footlight.watch.call_log import find_trace
    from footlight.watch.trace_viewer import InvalidTraceError, serve_trace

    async def serve(trace: Path) -> None:
        async with serve_trace(trace) as url:
            _announce_viewer(url, opens=opens)
            await asyncio.Event().wait()

    try:
        trace = find_trace(file.read_bytes(), name=file.name)
        if trace is None:
            raise InvalidTraceError(f"{file} contains no trace. The tool `trace` records one.")
        asyncio.run(serve(trace))
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="LOG") from None
    except (MCPError, InvalidTraceError) as error:
        raise click.BadParameter(str(error), param_hint="LOG") from None
    except KeyboardInterrupt:
        return


def _announce_viewer(url: str, *, opens: bool) -> None:
    click.echo(url)
    if opens:
        webbrowser.open(url)


def _report_log(file: Path) -> str:
    from footlight.protocol.errors import MCPError
    from footlight.watch.call_log import read_call_log
    from footlight.watch.report import render_report

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
