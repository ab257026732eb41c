"""Limits of what the watch page keeps for its visitors."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from footlight.server.help import Ticket
from footlight.transports.network.access import AccessControl, SharedToken
from footlight.watch import site
from footlight.watch.redaction import Redactor
from footlight.watch.tickets import Tickets
from footlight.watch.trace_viewer import TraceViewer


def test_caller_with_many_tickets_does_not_close_those_of_others() -> None:
    tickets = Tickets()
    tickets.url = "http://localhost:1/watch"

    def open_ticket(session: str, owner: str) -> Ticket:
        ticket = tickets.open(session, owner=owner, hand_backs=0, expires=float("inf"))
        assert ticket is not None
        return ticket

    own = open_ticket("own", "ann")
    first, *_, last = [open_ticket(f"session-{at}", "bob") for at in range(300)]
    again = open_ticket(last.session_id, "bob")

    assert tickets.find(own.token) is own
    assert tickets.find(first.token) is None
    assert tickets.is_closed(last.token)
    assert tickets.find(again.token) is again


def test_visitor_with_many_traces_does_not_close_those_of_others(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("0.trace", "")
    viewer = TraceViewer()

    own = viewer.open(tmp_path / "a.zip", owner="ann").partition("?")[0]
    first, *_, last = [viewer.open(tmp_path / "a.zip", owner="bob").partition("?")[0] for _ in range(60)]

    assert viewer.find(own) is not None
    assert viewer.find(first) is None
    assert viewer.find(last) is not None


@pytest.mark.anyio
async def test_body_that_arrives_slowly_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece comes in time, but the whole body does not."""
    monkeypatch.setattr(site, "SEND_SECONDS", 0.2)
    sites = site.WatchSites(cast("Any", None))
    app = sites.make_site(AccessControl(bound="127.0.0.1", verifier=SharedToken("token")))
    headers = [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer token")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/watch/api/act",
        "query_string": b"",
        "headers": headers,
    }
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    async with asyncio.timeout(30):
        await app(scope, receive, send)

    assert sent[0]["status"] == 408


@pytest.mark.parametrize(
    "level", [lambda inner: [inner], lambda inner: {"a": inner}], ids=["lists", "objects"]
)
def test_deeply_nested_values_are_cut(level: Callable[[Any], Any]) -> None:
    value: Any = "x"
    for _ in range(5_000):
        value = level(value)

    assert len(json.dumps(Redactor().data(value), ensure_ascii=False)) < 100
