"""Find the sessions in which the calls of a file were made, and remove the session from calls."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from footlight.client.handles.adapters import ADAPTERS, Adapter, is_lifecycle, list_injected_keys
from footlight.client.replay.calls import LoggedCall
from footlight.protocol.errors import MCPError

__all__ = ["opens_sessions", "remove_session", "session_names"]


def opens_sessions(calls: Iterable[LoggedCall]) -> bool:
    """Return whether the calls open sessions themselves, as in a complete log."""
    openers = {adapter.opens for adapter in ADAPTERS.values()}
    return any(call.name in openers for call in calls)


def remove_session(
    calls: Sequence[LoggedCall], adapter: Adapter, taking: Container[str], *, name: str
) -> tuple[LoggedCall, ...]:
    """Return the calls for a handle, which opens the session and adds its key to the arguments.

    Calls that open or close sessions are removed, and so is the session's key in the arguments. `taking` has
    the names of the tools that take the key. The error names the file as `name`.

    Raises:
        MCPError: the calls belong to several sessions, but a handle has only one.
    """
    ours = [call for call in calls if not is_lifecycle(adapter, call.name)]
    named = session_names([call for call in ours if call.name in taking], adapter)
    if len(named) > 1:
        raise MCPError(
            f"{name}: its calls belong to {len(named)} sessions ({', '.join(named)}), but a handle has one; "
            "replay each session separately, or replay the file unchanged with the adapter none",
            reason="invalid",
        )
    keys = list_injected_keys(adapter)
    return tuple(
        replace(call, arguments={key: value for key, value in call.arguments.items() if key not in keys})
        if call.name in taking
        else call
        for call in ours
    )


def session_names(calls: Iterable[LoggedCall], adapter: Adapter) -> list[str]:
    """Return the session names in the arguments, in order of appearance."""
    found = (call.arguments.get(key) for call in calls for key in list_injected_keys(adapter))
    return list(dict.fromkeys(each for each in found if isinstance(each, str)))
