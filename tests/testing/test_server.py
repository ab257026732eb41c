"""The server and the arguments that the options of a test run select."""

from __future__ import annotations

from pathlib import Path

import pytest

from footlight.client.transports.stdio import Stdio
from footlight.testing.connections import is_shareable
from footlight.testing.options import Options
from footlight.testing.server import choose_server


def choose(command: str, folder: Path) -> Stdio:
    server = choose_server(Options(server=command, folder=folder), profiles=folder / "profiles")
    assert isinstance(server, Stdio)
    return server


@pytest.mark.parametrize(
    ("options", "has_own_profiles"),
    [
        ("--toolset szkrabok", True),
        ("--toolset=szkrabok", True),
        ("--toolset browser --toolset szkrabok", True),
        ("--toolset szkrabok --sessions-dir=elsewhere", False),
        ("--toolset browser", False),
        ("--toolset no-such-set", False),
        ("--output-path szkrabok", False),
        ("", False),
    ],
)
def test_unnamed_profile_sessions_get_their_own_folder(
    options: str, has_own_profiles: bool, tmp_path: Path
) -> None:
    server = choose(f"footlight serve {options}", tmp_path)

    assert (server.args[-2:] == ("--sessions-dir", str(tmp_path / "profiles"))) is has_own_profiles


@pytest.mark.parametrize(
    ("options", "shareable"),
    [
        ("", True),
        ("--toolset szkrabok", True),
        ("--output-path metamask", True),
        ("--toolset metamask", False),
        ("--toolset=metamask", False),
        ("--app mine:APP", False),
        ("--shared", False),
    ],
)
def test_only_servers_that_keep_state_in_sessions_are_shared(
    options: str, shareable: bool, tmp_path: Path
) -> None:
    assert is_shareable(choose(f"footlight serve {options}", tmp_path)) is shareable
