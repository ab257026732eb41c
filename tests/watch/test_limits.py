"""Limits of what the watch page keeps for its visitors."""

from __future__ import annotations

import zipfile
from pathlib import Path

from footlight.server.help import Ticket
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
