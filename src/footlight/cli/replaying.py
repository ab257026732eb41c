"""What `footlight replay` does, once it is known what is wanted."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from footlight.cli.arguments import BadUsage
from footlight.cli.calling import BAD_USAGE, INTERRUPTED
from footlight.cli.headers import read_headers
from footlight.cli.printing import OK, TOOL_FAILED, nobody_reads, say, warn
from footlight.client.adapters import ADAPTERS, Adapter, AdapterChoice, fitting_adapter, passing
from footlight.client.errors import MCPError
from footlight.client.replay.comparing import shown
from footlight.client.replay.running import Again, Script, again, script_of
from footlight.client.replay.sessions import opens_sessions
from footlight.client.replay.volatile import Ignored
from footlight.client.replay.written import Sidecars
from footlight.client.results import Tool
from footlight.client.runtime.connecting import Connecting
from footlight.client.runtime.dynamic import DynamicHandle, connect_dynamic
from footlight.client.runtime.logger import CallLog, create_logger
from footlight.client.target import transport_for
from footlight.daemon.running import NO_SERVER

__all__ = ["Wanted", "read_input", "read_variable", "run_replay"]

SESSION = "replay"
UNREACHED = ("network", "spawn", "handshake", "not_connected", "http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was typed."""

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


def run_replay(wanted: Wanted) -> int:
    """The exit status."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        script = _script(wanted)
        ignored = Ignored.of(wanted.ignore)
        if wanted.dry_run:
            return _list(script)
        if wanted.verify and script.calls and all(call.outcome is None for call in script.calls):
            raise BadUsage(f"--verify: {script.name} does not say what came of any call")
        return asyncio.run(_replay(wanted, script, ignored))
    except (BadUsage, MCPError) as error:
        warn(str(error))
        return BAD_USAGE
    except BrokenPipeError:
        nobody_reads()
        return TOOL_FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _script(wanted: Wanted) -> Script:
    if not wanted.server and not wanted.dry_run:
        raise BadUsage("--server is needed: a command or a URL")
    if wanted.log and wanted.file.exists() and wanted.log.exists() and wanted.log.samefile(wanted.file):
        raise BadUsage(f"--log {wanted.log}: that is what is replayed")
    variables = dict(read_variable(each, os.environ) for each in wanted.variables)
    name, data = read_input(wanted.file)
    return script_of(data, variables, name=name, sidecars=Sidecars(wanted.file))


def read_input(file: Path) -> tuple[str, bytes]:
    """What the file is called, and what it has; `-` is standard input. Raises BadUsage."""
    if str(file) == "-":
        return "standard input", sys.stdin.buffer.read()
    try:
        return str(file), file.read_bytes()
    except OSError as error:
        raise BadUsage(f"{file}: {error.strerror or error}") from None


def read_variable(given: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Its name and value. Raises BadUsage."""
    name, equals, value = given.partition("=")
    if not name:
        raise BadUsage(f"--var {given}: write NAME=VALUE, or NAME for a variable of the environment")
    if not equals and name not in environment:
        raise BadUsage(f"--var {name}: the environment has no such variable; write {name}=VALUE")
    return name, value if equals else environment[name]


def _list(script: Script) -> int:
    for number, call in enumerate(script.calls, 1):
        say(f"{number:>4}  line {call.line}: {script.brief(call)}")
    say(_count(len(script.calls)))
    return OK


async def _replay(wanted: Wanted, script: Script, ignored: Ignored) -> int:
    began = time.monotonic()
    made: list[Again] = []
    try:
        async with _connecting(wanted, script) as mcp:
            steps = again(mcp, script, verify=wanted.verify, ignored=ignored, timeout_ms=wanted.timeout_ms)
            async for each in steps:
                made.append(replace(each, value=None))  # Many large results would not fit into memory.
                _tell(len(made), each, script)
    except MCPError as error:
        return _refused(error)
    return _sum_up(made, wanted, time.monotonic() - began)


def _sum_up(made: Sequence[Again], wanted: Wanted, seconds: float) -> int:
    if made and made[-1].stops:
        say(f"Stopped at the first call that failed, after {_count(len(made) - 1)}.")
        return TOOL_FAILED
    differing = sum(bool(each.differences) for each in made)
    unknown = sum(each.call.outcome is None for each in made)
    told = ""
    if differing:
        told = f", {differing} of them not as logged"
    elif wanted.verify:
        told = f", as logged but for {unknown} whose end is not in the log" if unknown else ", all as logged"
    say(f"{_count(len(made))} in {seconds:.1f} s{told}.")
    return TOOL_FAILED if differing else OK


def _refused(error: MCPError) -> int:
    warn(error.message)
    if error.reason == "invalid":
        return BAD_USAGE
    return NO_SERVER if error.reason in UNREACHED else TOOL_FAILED


def _connecting(wanted: Wanted, script: Script) -> Connecting[DynamicHandle]:
    session = f"{SESSION}-{secrets.token_hex(4)}" if wanted.session is None else wanted.session
    return connect_dynamic(
        session,
        _adapter(wanted, script),
        server=transport_for(wanted.server, headers=read_headers(wanted.headers)),
        log=_log(wanted, script),
    )


def _adapter(wanted: Wanted, script: Script) -> AdapterChoice:
    name = wanted.adapter
    if name == "auto" and wanted.session is None and opens_sessions(script.calls):
        name = "none"

    def chosen(tools: Sequence[Tool]) -> Adapter:
        adapter = fitting_adapter(tools) if name == "auto" else ADAPTERS[name]
        # Nothing of an earlier replay may be in a session that nobody named, and nothing stays.
        return passing(adapter) if wanted.session is None else adapter

    return chosen


def _log(wanted: Wanted, script: Script) -> CallLog:
    # With names for the values: what it writes can be replayed with the same variables.
    redact = script.hidden.entry if script.hidden.variables else None
    return create_logger(console=False, file=wanted.log, redact=redact)


def _tell(number: int, made: Again, script: Script) -> None:
    outcome = "differs" if made.differences else "failed as logged" if made.error else "ok"
    outcome = "failed" if made.stops else outcome
    say(f"{number:>4}  {made.call.name}  {outcome}  {made.ms:.0f} ms")
    if made.stops:
        warn(str(made.error))
    if made.differences:
        for line in (f"line {made.call.line}: {script.brief(made.call)}", *shown(made.differences)):
            say(f"      {line}")


def _count(calls: int) -> str:
    return f"{calls} call{'s' * (calls != 1)}"
