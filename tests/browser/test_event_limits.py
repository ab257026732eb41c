"""The limits on the events about a page's console, WebSockets and requests that reach the driver."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

import footlight.browser.driver
from tests.tiers import sample_parameters

LIMITS = Path(footlight.browser.driver.__file__).with_name("event_limits.js")
PROGRAM = Path(__file__).with_name("event_pipe.js")


def message(text: str, type: str = "log", session: str = "S1") -> str:
    return event("Runtime.consoleAPICalled", session, type=type, args=[{"value": text}])


def event(method: str, session: str = "S1", **params: Any) -> str:
    return line(method=method, params=params, sessionId=session)


def line(**of: Any) -> str:
    return json.dumps(of, separators=(",", ":"))


def filter_messages(
    *turns: tuple[int, list[str]], chunk_size: int = 60_000, command: str = "", kinds: str = "Emulation Fetch"
) -> tuple[list[str], list[Any]]:
    """Return the messages that reach the driver, and the commands of these kinds that the browser gets.

    Each command has its time. A turn is the milliseconds before it, and its messages. The driver sends the
    `command` first.
    """
    chunks: list[dict[str, Any]] = []
    for after_ms, messages in turns:
        text = "".join(f"{each}\0" for each in messages)
        parts = [text[at : at + chunk_size] for at in range(0, len(text), chunk_size)]
        parts = parts or [""]
        chunks += [{"after": 0 if at else after_ms, "chunk": part} for at, part in enumerate(parts)]
    chunks[0]["command"] = command
    node, _ = compute_driver_executable()
    process = subprocess.run(
        [node, str(PROGRAM), str(LIMITS)], input=json.dumps(chunks).encode(), capture_output=True, check=True
    )
    outcome = json.loads(process.stdout)
    commands = [[at, of] for at, of in outcome["commands"] if of["method"].split(".")[0] in kinds.split()]
    return outcome["read"].split("\0")[:-1], commands


@pytest.mark.sampled(3)
@pytest.mark.parametrize("chunk_size", [60_000, 333, 1])
def test_console_flood_is_truncated_and_other_events_pass(chunk_size: int) -> None:
    flood = [message(f"m{i}") for i in range(1_250)] + [event("Network.webSocketFrameReceived")] * 1_250
    reply, loaded = line(id=7, result={}), event("Page.loadEventFired")
    error, other = message("broken", type="error"), message("mine", session="S2")

    read, _ = filter_messages(
        (0, [*flood, reply, *flood, loaded, *flood, error, other, reply]), chunk_size=chunk_size
    )

    assert read == [*flood, reply, *flood, loaded, error, other, reply]


def test_flood_of_clicks_on_links_is_limited() -> None:
    clicks = [event("Runtime.bindingCalled", name="reportEffect", payload=str(i)) for i in range(5_000)]

    read, _ = filter_messages((0, clicks))

    assert read == clicks[:2_500]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("chunk_size", [60_000, 3_333])
@pytest.mark.parametrize("method", ["Runtime.consoleAPICalled", "Network.webSocketFrameReceived"])
def test_oversized_event_is_replaced_by_an_error(method: str, chunk_size: int) -> None:
    fits = event(method, data="x" * (10_240_000 - len(event(method, data="")) - 1))
    too_large = event(method, data="x" * 10_240_000)
    after = line(id=7, result={})

    read, _ = filter_messages((0, [too_large, fits, after]), chunk_size=chunk_size)

    assert read[1:] == [fits, after]
    dropped = json.loads(read[0])
    assert (dropped["method"], dropped["sessionId"]) == ("Runtime.exceptionThrown", "S1")
    assert dropped["params"]["exceptionDetails"]["exception"]["description"] == (
        "Error: Footlight dropped a message of this page to the console or the like, because it has more "
        "than 10,240,000 bytes or 5,000 values"
    )


def test_console_message_with_too_many_values_is_replaced_by_an_error() -> None:
    """The driver would tell the server of each value."""
    fits, too_many = (
        event("Runtime.consoleAPICalled", type="log", args=[{"type": "number", "value": 1_234_567}] * count)
        for count in (4_999, 5_000)
    )

    read, _ = filter_messages((0, [too_many, fits]))

    assert json.loads(read[0])["method"] == "Runtime.exceptionThrown"
    assert read[1:] == [fits]


def test_messages_with_many_values_count_as_several() -> None:
    many = event("Runtime.consoleAPICalled", type="log", args=[{"type": "string", "value": "word"}] * 2_499)

    read, _ = filter_messages((0, [many] * 200))

    assert read == [many] * 25


def test_split_messages_are_reassembled() -> None:
    long = [message("x" * 10_000), line(id=1, result="y" * 10_000), message("z")]

    read, _ = filter_messages((0, long), chunk_size=41)

    assert read == long


def test_long_messages_count_as_several() -> None:
    read, _ = filter_messages((0, [message("x" * 100_000)] * 200))

    assert len(read) == 100


def test_last_messages_of_a_flood_are_kept() -> None:
    burst = [message(str(i)) for i in range(5_000)]

    read, commands = filter_messages((0, burst), (100, []), (10_000, [message("after")]))

    assert read == [*burst[:2_500], *burst[-200:], message("after")]
    assert commands == []


def attached(session: str, target: str) -> str:
    return event("Target.attachedToTarget", "", sessionId=session, targetInfo={"targetId": target})


FIRST_ID = 2_000_000_001
"""The id of the first command of the limits."""


def test_task_that_sends_events_without_end_is_stopped_once() -> None:
    """The other session of the page gets the same events."""
    sessions = [attached("S1", "T"), attached("S2", "T")]
    flood = [message("x", session=session) for _ in range(2_600) for session in ("S1", "S2")]
    terminated = line(id=7, error={"code": -32000, "message": "Execution was terminated"}, sessionId="S2")
    answer = line(id=FIRST_ID, result={"id": "1"})

    read, commands = filter_messages(
        (0, [*sessions, *flood]),
        (100, [terminated, *flood * 8]),
        (900, flood),
        (1, flood),
        (50, [*flood * 2, terminated]),
        (1, [answer, terminated]),
        kinds="Runtime",
    )

    assert [(at, command["method"], command["sessionId"]) for at, command in commands] == [
        (0, "Runtime.getIsolateId", "S1"),
        (1_001, "Runtime.terminateExecution", "S1"),
    ]
    others = [json.loads(each) for each in read if "consoleAPI" not in each]
    stopped = (
        "Error: Footlight stopped a script of this page, which sent more than 20,000 messages to the console "
        "or the like in one task"
    )
    assert others[:2] == [json.loads(each) for each in sessions]
    assert others[2] == json.loads(terminated)
    assert (others[3]["method"], others[3]["sessionId"]) == ("Runtime.exceptionThrown", "S1")
    assert others[3]["params"]["exceptionDetails"]["exception"]["description"] == stopped
    assert (thrown(others[4]), others[4]["sessionId"]) == (stopped, "S2")
    assert others[5:] == [json.loads(terminated)]


def test_task_that_answers_or_sends_less_is_not_stopped() -> None:
    flood, answer = [message("x")] * 2_800, line(id=FIRST_ID, result={"id": "1"})
    turns = ((0, flood), (100, [*flood, answer]), (10_000, flood), (5_000, [message("x")]))

    _, commands = filter_messages(*turns, kinds="Runtime")

    assert [command["method"] for _, command in commands] == ["Runtime.getIsolateId"] * 2


@pytest.mark.slow
def test_flooding_page_is_throttled_for_increasing_periods() -> None:
    turns = [(100, [message("x")] * 2_000)] * 150

    _, commands = filter_messages(*turns)

    assert [(at, command["method"], command.get("params")) for at, command in commands] == [
        (1_200, "Emulation.setCPUThrottlingRate", {"rate": 20}),
        (5_200, "Emulation.setCPUThrottlingRate", {"rate": 1}),
        (6_200, "Emulation.setCPUThrottlingRate", {"rate": 20}),
        (14_200, "Emulation.setCPUThrottlingRate", {"rate": 1}),
    ]
    assert {command["sessionId"] for _, command in commands} == {"S1"}
    replies = [line(id=command["id"], result={}) for _, command in commands]
    assert filter_messages((0, [*replies, line(id=1, result={})]))[0] == [line(id=1, result={})]


@pytest.mark.parametrize(
    "method", ["Page.frameAttached", "Page.frameRequestedNavigation", "Target.targetCreated"]
)
def test_page_that_adds_frames_or_workers_without_end_is_slowed_down(method: str) -> None:
    frames = [event(method, frameId=str(i)) for i in range(60)]

    read, commands = filter_messages(*[(100, frames)] * 20)

    assert read == frames * 20
    assert [command["params"]["rate"] for _, command in commands] == [20]


@pytest.mark.slow
def test_page_that_goes_on_adding_frames_is_slowed_down_again_at_once() -> None:
    frames = [event("Page.frameAttached", frameId=str(i)) for i in range(60)]

    _, commands = filter_messages(*[(100, frames)] * 60)

    assert [(at, command["params"]["rate"]) for at, command in commands] == [
        (1_200, 20),
        (5_200, 1),
        (5_200, 20),
    ]


def test_worker_that_floods_the_console_is_silenced_once() -> None:
    """It cannot be slowed down. All workers of a page share the limits of the page."""
    workers = [
        event(
            "Target.attachedToTarget", sessionId=each, targetInfo={"targetId": f"T{each}", "type": "worker"}
        )
        for each in ("W1", "W2")
    ]
    flood = [message("x", session=session) for _ in range(2_600) for session in ("W1", "W2")]

    read, commands = filter_messages((0, [*workers, *flood]), (100, flood), kinds="Runtime Emulation")

    silenced = [command for _, command in commands if command["method"] == "Runtime.disable"]
    assert sorted(command["sessionId"] for command in silenced) == ["W1", "W2"]
    assert not any(command["method"] == "Emulation.setCPUThrottlingRate" for _, command in commands)
    assert read[:2_502] == [*workers, *flood[:2_500]]
    reports = [json.loads(each) for each in read[2_502:] if "exceptionThrown" in each]
    assert sorted(each["sessionId"] for each in reports) == ["W1", "W2"]
    assert reports[0]["params"]["exceptionDetails"]["exception"]["description"] == (
        "Error: Footlight no longer reports the messages of a worker of this page to the console, nor its "
        "errors, because there were too many"
    )


def test_worker_that_floods_requests_keeps_its_console() -> None:
    worker = event("Target.attachedToTarget", sessionId="W1", targetInfo={"targetId": "T", "type": "worker"})
    flood = [event("Network.webSocketFrameSent", "W1", requestId="1")] * 3_000
    turns = [(100, [worker])] + [(100, flood)] * 20

    _, commands = filter_messages(*turns, kinds="Runtime Emulation")

    assert [command for _, command in commands if command["method"] == "Runtime.disable"] == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["Page.navigatedWithinDocument", "Page.frameNavigated"])
def test_page_that_navigates_to_long_urls_without_end_is_slowed_down(method: str) -> None:
    navigated = event(method, url="x" * 2_000_000)

    read, commands = filter_messages(*[(200, [navigated])] * 20)

    assert read == [navigated] * 20
    assert [command["params"]["rate"] for _, command in commands] == [20]


def request(number: int, kind: str = "Fetch", **params: Any) -> str:
    sent = {"url": f"http://a.test/{number}", "headers": {"type": "Document", "redirectResponse": "x"}}
    id = f"77.{number}"
    return event("Network.requestWillBeSent", requestId=id, request=sent, **params, type=kind, frameId="F")


def about(number: int, name: str) -> str:
    return event(f"Network.{name}", requestId=f"77.{number}", timestamp=1.5)


def test_requests_of_a_flood_are_dropped_with_their_later_events() -> None:
    names = ("requestWillBeSentExtraInfo", "responseReceived", "loadingFinished")
    flood = [each for i in range(2_100) for each in (request(i), *(about(i, name) for name in names))]
    document = [request(3_000, "Document"), about(3_000, "loadingFailed")]
    redirected = request(5, redirectResponse={"status": 302})
    later = [request(4_000), about(4_000, "loadingFailed")]
    others = [*document, redirected, request(2_050, "Document")]

    read, commands = filter_messages((0, [*flood, *others]), (2_000, later))

    assert read == [*flood[:8_000], *document, redirected, *later]
    assert commands == []
    paged = [[request(at * 1_000 + i) for i in range(300)] for at in range(30)]
    _, commands = filter_messages(*((100, page) for page in paged))
    assert commands[0][1]["params"] == {"rate": 20}


@pytest.mark.slow
def test_requests_count_by_their_size() -> None:
    header = "x" * 32_768
    flood = [each for i in range(1_100) for each in (request(i, more=header), about(i, "loadingFinished"))]

    read, _ = filter_messages((0, flood))

    assert read == flood[:2_000]


@pytest.mark.slow
def test_oversized_request_is_dropped_and_fails_if_it_waits() -> None:
    url = "x" * (64 << 20)
    paused = event("Fetch.requestPaused", requestId="interception-1", request={"url": url}, networkId="77.1")
    reported = event("Footlight.requestsDropped", "S2", count=2)
    sessions = [attached("S1", "T"), attached("S2", "T")]
    large = [request(1, more=url), about(1, "loadingFinished"), paused]

    read, commands = filter_messages((0, [*sessions, *large, request(2)]), (100, []))

    assert read == [*sessions, request(2), reported]
    assert [(each["method"], each["params"]["requestId"], each["sessionId"]) for _, each in commands] == [
        ("Fetch.failRequest", "interception-1", "S1")
    ]


def test_web_sockets_of_a_flood_are_dropped_with_their_later_events() -> None:
    flood = [
        event(f"Network.webSocket{name}", requestId=f"77.{i}", timestamp=1)
        for i in range(2_100)
        for name in ("Created", "WillSendHandshakeRequest", "Closed")
    ]

    read, _ = filter_messages((0, flood))

    assert read == flood[:6_000]


def test_dropped_request_that_waits_for_the_driver_fails() -> None:
    def paused(number: int) -> str:
        sent = {"url": "http://a.test/", "headers": {"networkId": "77.1"}}
        return event(
            "Fetch.requestPaused", requestId=f"interception-{number}", request=sent, networkId=f"77.{number}"
        )

    known = [request(i) for i in range(1_999)]
    asked_first = [paused(1_999), request(1_999)]
    dropped = [request(2_001), paused(2_001), paused(2_002), request(2_002)]

    read, commands = filter_messages((0, [*known, paused(7), *asked_first, *dropped]))

    assert read == [*known, paused(7), *asked_first]
    assert [command["method"] for _, command in commands] == ["Fetch.failRequest"] * 2
    assert [(command["params"], command["sessionId"]) for _, command in commands] == [
        ({"requestId": f"interception-{number}", "errorReason": "Failed"}, "S1") for number in (2_001, 2_002)
    ]


@pytest.mark.slow
def test_cpu_throttling_set_by_a_caller_is_kept() -> None:
    command = line(id=3, method="Emulation.setCPUThrottlingRate", params={"rate": 4}, sessionId="S9")

    _, commands = filter_messages(*[(100, [message("x")] * 2_000)] * 150, command=command)

    assert commands == []


def test_message_limit_per_page_holds_with_many_pages() -> None:
    """1,000 other pages are as many as it remembers."""
    flood = [message(f"m{i}") for i in range(2_500)]
    others = [message("x", session=f"S{i}") for i in range(10, 909)]

    read, _ = filter_messages((0, [*flood, *others, message("late"), *others[:200], message("later")]))

    assert read == [*flood, *others, *others[:200]]


def value(of: object) -> str:
    return line(id=7, result={"result": {"value": of}}, sessionId="S1")


@pytest.mark.slow
@pytest.mark.parametrize("chunk_size", sample_parameters([60_000, 9_000_000], 9_000_000))
def test_oversized_script_result_becomes_an_error(chunk_size: int) -> None:
    text = ', "' * ((33_554_432 - len(value("")) - 1) // 4)
    fits = value(text)

    read, _ = filter_messages((0, [fits, value(f"{text} more"), message("next")]), chunk_size=chunk_size)

    assert read[0] == fits
    reply = json.loads(read[1])
    assert (reply["id"], reply["sessionId"]) == (7, "S1")
    assert thrown(reply) == "Error: The page returned more than 33554432 bytes"
    assert read[2] == message("next")


@pytest.mark.slow
def test_screenshot_may_exceed_the_script_result_limit() -> None:
    picture = line(id=8, result={"data": "x" * 40_000_000}, sessionId="S1")

    assert filter_messages((0, [picture]))[0] == [picture]


def test_script_result_with_too_many_values_becomes_an_error() -> None:
    read, _ = filter_messages((0, [value([0] * 149_999), value([0] * 150_000)]))

    assert read[0] == value([0] * 149_999)
    assert thrown(json.loads(read[1])) == "Error: The page returned more than 150000 values"


def thrown(reply: Any) -> str:
    return reply["result"]["exceptionDetails"]["exception"]["description"]
