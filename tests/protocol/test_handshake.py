"""The handshake: every answer that a server may give, and the revision that results."""

from __future__ import annotations

from typing import Any

import pytest

from footlight.protocol import handshake
from footlight.protocol.connection import Connection
from footlight.protocol.errors import (
    MCPConnectionError,
    MCPError,
    MCPTimeoutError,
    ServerNotAvailableError,
)
from footlight.protocol.handshake import ClientIdentity, RequestedVersion, ServerIntroduction, negotiate
from footlight.protocol.versions import HANDSHAKE_VERSIONS
from tests.client.channels import (
    SERVER_INFO,
    Place,
    Refusal,
    Script,
    Wire,
    make_discover_result,
    make_initialize_result,
)

pytestmark = pytest.mark.anyio

IDENTITY = ClientIdentity({"name": "me", "version": "1.0.0"}, {"roots": {}})
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "me", "version": "1.0.0"},
    "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
}
STATELESS = ServerIntroduction(MODERN, SERVER_INFO, {"tools": {}})
NO_MODERN_WORD = Refusal(-32601, "Method not found")


async def begin(
    script: Script, version: RequestedVersion = None, timeout_ms: float = 20_000
) -> tuple[ServerIntroduction | MCPError, Wire, Connection]:
    """Return the result of the handshake: an introduction, or an error."""
    place, connection = Place(script=script), Connection()
    channel = await connection.open(place)
    try:
        outcome: ServerIntroduction | MCPError = await negotiate(
            connection, channel, requested_version=version, identity=IDENTITY, timeout_ms=timeout_ms
        )
    except MCPError as error:
        outcome = error
    await connection.close()
    return outcome, place.wire, connection


async def begin_refused(
    script: Script, version: RequestedVersion = None, timeout_ms: float = 20_000
) -> MCPError:
    outcome, _, _ = await begin(script, version, timeout_ms)
    assert isinstance(outcome, MCPError)
    return outcome


# By handshake


async def test_handshake_messages_match_the_specification() -> None:
    outcome, wire, connection = await begin(
        {"initialize": make_initialize_result(instructions="Be kind.")}, timeout_ms=20_000
    )

    assert outcome == ServerIntroduction("2025-06-18", SERVER_INFO, {"tools": {}}, "Be kind.")
    assert wire.sent == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"roots": {}},
                "clientInfo": {"name": "me", "version": "1.0.0"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}},
    ]
    assert wire.versions[-1] == "2025-06-18"
    assert connection.meta == {}


@pytest.mark.parametrize("answered", HANDSHAKE_VERSIONS)
@pytest.mark.parametrize("version", [None, "2024-11-05", "2025-11-25"])
async def test_version_chosen_by_the_server_is_used(answered: str, version: str | None) -> None:
    """Lessons 2.1: sent 2025-06-18 even where another version was negotiated."""
    outcome, wire, _ = await begin({"initialize": make_initialize_result(answered)}, version)

    assert isinstance(outcome, ServerIntroduction)
    assert outcome.version == wire.versions[-1] == answered
    assert wire.sent[0]["params"]["protocolVersion"] == (version or "2025-06-18")


@pytest.mark.parametrize("answered", ["2023-01-01", "2026-07-28", "", None, 5, ["2025-06-18"], {}])
async def test_unsupported_server_version_fails_the_handshake(answered: Any) -> None:
    error = await begin_refused({"initialize": make_initialize_result(answered)})

    assert isinstance(error, MCPConnectionError)
    assert error.reason == "handshake"
    assert "the server speaks the protocol's revision" in error.message


async def test_missing_server_info_is_accepted() -> None:
    outcome, _, _ = await begin(
        {"initialize": {"protocolVersion": "2025-06-18", "serverInfo": 5, "instructions": []}}
    )

    assert outcome == ServerIntroduction("2025-06-18", {}, {})


async def test_refused_initialize_fails_the_handshake() -> None:
    error = await begin_refused({"initialize": Refusal(-32603, "Not today", {"why": "rain"})})

    assert error.to_dict() == {
        "name": "ConnectionError",
        "code": "CONNECTION_ERROR",
        "message": "The handshake failed: Not today",
        "reason": "handshake",
        "rpcCode": -32603,
        "data": {"why": "rain"},
    }


async def test_invalid_initialize_response_fails_the_handshake() -> None:
    error = await begin_refused(
        {"initialize": lambda _: MCPError("No JSON", reason="protocol", rpc_code=-32700)}
    )

    assert (type(error), error.reason, error.rpc_code) == (MCPConnectionError, "handshake", -32700)


