"""The adapter for servers without sessions."""

from __future__ import annotations

import pytest

from footlight.client.handles.adapters import no_session
from footlight.protocol.tools import Tool
from tests.client.scripted_server import serve_script

pytestmark = pytest.mark.anyio


async def test_adapter_for_no_session_makes_no_session_calls() -> None:
    async with serve_script(()) as (client, script):
        assert await no_session.open(client, "a name") == "a name"
        await no_session.close(client, "a name")

    given = {"sessionName": "mine", "sessionId": "mine"}
    filled = no_session.inject_session(given, "a name")
    assert (filled, filled is given) == (given, False)
    assert not no_session.has_session(Tool("any", input_schema={"properties": {"sessionName": {}}}))
    assert not no_session.is_lifecycle("session.open")
    assert (script.calls, no_session.opens, tuple(no_session.injected_keys)) == ([], None, ())
