"""Export a log as a pytest test, with its calls, results and failures. This module does no I/O."""

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
from footlight.client.server_address import without_secrets
from footlight.protocol.errors import MCPError

__all__ = ["export_test", "name_of_test"]

_MADE_UP = re.compile(r"(?=[\w-]*\d)[\w-]{8,}")
"""A text that looks like a generated id: one word with a digit, of at least 8 characters."""

_READ = re.compile(r'os\.environ\["(\w+)"\]')


def name_of_test(title: str) -> str:
    """Return the name of a test function for a title."""
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
    """Return the text of the test file. `test` is the name of the test function.

    Errors name the log as `name`. `server` is the address that a comment shows in the command for the test.
    Large results are asserted if the `sidecars` have them. Values of `variables` in the log are read from the
    environment by the test.

    Raises:
        MCPError: the calls belong to several sessions; there are no calls; or it is unknown which argument of
            a redacted line was redacted.
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
    """Return the server's address with environment variables in place of secrets, for a shell."""
    try:
        return without_secrets(server).address
    except ValueError:
        return server  # The command line is not valid, and will be refused later.


def _name_suffix(name: str) -> str:
    plain = re.sub(r"[^\w. /-]", "_", name, flags=re.ASCII).strip()
    return f" from {plain}" if plain else ""


def _find_server_ids(calls: Sequence[LoggedCall]) -> dict[str, ResultPlace]:
    """Return the ids that first appear in a result and that a later call has as an argument."""
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
