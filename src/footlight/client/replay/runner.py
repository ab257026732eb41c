"""Repeat the calls of a file on a handle, and compare the results with those in the file."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from footlight.client.handles.call_log import error_text
from footlight.client.handles.handle import Handle
from footlight.client.replay.calls import LoggedCall, brief, read_calls
from footlight.client.replay.comparison import (
    MISSING,
    Identifiers,
    ReplayDifference,
    compare_results,
    format_differences,
    is_same_text,
)
from footlight.client.replay.logged_results import Sidecars, read_answer, read_logged
from footlight.client.replay.sessions import remove_session, session_names
from footlight.client.replay.variables import VariableMask, fill_calls, fill_text, map_strings
from footlight.client.replay.volatile import IgnoredValues
from footlight.protocol.errors import MCPError
from footlight.protocol.results import ToolResult, value_of

__all__ = [
    "RepeatedCall",
    "ReplayMismatchError",
    "Script",
    "read_script",
    "repeat_calls",
    "run_sequence",
    "script_of",
]


class ReplayMismatchError(AssertionError):
    """The calls succeeded, but their results differ from those in the file. The message lists differences."""


@dataclass(frozen=True, slots=True)
class Script:
    """The calls of a file, with their variables filled in. Errors name the file as `name`.

    `hidden` removes the values of variables from messages about the script.
    """

    name: str
    calls: Sequence[LoggedCall]
    hidden: VariableMask = field(default_factory=VariableMask)
    sidecars: Sidecars = field(default_factory=Sidecars)

    def place(self, call: LoggedCall) -> str:
        """Return the line of the call and a short form of the call, for a message."""
        return f"{self.name}, line {call.line}: {self.brief(call)}"

    def brief(self, call: LoggedCall) -> str:
        """Return a short form of the call.

        Values of variables are hidden before the text is cut and escaped, so that no part of one is shown.
        """
        return brief(replace(call, arguments=map_strings(call.arguments, self.hidden)))


@dataclass(frozen=True, slots=True)
class RepeatedCall:
    """A repeated call: its result or its error, and the differences from the log."""

    call: LoggedCall
    ms: float
    """The duration of the call."""
    value: Any = None
    error: MCPError | None = None
    differences: Sequence[ReplayDifference] = ()
    stops: bool = False
    """Whether this is the last call, because it failed although it was logged as successful."""
    only_kind: bool = False
    """Whether the log has only the kind of the result, so that the content was not compared."""

    def describe(self, script: Script) -> str:
        """Return the line and the call, followed by the differences."""
        return "\n".join([script.place(self.call), *format_differences(self.differences)])


def read_script(path: Path, variables: Mapping[str, str] | None = None) -> Script:
    """Read a script from a file.

    Raises:
        MCPError: the file cannot be read, a line is not valid, or a variable has no value.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MCPError(f"{path}: {error.strerror}", reason="invalid") from None
    return script_of(data, variables or {}, name=str(path), sidecars=Sidecars(path))


def script_of(
    data: bytes, variables: Mapping[str, str], *, name: str, sidecars: Sidecars | None = None
) -> Script:
    """Parse the content of a file. Raises what `read_script` raises."""
    calls = fill_calls(read_calls(data, name=name), variables, name=name)
    return Script(name, calls, VariableMask(variables), sidecars or Sidecars())


async def repeat_calls(
    mcp: Handle,
    script: Script,
    *,
    verify: bool = False,
    ignored: IgnoredValues | None = None,
    timeout_ms: float | None = None,
) -> AsyncGenerator[RepeatedCall]:
    """Make the calls on the handle in order, and yield each one when it has finished.

    The first call that fails is the last one. With `verify`, calls that were logged as failed are expected to
    fail, and each yielded call has its differences from the log. The message of an error begins with the line
    and the call.

    Raises:
        MCPError: the calls belong to several sessions, or the server is gone. No call was made.
    """
    adapter = mcp.bound.adapter
    tools = await mcp.bound.client.list_tools()
    taking = {tool.name for tool in tools if adapter.has_session(tool)}
    calls = remove_session(script.calls, adapter, taking, name=script.name)
    ids = Identifiers(calls)
    for name in session_names([call for call in script.calls if call.name in taking], adapter):
        ids.note(name, mcp.bound.session_name)
    checking = _ResultChecker(ids, script, ignored or IgnoredValues())
    for call in calls:
        arguments = ids.translate_arguments(call.arguments)
        began = time.monotonic()
        try:
            result = await mcp.call(call.name, arguments, timeout_ms=timeout_ms)
        except MCPError as error:
            ms = (time.monotonic() - began) * 1000
            located = _add_location(error, script, call)
            if not (verify and call.outcome and not call.outcome.ok):
                yield RepeatedCall(call, ms, error=located, stops=True)
                return
            yield RepeatedCall(
                call, ms, error=located, differences=checking.compare_failure(call.outcome.error, error)
            )
            continue
        ms = (time.monotonic() - began) * 1000
        differences, only_kind = checking.compare_result(call, result, verify=verify)
        yield RepeatedCall(call, ms, value_of(result), differences=differences, only_kind=only_kind)