@pytest.mark.parametrize(
    "error",
    [
        MCPConnectionError("It ended"),
        ServerNotAvailableError("Nobody there"),
        MCPError("A 500", reason="http", status=500),
        MCPError("A 401", reason="http", status=401),
    ],
)
async def test_transport_error_during_the_handshake_is_raised_unchanged(error: MCPError) -> None:
    assert (await begin_refused({"initialize": error})).to_dict() == error.to_dict()


async def test_silent_server_times_out() -> None:
    outcome, wire, _ = await begin({}, timeout_ms=5)

    assert isinstance(outcome, MCPTimeoutError)
    assert wire.methods == ["initialize"], "it is never cancelled"


async def test_unsent_initialized_notification_fails_the_handshake() -> None:
    error = await begin_refused(
        {"initialize": make_initialize_result(), "notifications/initialized": MCPConnectionError("Reset")}
    )

    assert error.message == "Reset"


# A server without a handshake


@pytest.mark.parametrize("code", [-32600, -32601, -32602, -32020, -32021, -32022])
async def test_refused_initialize_falls_back_to_the_stateless_protocol(code: int) -> None:
    outcome, wire, connection = await begin(
        {"initialize": Refusal(code, data={"supported": [MODERN]}), "server/discover": make_discover_result()}
    )

    assert outcome == STATELESS
    assert wire.methods == ["initialize", "server/discover"]
    assert wire.sent[1]["params"] == {"_meta": META}
    assert wire.versions[-1] == MODERN
    assert connection.meta == META


@pytest.mark.parametrize("status", [400, 404, 405])
async def test_http_status_refusal_falls_back_to_the_stateless_protocol(status: int) -> None:
    outcome, _, _ = await begin(
        {
            "initialize": MCPError("No", reason="http", rpc_code=status, status=status),
            "server/discover": make_discover_result(),
        }
    )

    assert outcome == STATELESS


async def test_refusal_is_reported_when_the_stateless_protocol_is_unavailable() -> None:
    outcome, wire, _ = await begin(
        {"initialize": Refusal(-32602, "Bad name"), "server/discover": NO_MODERN_WORD}
    )

    assert isinstance(outcome, MCPConnectionError)
    assert (outcome.message, outcome.rpc_code) == ("The handshake failed: Bad name", -32602)
    assert wire.methods == ["initialize", "server/discover"]


async def test_unanswered_discovery_does_not_use_up_the_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handshake, "PROBE_MS", 5.0)

    error = await begin_refused({"initialize": Refusal(-32601, "No such method")}, timeout_ms=600_000)

    assert error.message == "The handshake failed: No such method"


async def test_explicit_handshake_version_does_not_fall_back() -> None:
    outcome, wire, _ = await begin(
        {"initialize": NO_MODERN_WORD, "server/discover": make_discover_result()}, version="2025-06-18"
    )

    assert isinstance(outcome, MCPConnectionError)
    assert wire.methods == ["initialize"]


async def test_next_handshake_starts_normally_after_a_failed_discovery() -> None:
    """An HTTP session that expired begins anew on the same connection."""
    place, connection = Place(script={"initialize": Refusal(-32602)}), Connection()
    channel = await connection.open(place)
    place.wire.script["server/discover"] = NO_MODERN_WORD
    with pytest.raises(MCPConnectionError):
        await negotiate(connection, channel, requested_version=None, identity=IDENTITY, timeout_ms=20_000)
    place.wire.script["initialize"] = make_initialize_result()

    outcome = await negotiate(
        connection, channel, requested_version=None, identity=IDENTITY, timeout_ms=20_000
    )

    assert outcome.version == "2025-06-18"
    assert connection.meta == {}
    assert "_meta" not in place.wire.of("initialize")[1]["params"]
    assert place.wire.versions == ["2025-06-18", MODERN, "2025-06-18", "2025-06-18"]
    await connection.close()


# Stateless


async def test_explicit_stateless_version_uses_discovery_only() -> None:
    outcome, wire, _ = await begin({"server/discover": make_discover_result()}, version=MODERN)

    assert outcome == STATELESS
    assert wire.sent == [{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}]


async def test_unsupported_version_is_retried_with_an_offered_one() -> None:
    answers: list[Any] = [Refusal(-32022, data={"supported": ["2099-01-01", MODERN]}), make_discover_result()]
    outcome, wire, _ = await begin({"server/discover": lambda _: answers.pop(0)}, version=MODERN)

    assert outcome == STATELESS
    assert wire.methods == ["server/discover"] * 2


