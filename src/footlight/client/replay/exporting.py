"""A log becomes a test for pytest: its calls in order, what they gave, and how they failed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from footlight.client.adapters import ADAPTERS
from footlight.client.errors import MCPError
from footlight.client.python_text import string
from footlight.client.replay.body import Body, Place
from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.leaves import leaves
from footlight.client.replay.sessions import without_session
from footlight.client.replay.source import INDENT
from footlight.client.replay.variables import strings_of
from footlight.client.replay.written import is_summary

__all__ = ["exported", "name_of_test"]

_MADE_UP = re.compile(r"(?=[\w-]*\d)[\w-]{8,}")
"""An id of the server's: no address, no words."""

_READ = re.compile(r'os\.environ\["(\w+)"\]')


def name_of_test(given: str) -> str:
    """A name for a test function, made of any text."""
    words = re.sub(r"\W+", "_", given, flags=re.ASCII).strip("_").lower()
    return words if words.startswith("test_") else f"test_{words or 'calls'}"


def exported(
    calls: Sequence[LoggedCall],
    *,
    name: str,
    test: str,
    server: str | None = None,
    variables: Mapping[str, str] | None = None,
) -> str:
    """The file's text. `name` is what the log is called, `server` what the test is to be run with.

    Where the log has the value of one of the `variables`, the test reads that of the environment.

    Raises:
        MCPError: the calls are of several sessions; or a line was redacted, and it cannot be seen where.
    """
    test_calls = _without_session(calls, name)
    body = Body(_made_up_ids(test_calls), variables or {})
    for each in test_calls:
        body.add(each, name)
    if not test_calls:
        raise MCPError(f"{name}: it has no calls that a test could make", reason="invalid")
    return "\n".join([*_head(name, server, body), f"async def {test}(mcp):", *body.lines, ""])


def _without_session(calls: Sequence[LoggedCall], name: str) -> Sequence[LoggedCall]:
    opened = {call.name for call in calls}
    adapter = next((each for each in ADAPTERS.values() if each.opens in opened), ADAPTERS["none"])
    keys = adapter.injected_keys
    taking = {call.name for call in calls if any(key in call.arguments for key in keys)}
    return without_session(calls, adapter, taking, name=name)


def _head(name: str, server: str | None, body: Body) -> list[str]:
    imports = [f"import {module}" for module in ("os", "re") if f"{module}." in body.needs]
    ours = ["from footlight import MCPError"] * ("MCPError" in body.needs)
    ours += ["from footlight.client.value import value_of"] * ("value_of" in body.needs)
    read = dict.fromkeys(_READ.findall("\n".join(body.lines)))
    notes = [f"# Run it with pytest --mcp-server {string(server)}"] if server else []
    notes += [f"# It reads {', '.join(read)} from the environment."] if read else []
    return [
        f'"""Exported by `footlight export`{_told(name)}."""',
        "",
        *(notes and [*notes, ""]),
        *(imports and [*imports, ""]),
        "import pytest",
        "",
        *(ours and [*ours, ""]),
        "pytestmark = pytest.mark.anyio",
        "",
        "",
        "@pytest.fixture",
        "def anyio_backend():",
        f'{INDENT}return "asyncio"',
        "",
        "",
    ]


def _told(name: str) -> str:
    plain = re.sub(r"[^\w. /-]", "_", name, flags=re.ASCII).strip()
    return f" from {plain}" if plain else ""


def _made_up_ids(calls: Sequence[LoggedCall]) -> dict[str, Place]:
    """Texts that a result brought up, and that a later call has as an argument."""
    found: dict[str, Place] = {}
    last = {text: call.line for call in calls for text in strings_of(call.arguments)}
    given: set[str] = set()
    for each in calls:
        given.update(strings_of(each.arguments))
        result = each.outcome.result if each.outcome and each.outcome.ok else None
        if result is None or is_summary(result):
            continue
        for path, text in leaves(result):
            if not isinstance(text, str) or text in given or text in found or not _MADE_UP.fullmatch(text):
                continue
            if last.get(text, 0) > each.line:
                found[text] = Place(each.line, path)
    return found
