"""Write a log as a pytest test: its calls in order, their results and failures. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from footlight.client.codegen.python_text import string
from footlight.client.export.body import Body, ResultPlace
from footlight.client.export.python_source import INDENT
from footlight.client.handles.adapters import ADAPTERS
from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.json_paths import leaves
from footlight.client.replay.logged_results import Sidecars, is_summary
from footlight.client.replay.sessions import remove_session
from footlight.client.replay.variables import strings_of
from footlight.client.server_secrets import without_secrets
from footlight.protocol.errors import MCPError

__all__ = ["export_test", "name_of_test"]

_MADE_UP = re.compile(r"(?=[\w-]*\d)[\w-]{8,}")
"""An id that the server made: it is neither an address nor words."""

_READ = re.compile(r'os\.environ\["(\w+)"\]')


def name_of_test(title: str) -> str:
    """Return a name for a test function, made from any text."""
    words = re.sub(r"\W+", "_", title, flags=re.ASCII).strip("_").lower()
    return words if words.startswith("test_") else f"test_{words or 'calls'}"


def export_test(
    calls: Sequence[LoggedCall],
    *,
    name: str,
    test: str,
    server: str | None = None,
    variables: Mapping[str, str] | None = None,
    sidecars: Sidecars | None = None,
) -> str:
    """Return the text of the test file. `name` names the log, and `server` is the server that the test
    starts.

    A large result is asserted where the `sidecars` have it. Where the log has the value of one of the
    `variables`, the test reads that of the environment.

    Raises:
        MCPError: the calls are of several sessions; or a line was redacted, and it cannot be seen where.
    """
    test_calls = _remove_session(calls, name)
    body = Body(_find_server_ids(test_calls), variables or {}, sidecars or Sidecars())
    for each in test_calls:
        body.add(each, name)
    if not test_calls:
        raise MCPError(f"{name}: it has no calls that a test could make", reason="invalid")
    return "\n".join(
        [*_head(name, server, body), f"async def {test}(mcp: DynamicHandle) -> None:", *body.lines, ""]
    )


def _remove_session(calls: Sequence[LoggedCall], name: str) -> Sequence[LoggedCall]:
    opened = {call.name for call in calls}
    adapter = next((each for each in ADAPTERS.values() if each.opens in opened), ADAPTERS["none"])
    keys = adapter.injected_keys
    taking = {call.name for call in calls if any(key in call.arguments for key in keys)}
    return remove_session(calls, adapter, taking, name=name)


def _head(name: str, server: str | None, body: Body) -> list[str]:
    imports = [f"import {module}" for module in ("json", "os", "re") if f"{module}." in body.needs]
    ours = ["from footlight import MCPError"] * ("MCPError" in body.needs)
    ours += ["from footlight.client.handles.dynamic import DynamicHandle"]
    ours += ["from footlight.client.handles import value_of"] * ("value_of" in body.needs)
    read = dict.fromkeys(_READ.findall("\n".join(body.lines)))
    notes = [f"# Run it with pytest --mcp-server {string(_without_secrets(server))}"] if server else []
    notes += [f"# It reads {', '.join(read)} from the environment."] if read else []
    return [
        f'"""Exported by `footlight export`{_name_suffix(name)}."""',
        "",
        *(notes and [*notes, ""]),
        *(imports and [*imports, ""]),
        "import pytest",
        "",
        *ours,
        "",
        "pytestmark = pytest.mark.anyio",
        "",
        "",
        "@pytest.fixture",
        "def anyio_backend() -> str:",
        f'{INDENT}return "asyncio"',
        "",
        "",
    ]


def _without_secrets(server: str) -> str:
    """Return the command with variables that the shell fills in from the environment where the test runs."""
    try:
        return without_secrets(server).address
    except ValueError:
        return server  # It is not a valid command line, and will be refused later.


def _name_suffix(name: str) -> str:
    plain = re.sub(r"[^\w. /-]", "_", name, flags=re.ASCII).strip()
    return f" from {plain}" if plain else ""


def _find_server_ids(calls: Sequence[LoggedCall]) -> dict[str, ResultPlace]:
    """Return texts that first appear in a result, and that a later call has as an argument."""
    found: dict[str, ResultPlace] = {}
    last = {text: call.line for call in calls for text in strings_of(call.arguments)}
    sent: set[str] = set()
    for each in calls:
        sent.update(strings_of(each.arguments))
        result = each.outcome.result if each.outcome and each.outcome.ok else None
        if result is None or is_summary(result):
            continue
        for path, text in leaves(result):
            if not isinstance(text, str) or text in sent or text in found or not _MADE_UP.fullmatch(text):
                continue
            if last.get(text, 0) > each.line:
                found[text] = ResultPlace(each.line, path)
    return found