def _add_location(error: MCPError, script: Script, call: LoggedCall) -> MCPError:
    """Return a copy of the error whose message begins with the line and the call."""
    located = copy.copy(error)
    located.message = f"{script.place(call)}: {script.hidden(error.message)}"
    located.args = (located.message,)
    located.__cause__ = error
    return located


class _ResultChecker(NamedTuple):
    ids: Identifiers
    script: Script
    ignored: IgnoredValues

    def compare_failure(self, was: str, error: MCPError) -> list[ReplayDifference]:
        now = error_text(error)
        return (
            []
            if is_same_text(self._fill_variables(was), now, self.ids)
            else [self._hide_values(ReplayDifference(("_error",), was, now))]
        )

    def compare_result(
        self, call: LoggedCall, result: ToolResult, *, verify: bool
    ) -> tuple[list[ReplayDifference], bool]:
        """Return the differences of a result, and whether the log has only its kind.

        Ids for later calls are learned from the result, even without `verify`.
        """
        outcome = call.outcome
        if outcome is None:
            return [], False
        if not outcome.ok:
            return [ReplayDifference(("_ok",), False, True)] if verify else [], False
        if outcome.result is None:
            return [], False
        was = read_logged(outcome.result, self.script.sidecars)
        now = read_answer(result, lines=was.lines)
        if was.known and now.known:
            self.ids.learn(call, was.value, now.value)
        if not verify:
            return [], False
        if was.kind != now.kind:
            return [ReplayDifference((), f"[{was.kind}]", f"[{now.kind}]" if now.kind else MISSING)], False
        return self._compare(was.value, now.value) if was.known else [], not was.known

    def _compare(self, was: Any, now: Any) -> list[ReplayDifference]:
        found = compare_results(
            map_strings(was, self._fill_variables), now, ids=self.ids, ignored=self.ignored
        )
        return [self._hide_values(each) for each in found]

    def _fill_variables(self, text: str) -> str:
        return fill_text(text, self.script.hidden.variables)

    def _hide_values(self, difference: ReplayDifference) -> ReplayDifference:
        hide = self.script.hidden
        was, now = map_strings(difference.logged, hide), map_strings(difference.live, hide)
        return replace(difference, logged=was, live=now)


async def run_sequence(
    mcp: Handle,
    path: str | os.PathLike[str],
    *,
    variables: Mapping[str, str] | None = None,
    verify: bool = False,
    ignore: Iterable[str] = (),
) -> list[Any]:
    """Make the calls of a sequence or of a call log, one after another, and return their results.

    A sequence has `{"name", "arguments"}` on each line, and no session. In a log, the calls that opened and
    closed its session are left out, and the handle's session replaces the logged one. `${name}` in a string
    is replaced by the value in `variables`. Ids that the server generated are replaced by those of this run;
    see `replay.comparison`.

    With `verify`, each result is compared with the logged one, if the log has it. A call that was logged as
    failed must fail with the same message, and its result is None. `ignore` lists values that are not
    compared: paths such as `$.data.timing`, or names of fields, which are ignored everywhere.

    Raises:
        MCPError: the file cannot be read, a line is not valid, or a variable has no value; no call was made.
            Or a call failed: the message begins with the line and the call, and later calls were not made.
        ReplayMismatchError: with `verify`, some results differ. All calls were made. The message lists the
            differences.
    """
    ignored = IgnoredValues.of(ignore)
    script = read_script(Path(path), variables)
    made = [each async for each in repeat_calls(mcp, script, verify=verify, ignored=ignored)]
    differing = [each.describe(script) for each in made if each.differences]
    if made and made[-1].stops and (error := made[-1].error):
        for each in differing:
            error.add_note(each)
        raise error
    if differing:
        raise ReplayMismatchError("\n".join(differing))
    return [each.value for each in made]
