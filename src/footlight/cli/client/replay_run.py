"""Run `footlight replay`: repeat the calls of a file, compare the results, and print differences."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from footlight.cli.interruption import run_until_signal
from footlight.cli.output import escape_surrogates, ignore_broken_pipe, say, warn
from footlight.cli.usage import (
    BAD_USAGE,
    FAILED,
    OK,
    InvalidUsageError,
    read_headers,
    read_input,
    read_variable,
)
from footlight.client.handles.adapters import (
    ADAPTERS,
    Adapter,
    AdapterChoice,
    choose_fitting_adapter,
    without_traces,
)
from footlight.client.handles.call_log import CallLog, create_logger
from footlight.client.handles.connect import PendingConnection
from footlight.client.handles.dynamic import DynamicHandle, connect_dynamic
from footlight.client.replay.comparison import format_differences
from footlight.client.replay.logged_results import Sidecars
from footlight.client.replay.runner import RepeatedCall, Script, repeat_calls, script_of
from footlight.client.replay.sessions import opens_sessions
from footlight.client.replay.volatile import IgnoredValues
from footlight.client.target import transport_for
from footlight.daemon.running import NO_SERVER
from footlight.protocol.errors import MCPError
from footlight.protocol.tools import Tool

__all__ = ["ReplayArguments", "run_replay"]

SESSION = "replay"
UNREACHABLE = ("network", "spawn", "handshake", "not_connected", "http")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayArguments:
    """The arguments from the command line."""

    file: Path
    server: str | None
    headers: Sequence[str]
    adapter: str
    session: str | None
    variables: Sequence[str]
    verify: bool
    ignore: Sequence[str]
    log: Path | None
    timeout_ms: float
    dry_run: bool


def run_replay(arguments: ReplayArguments) -> int:
    """Replay the file and return the exit status."""
    escape_surrogates()
    try:
        script = _script(arguments)
        ignored = IgnoredValues.of(arguments.ignore)
        if arguments.dry_run:
            return _list(script)
        if arguments.verify and script.calls and all(call.outcome is None for call in script.calls):
            raise InvalidUsageError(f"--verify: {script.name} has no result for any call")
        return run_until_signal(_replay(arguments, script, ignored))
    except (InvalidUsageError, MCPError) as error:
        warn(str(error))
        return BAD_USAGE
    except BrokenPipeError:
        ignore_broken_pipe()
        return FAILED


def _script(arguments: ReplayArguments) -> Script:
    if not arguments.server and not arguments.dry_run:
        raise InvalidUsageError("--server is required: a command or a URL")
    if (
        arguments.log
        and arguments.file.exists()
        and arguments.log.exists()
        and arguments.log.samefile(arguments.file)
    ):
        raise InvalidUsageError(f"--log {arguments.log}: this is the file that is replayed")
    variables = dict(read_variable(each, os.environ) for each in arguments.variables)
    name, data = read_input(arguments.file)
    return script_of(data, variables, name=name, sidecars=Sidecars(arguments.file))


def _list(script: Script) -> int:
    for number, call in enumerate(script.calls, 1):
        say(f"{number:>4}  line {call.line}: {script.brief(call)}")
    say(_count(len(script.calls)))
    return OK


async def _replay(arguments: ReplayArguments, script: Script, ignored: IgnoredValues) -> int:
    began = time.monotonic()
    replayed: list[RepeatedCall] = []
    try:
        async with _open_handle(arguments, script) as mcp:
            steps = repeat_calls(
                mcp, script, verify=arguments.verify, ignored=ignored, timeout_ms=arguments.timeout_ms
            )
            async for each in steps:
                replayed.append(replace(each, value=None))  # Many large results may not fit into memory.
                _print_call(len(replayed), each, script)
    except MCPError as error:
        return _report_error(error)
    return _print_summary(replayed, arguments, time.monotonic() - began)


def _print_summary(replayed: Sequence[RepeatedCall], arguments: ReplayArguments, seconds: float) -> int:
    if replayed and replayed[-1].stops:
        say(f"Stopped at the first call that failed, after {_count(len(replayed) - 1)}.")
        return FAILED
    differing = sum(bool(each.differences) for each in replayed)
    unknown = sum(each.call.outcome is None for each in replayed)
    only_kind = sum(each.only_kind for each in replayed)
    notes = [f"; {unknown} without a result in the log"] * bool(unknown)
    notes += [f"; {only_kind} compared only by the kind of the result"] * bool(only_kind)
    verdict = ""
    if differing:
        verdict = f", {differing} of them not as logged"
    elif arguments.verify and replayed:
        verdict = f", as logged{''.join(notes)}" if notes else ", all as logged"
    say(f"{_count(len(replayed))} in {seconds:.1f} s{verdict}.")
    return FAILED if differing else OK


def _report_error(error: MCPError) -> int:
    warn(error.message)
    if error.reason == "invalid":
        return BAD_USAGE
    return NO_SERVER if error.reason in UNREACHABLE else FAILED


def _open_handle(arguments: ReplayArguments, script: Script) -> PendingConnection[DynamicHandle]:
    session = f"{SESSION}-{secrets.token_hex(4)}" if arguments.session is None else arguments.session
    return connect_dynamic(
        session,
        _adapter(arguments, script),
        server=transport_for(arguments.server, headers=read_headers(arguments.headers)),
        log=_log(arguments, script),
    )


def _adapter(arguments: ReplayArguments, script: Script) -> AdapterChoice:
    name = arguments.adapter
    if name == "auto" and arguments.session is None and opens_sessions(script.calls):
        name = "none"

    def choose(tools: Sequence[Tool]) -> Adapter:
        adapter = choose_fitting_adapter(tools) if name == "auto" else ADAPTERS[name]
        # An unnamed session starts empty and is deleted at the end.
        return without_traces(adapter) if arguments.session is None else adapter

    return choose


def _log(arguments: ReplayArguments, script: Script) -> CallLog:
    # Values of variables are replaced by their names, so that the new log can be replayed as well.
    redact = script.hidden.entry if script.hidden.variables else None
    return create_logger(console=False, file=arguments.log, redact=redact)


def _print_call(number: int, replayed: RepeatedCall, script: Script) -> None:
    outcome = "differs" if replayed.differences else "failed as logged" if replayed.error else "ok"
    outcome = "failed" if replayed.stops else outcome
    say(f"{number:>4}  {replayed.call.name}  {outcome}  {replayed.ms:.0f} ms")
    if replayed.stops:
        warn(str(replayed.error))
    if replayed.differences:
        for line in (
            f"line {replayed.call.line}: {script.brief(replayed.call)}",
            *format_differences(replayed.differences),
        ):
            say(f"      {line}")


def _count(calls: int) -> str:
    return f"{calls} call{'s' * (calls != 1)}"
