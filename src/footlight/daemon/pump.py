"""`footlight serve --shared`: proxy stdio to the shared background server.

The proxy copies bytes and does not know the protocol. When this process ends in any way, its connection ends,
and with it the sessions of its MCP client.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from footlight.daemon.errors import DaemonError
from footlight.daemon.folder import find_folder
from footlight.daemon.link import DaemonLink
from footlight.daemon.running import NO_SERVER, serve_options
from footlight.daemon.starting import reach
from footlight.daemon.state import State

__all__ = ["run_pump"]

ORPHAN_CHECK_SECONDS = 1.0


def run_pump(arguments: Sequence[str]) -> int:
    """Run the proxy with the arguments after `serve`, and return the exit status."""
    options = [each for each in arguments if each != "--shared"]
    parent = os.getppid()
    try:
        state, link = reach(find_folder(os.environ), "shared", options=options, say=_write_line)
    except DaemonError as error:
        _write_line(error.message)
        _write_line(error.suggestion)
        return NO_SERVER
    _report_differences(state, options)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    with link:
        return _pump(link, parent)


def _pump(link: DaemonLink, parent: int) -> int:
    ended = threading.Event()

    def send() -> None:
        while data := os.read(0, 1 << 16):
            try:
                link.send(data)
            except OSError:
                return  # The other direction notices and reports it.
        ended.set()
        link.end_input()

    threading.Thread(target=send, daemon=True).start()
    while True:
        readable, _, _ = select.select([link], [], [], ORPHAN_CHECK_SECONDS)
        if not readable:
            if os.getppid() != parent:
                return 0  # Another process may hold the input open, so that it never ends.
            continue
        try:
            data = link.some()
        except OSError:
            data = b""
        if not data:
            break
        try:
            _write(data)
        except OSError:
            return 0  # The client has closed its end.
    if ended.is_set():
        return 0
    _write_line("the background server has ended")
    return NO_SERVER


def _end(_: int, __: object) -> None:
    os._exit(0)


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


def _report_differences(state: State, options: Sequence[str]) -> None:
    theirs = serve_options(state.command)
    if options and [*options] != theirs:
        _write_line(
            f"the background server was started with {' '.join(theirs) or 'no options'}; "
            f"these options are ignored: {' '.join(options)}"
        )
        _write_line(
            "`footlight daemon stop` ends it for all its clients; the next start uses the new options"
        )
    if state.directory != _find_current_folder():
        _write_line(
            f"the working directory of the background server is {state.directory}; paths are relative to it"
        )


def _find_current_folder() -> str:
    """Return the working directory, or an empty text if it has been removed."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""


def _write_line(text: str) -> None:
    sys.stderr.write(f"footlight: {text}\n")
    sys.stderr.flush()
