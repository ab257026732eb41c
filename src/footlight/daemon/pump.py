"""`footlight serve --shared`: bytes from standard input to the server in the background, and back.

It knows nothing of the protocol. What one MCP client has there ends with this process, in whatever way that
ends, because the connection does.
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
        state, link = reach(find_folder(os.environ), "shared", options=options, say=_say)
    except DaemonError as error:
        _say(error.message)
        _say(error.suggestion)
        return NO_SERVER
    _say_what_differs(state, options)
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
                return  # The other direction finds out and says it.
        ended.set()
        link.end_input()

    threading.Thread(target=send, daemon=True).start()
    while True:
        came, _, _ = select.select([link], [], [], ORPHAN_CHECK_SECONDS)
        if not came:
            if os.getppid() != parent:
                return 0  # Another may hold our input open, so that its end does not come.
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
            return 0  # Nobody reads.
    if ended.is_set():
        return 0
    _say("the server in the background has ended")
    return NO_SERVER


def _end(_: int, __: object) -> None:
    os._exit(0)


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


def _say_what_differs(state: State, options: Sequence[str]) -> None:
    theirs = serve_options(state.command)
    if options and [*options] != theirs:
        _say(
            f"the server in the background was started with {' '.join(theirs) or 'no options'}; "
            f"these do not count: {' '.join(options)}"
        )
        _say("`footlight daemon stop` ends it, for all who use it; the next start counts")
    if state.directory != _current_folder():
        _say(f"the server in the background works in {state.directory}: paths begin there")


def _current_folder() -> str:
    """Return the working directory, or an empty text if it has been removed."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""


def _say(text: str) -> None:
    sys.stderr.write(f"footlight: {text}\n")
    sys.stderr.flush()
