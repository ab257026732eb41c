"""Run `footlight call` without `click`, so that a call takes little more time than its tool.

A call to the background server is one request of the stateless protocol over the local socket, without a
handshake. The schemas of the tools are stored in the same folder as the state of the server.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight import __version__
from footlight.cli.call.arguments import (
    RawArguments,
    choose_format,
    choose_output,
    find_tool,
    read_text,
    read_words,
    tool_arguments,
)
from footlight.cli.output import escape_surrogates, ignore_broken_pipe, print_result, print_tool, warn
from footlight.cli.usage import (
    BAD_USAGE,
    FAILED,
    INTERRUPTED,
    OK,
    InvalidUsageError,
    OutputNotWrittenError,
    RequestRefusedError,
)
from footlight.daemon.errors import DaemonError, DaemonNotRunningError
from footlight.daemon.folder import find_folder
from footlight.daemon.running import NO_SERVER
from footlight.daemon.state import State, Tools, read_state, read_tools
from footlight.protocol.versions import STATELESS_VERSIONS, request_meta

if TYPE_CHECKING:
    from footlight.cli.call.arguments import Tool
    from footlight.daemon.link import DaemonLink

__all__ = ["run_call"]

INVALID_PARAMS = -32602

HOW_TO_START = "Start one with `footlight daemon start`, or call without --no-start."


def run_call(words: Sequence[str]) -> int:
    """Run the command with the words after `call`, and return the exit status."""
    escape_surrogates()
    try:
        status = _run(read_words(words))
        sys.stdout.flush()
    except InvalidUsageError as error:
        warn(str(error))
        return BAD_USAGE
    except DaemonError as error:
        warn(f"{error.message}\n{error.suggestion}".rstrip())
        return NO_SERVER
    except RequestRefusedError as error:
        warn(str(error))
        return BAD_USAGE if error.code == INVALID_PARAMS else FAILED
    except OutputNotWrittenError as error:
        warn(str(error))
        return FAILED
    except BrokenPipeError:
        ignore_broken_pipe()
        return OK
    except OSError as error:
        warn(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        return BAD_USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _run(typed: RawArguments) -> int:
    if typed.tool is None:
        raise InvalidUsageError("name the tool: footlight call TOOL. `footlight tools` lists them.")
    if servers := typed.own_values("server"):
        if not servers[-1]:
            raise InvalidUsageError("--server needs a value: a command or a URL")
        from footlight.cli.call.server import call_server

        return call_server(servers[-1], typed, headers=typed.own_values("header"))
    if typed.own_values("header"):
        raise InvalidUsageError("--header is for a server with a URL (--server)")
    if typed.help:
        from footlight.cli.call.known_tools import find_known_tools

        print_tool(_find_tool(typed.tool, find_known_tools(find_folder(os.environ))))
        return OK
    return _call(typed, find_folder(os.environ))


def _call(typed: RawArguments, folder: Path) -> int:
    from footlight.daemon.link import connect
    from footlight.daemon.starting import reach

    if typed.own_values("no-start"):
        state = read_state(folder)
        if state is None:
            raise DaemonNotRunningError("no background server is running", suggestion=HOW_TO_START)
        link = connect(state, "call")
    else:
        state, link = reach(folder, "call", say=warn)
    with link:
        tool = _find_tool(str(typed.tool), _tools(folder, state, link))
        form, output = choose_format(typed, tool), choose_output(typed, tool)
        params = {"name": tool["name"], "arguments": tool_arguments(typed, tool, read=read_text)}
        result = _ask(link, "tools/call", params)
        return print_result(tool["name"], result, form=form, output=output)


def _find_tool(name: str, tools: Tools) -> Tool:
    """Return the tool of the background server with this name.

    Raises:
        InvalidUsageError: there is no such tool. The message names the closest one, or the group that
            contains it.
    """
    try:
        return find_tool(name, tools)
    except InvalidUsageError:
        from footlight.toolsets.browser import read_groups

        if group := read_groups().get(name):
            raise InvalidUsageError(
                f"{name}, of the group {group}, is not offered by the background server. "
                "Start one that does:\n"
                f"footlight daemon stop; footlight daemon start --tools default,{group}"
            ) from None
        raise


def _tools(folder: Path, state: State, link: DaemonLink) -> Tools:
    return read_tools(folder, state) or _ask(link, "tools/list", {})["tools"]


def _ask(link: DaemonLink, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send a stateless request and return its result.

    Raises:
        RequestRefusedError: the server answered with an error.
        DaemonNotRunningError: the server ended before it answered.
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
    raise DaemonNotRunningError("the background server ended before it answered")


def _result(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if error := message.get("error"):
        raise RequestRefusedError(str(error["message"]), error.get("code"))
    return message["result"]
