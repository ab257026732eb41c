"""`footlight call`, without `click`: a call to the server in the background costs little more than its tool.

Over its local stream a call is one request of the stateless protocol, with no handshake before it; what the
tool takes stands beside the server's state.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight import __version__
from footlight.cli.arguments import BadUsage, Typed, find_tool, read_words, tool_arguments
from footlight.cli.printing import OK, TOOL_FAILED, nobody_reads, print_result, print_tool, warn
from footlight.client.versions import STATELESS_VERSIONS, request_meta
from footlight.daemon.errors import DaemonError, NoDaemon
from footlight.daemon.folder import find_folder
from footlight.daemon.running import NO_SERVER
from footlight.daemon.state import State, Tools, read_state, read_tools

if TYPE_CHECKING:
    from footlight.daemon.link import Link

__all__ = ["BAD_USAGE", "ServerError", "form", "output", "read_text", "run_call"]

BAD_USAGE = 2
INTERRUPTED = 130
INVALID_PARAMS = -32602

HOW_TO_START = "`footlight daemon start` starts one, and so does a call without --no-start."


class ServerError(Exception):
    """The server refused the request: no answer of a tool."""

    def __init__(self, message: str, code: int | None) -> None:
        super().__init__(message)
        self.code = code


def run_call(words: Sequence[str]) -> int:
    """With what was typed after `call`; the exit status."""
    for stream in (sys.stdout, sys.stderr):
        # Text of a page may have what no encoding has: half of a surrogate pair.
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        status = _run(read_words(words))
        sys.stdout.flush()
    except BadUsage as error:
        warn(str(error))
        return BAD_USAGE
    except DaemonError as error:
        warn(f"{error.message}\n{error.suggestion}".rstrip())
        return NO_SERVER
    except ServerError as error:
        warn(str(error))
        return BAD_USAGE if error.code == INVALID_PARAMS else TOOL_FAILED
    except BrokenPipeError:
        nobody_reads()
        return OK
    except OSError as error:
        warn(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        return BAD_USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _run(typed: Typed) -> int:
    if typed.tool is None:
        return _explain(typed)
    if server := _last(typed.ours("server")):
        from footlight.cli.calling_server import call_server

        return call_server(server, typed, headers=typed.ours("header"))
    if typed.ours("header"):
        raise BadUsage("--header is for a server with a URL (--server)")
    if typed.help:
        from footlight.cli.offered import offered

        print_tool(find_tool(typed.tool, offered(find_folder(os.environ))))
        return OK
    return _call(typed, find_folder(os.environ))


def _explain(typed: Typed) -> int:
    if not typed.help:
        raise BadUsage("name the tool: footlight call TOOL. `footlight tools` lists them.")
    from footlight.cli.call import call_help

    sys.stdout.write(call_help())
    return OK


def _call(typed: Typed, folder: Path) -> int:
    from footlight.daemon.link import connect
    from footlight.daemon.starting import reach

    if typed.ours("no-start"):
        state = read_state(folder)
        if state is None:
            raise NoDaemon("no server runs in the background", suggestion=HOW_TO_START)
        link = connect(state, "call")
    else:
        state, link = reach(folder, "call", say=warn)
    with link:
        tool = find_tool(str(typed.tool), _tools(folder, state, link))
        params = {"name": tool["name"], "arguments": tool_arguments(typed, tool, read=read_text)}
        shown = form(typed, tool), output(typed, tool)
        result = _ask(link, "tools/call", params)
        return print_result(tool["name"], result, form=shown[0], output=shown[1])


def _tools(folder: Path, state: State, link: Link) -> Tools:
    return read_tools(folder, state) or _ask(link, "tools/list", {})["tools"]


def _ask(link: Link, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result of a stateless request.

    Raises:
        ServerError: the server refused it.
        NoDaemon: the server ended before it answered.
    """
    identity = {"name": "footlight call", "version": __version__}
    meta = request_meta(STATELESS_VERSIONS[-1], client_info=identity, capabilities={})
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    try:
        link.send(json.dumps(request).encode() + b"\n")
        while line := link.line():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == 1 and "method" not in message:
                return _result(message)
    except OSError:
        pass
    raise NoDaemon("the server in the background ended before it answered")


def _result(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if error := message.get("error"):
        raise ServerError(str(error["message"]), error.get("code"))
    return message["result"]


def form(typed: Typed, tool: Mapping[str, Any]) -> str:
    """Raises BadUsage."""
    given = typed.ours("format", tool)
    if given and given[-1] not in ("text", "json"):
        raise BadUsage(f"--format is text or json, not {given[-1]!r}")
    return str(given[-1]) if given else "text"


def output(typed: Typed, tool: Mapping[str, Any]) -> Path | None:
    """Raises BadUsage, also where no file can be there: better before the tool runs than after."""
    given = typed.ours("output", tool)
    if not given:
        return None
    if not given[-1]:
        raise BadUsage("--output needs a value")
    file = Path(given[-1])
    if file.is_dir() or not file.parent.is_dir():
        raise BadUsage(f"--output is a file in a folder that exists, not {given[-1]!r}")
    return file


def read_text(file: str) -> str:
    """`-` is standard input. Raises BadUsage."""
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadUsage(f"--json {file}: that is not UTF-8") from None


def _last(values: Sequence[str | None]) -> str | None:
    """Raises BadUsage where there is none in it."""
    if values and not values[-1]:
        raise BadUsage("--server needs a value: a command or a URL")
    return values[-1] if values else None