@pytest.mark.parametrize("data", [None, {}, {"supported": ["2099-01-01"]}, {"supported": MODERN}, [MODERN]])
async def test_server_without_a_common_version_is_asked_once(data: object) -> None:
    outcome, wire, _ = await begin({"server/discover": Refusal(-32022, "Unsupported", data)}, version=MODERN)

    assert isinstance(outcome, MCPConnectionError)
    assert (outcome.reason, outcome.rpc_code) == ("handshake", -32022)
    assert wire.methods == ["server/discover"]


async def test_repeated_version_refusal_is_asked_twice_at_most() -> None:
    outcome, wire, _ = await begin(
        {"server/discover": Refusal(-32022, data={"supported": [MODERN]})}, version=MODERN
    )

    assert isinstance(outcome, MCPConnectionError)
    assert wire.methods == ["server/discover"] * 2


@pytest.mark.parametrize("offered", [["2025-11-25"], [], None, MODERN, [5, None]])
async def test_discovery_without_a_common_version_fails(offered: object) -> None:
    error = await begin_refused({"server/discover": {"supportedVersions": offered}}, version=MODERN)

    assert (type(error), error.reason) == (MCPConnectionError, "handshake")


# The newest that both have


async def test_auto_uses_the_newest_protocol() -> None:
    outcome, wire, _ = await begin(
        {"server/discover": make_discover_result("2025-11-25", MODERN)}, version="auto"
    )

    assert outcome == STATELESS
    assert wire.methods == ["server/discover"]


@pytest.mark.parametrize(
    "reply",
    [
        NO_MODERN_WORD,
        Refusal(-32600, "Server not initialized"),
        Refusal(-32000, "Bad Request"),
        Refusal(0, ""),
        MCPError("A 400", reason="http", rpc_code=400, status=400),
        MCPError("A 404", reason="http", rpc_code=404, status=404),
        MCPError("No JSON", reason="protocol"),
        {},
        make_discover_result("2099-01-01"),
    ],
)
async def test_auto_falls_back_to_the_handshake(reply: Any) -> None:
    outcome, wire, connection = await begin(
        {"server/discover": reply, "initialize": make_initialize_result("2025-11-25")}, version="auto"
    )

    assert outcome == ServerIntroduction("2025-11-25", SERVER_INFO, {"tools": {}})
    assert wire.methods == ["server/discover", "initialize", "notifications/initialized"]
    assert wire.sent[1]["params"]["protocolVersion"] == "2025-11-25"
    assert "_meta" not in wire.sent[1]["params"]
    assert wire.versions == [MODERN, "2025-06-18", "2025-11-25"]
    assert connection.meta == {}


async def test_auto_falls_back_when_discovery_is_not_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handshake, "PROBE_MS", 5.0)
    outcome, wire, _ = await begin({"initialize": make_initialize_result()}, version="auto")

    assert isinstance(outcome, ServerIntroduction)
    assert outcome.version == "2025-06-18"
    assert "initialize" in wire.methods


async def test_auto_repeats_discovery_when_a_slow_server_refuses_the_handshake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The SDK's server: whoever asked in the stateless protocol may not begin by handshake."""
    monkeypatch.setattr(handshake, "PROBE_MS", 5.0)
    answers = iter([None, make_discover_result()])
    outcome, wire, _ = await begin(
        {"server/discover": lambda _: next(answers), "initialize": Refusal(-32022, "It is stateless")},
        version="auto",
    )

    assert outcome == STATELESS
    assert [method for method in wire.methods if not method.startswith("notifications/")] == [
        *("server/discover", "initialize", "server/discover")
    ]


@pytest.mark.parametrize("code", [-32020, -32021, -32022])
async def test_auto_does_not_fall_back_from_a_stateless_server(code: int) -> None:
    outcome, wire, _ = await begin(
        {"server/discover": Refusal(code, "No"), "initialize": make_initialize_result()}, version="auto"
    )

    assert isinstance(outcome, MCPConnectionError)
    assert (outcome.reason, outcome.rpc_code) == ("handshake", code)
    assert wire.methods == ["server/discover"]


async def test_auto_does_not_fall_back_from_a_lost_server() -> None:
    outcome, wire, _ = await begin(
        {"server/discover": MCPConnectionError("It ended"), "initialize": make_initialize_result()},
        version="auto",
    )

    assert isinstance(outcome, MCPConnectionError)
    assert outcome.message == "It ended"
    assert wire.methods == ["server/discover"]
