"""Kept sessions are open in one server at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from footlight.browser.sessions.tables.kept_sessions import KeptSessions
from footlight.caller import LOCAL
from footlight.config import SessionSettings, Settings
from footlight.errors import ResourceExhaustedError


def test_session_is_locked_until_it_is_released_or_could_not_be_opened(tmp_path: Path) -> None:
    settings = Settings(session=SessionSettings(persistentSessions=True, stateDirectory=tmp_path))
    kept = KeptSessions(settings, locked=True)

    for _ in range(2):
        with pytest.raises(LookupError), kept.hold("one", LOCAL):
            raise LookupError
    with kept.hold("one", LOCAL) as lock:
        lock.keep()

    refused = pytest.raises(ResourceExhaustedError, match='"one" is open in another server')
    with refused, kept.hold("one", LOCAL):
        pass
    lock.release()
    with kept.hold("one", LOCAL) as lock:
        assert lock.elsewhere is None
