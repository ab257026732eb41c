"""The cached list of tools, and when it is requested again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from footlight.client import tool_list
from footlight.client.tool_list import ToolList
from footlight.log import MAX_WARNINGS
from footlight.protocol.errors import MCPError
from footlight.protocol.tools import InvalidToolError, Tool
from tests.client.channels import LIMIT_SECONDS
from tests.loop_watch import watch_loops

pytestmark = pytest.mark.anyio


def page(*names: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "inputSchema": {}} for name in names], **more}


class Listing:
    """A server that lists its tools once `gate` is set."""

    def __init__(self, *answers: list[Mapping[str, Any]] | MCPError) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.asking = asyncio.Event()

    async def fetch(self) -> list[Mapping[str, Any]]:
        self.asked += 1
        self.asking.set()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        async with asyncio.timeout(LIMIT_SECONDS):
            await self.gate.wait()
        if isinstance(answer, MCPError):
            raise answer
        return answer


def names(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.name for tool in tools]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time is what its one entry says."""
    now = [1000.0]

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return now[0]

    monkeypatch.setattr(tool_list, "time", Clock)
    return now


async def test_tool_list_is_requested_once() -> None:
    listing, tools = Listing([page("a", "b"), page("c")]), ToolList()

    first = await tools.get(listing.fetch)

    assert names(first) == ["a", "b", "c"]
    assert await tools.get(listing.fetch) is first
    assert listing.asked == 1


async def test_long_tool_list_does_not_block_the_event_loop() -> None:
    schema = {"type": "object", "properties": {f"p{at}": {"type": "string"} for at in range(20)}}
    tools = [{"name": f"t{at}", "inputSchema": schema} for at in range(4_000)]

    with watch_loops() as gaps:
        read = await asyncio.create_task(ToolList().get(Listing([{"tools": tools}]).fetch))

    assert len(read) == 4_000
    assert gaps.too_long == []


async def test_empty_tool_list_is_cached() -> None:
    listing, tools = Listing([page()]), ToolList()

    assert await tools.get(listing.fetch) == await tools.get(listing.fetch) == ()
    assert listing.asked == 1


async def test_tool_list_is_requested_again_on_refresh() -> None:
    listing, tools = Listing([page("old")], [page("new")]), ToolList()
    await tools.get(listing.fetch)

    assert names(await tools.get(listing.fetch, refresh=True)) == ["new"]
    assert names(await tools.get(listing.fetch)) == ["new"]
    assert listing.asked == 2


async def test_forgotten_tool_list_is_requested_again() -> None:
    listing, tools = Listing([page("old")], [page("new")]), ToolList()
    await tools.get(listing.fetch)
    tools.forget()

    assert names(await tools.get(listing.fetch)) == ["new"]


async def test_list_forgotten_during_its_request_is_not_cached() -> None:
    listing, tools = Listing([page("old")], [page("new")]), ToolList()
    listing.gate.clear()
    asking = asyncio.create_task(tools.get(listing.fetch))
    async with asyncio.timeout(LIMIT_SECONDS):
        await listing.asking.wait()
    tools.forget()
    listing.gate.set()

    assert names(await asking) == ["old"]
    assert names(await tools.get(listing.fetch)) == ["new"]
    assert listing.asked == 2


@pytest.mark.parametrize("more", [{}, {"ttlMs": 0}])
async def test_concurrent_callers_share_one_request(more: dict[str, Any]) -> None:
    listing, tools = Listing([page("a", **more)]), ToolList()
    listing.gate.clear()
    asking = [asyncio.create_task(tools.get(listing.fetch)) for _ in range(5)]
    async with asyncio.timeout(LIMIT_SECONDS):
        await listing.asking.wait()
    listing.gate.set()

    assert [names(each) for each in await asyncio.gather(*asking)] == [["a"]] * 5
    assert listing.asked == 1


async def test_failure_is_not_cached() -> None:
    listing, tools = Listing(MCPError("No"), [page("a")]), ToolList()
    with pytest.raises(MCPError, match="No"):
        await tools.get(listing.fetch)

    assert names(await tools.get(listing.fetch)) == ["a"]


async def test_cancelled_caller_leaves_the_request_to_the_next() -> None:
    listing, tools = Listing([page("a")]), ToolList()
    listing.gate.clear()
    first = asyncio.create_task(tools.get(listing.fetch))
    async with asyncio.timeout(LIMIT_SECONDS):
        await listing.asking.wait()
    second = asyncio.create_task(tools.get(listing.fetch))
    first.cancel()
    listing.gate.set()

    assert names(await second) == ["a"]
    assert first.cancelled()


async def test_failed_refresh_clears_the_cache() -> None:
    listing, tools = Listing([page("old")], MCPError("No"), [page("new")]), ToolList()
    await tools.get(listing.fetch)
    with pytest.raises(MCPError, match="No"):
        await tools.get(listing.fetch, refresh=True)

    assert names(await tools.get(listing.fetch)) == ["new"]


async def test_unusable_tools_are_left_out() -> None:
    def check(tool: Tool) -> None:
        if tool.name == "bad":
            raise InvalidToolError("bad")

    listing, tools = Listing([page("good", "bad")]), ToolList()

    assert names(await tools.get(listing.fetch, check=check)) == ["good"]


async def test_repeated_names_are_left_out_with_few_warnings(caplog: pytest.LogCaptureFixture) -> None:
    """The first tool of a name is used by everything that reads the list."""
    first = {"name": "a", "description": "the first", "inputSchema": {}}
    listing, tools = Listing([{"tools": [first]}, page(*["a"] * 1_000)]), ToolList()

    listed = await tools.get(listing.fetch)

    assert [tool.description for tool in listed] == ["the first"]
    assert caplog.messages == ["left out of the server's tools: The tool 'a' is listed again"] * MAX_WARNINGS


async def test_tool_list_is_cached_for_the_shortest_ttl(clock: list[float]) -> None:
    listing = Listing([page("a", ttlMs=9000), page("b", ttlMs=2000), page("c")])
    tools = ToolList()
    await tools.get(listing.fetch)
    clock[0] += 1.9
    await tools.get(listing.fetch)
    assert listing.asked == 1
    clock[0] += 0.2
    await tools.get(listing.fetch)

    assert listing.asked == 2


@pytest.mark.parametrize("ttl", [0, -5, float("nan")])
async def test_tool_list_with_zero_or_nan_ttl_is_not_cached(ttl: float) -> None:
    listing, tools = Listing([page("a", ttlMs=ttl)]), ToolList()
    await tools.get(listing.fetch)
    await tools.get(listing.fetch)

    assert listing.asked == 2


@pytest.mark.parametrize("ttl", [None, "5", [], {}, True])
async def test_ttl_that_is_not_a_number_is_ignored(ttl: object, clock: list[float]) -> None:
    assert await count_fetches(ttl, clock, seconds=1e9) == 1


@pytest.mark.parametrize("ttl", [float("inf"), 10**400], ids=["inf", "huge"])
async def test_very_long_ttl_keeps_the_list_cached(ttl: float, clock: list[float]) -> None:
    assert await count_fetches(ttl, clock, seconds=1e6) == 1


async def count_fetches(ttl: object, clock: list[float], *, seconds: float) -> int:
    """Ask for a list with this `ttlMs`, and again after some seconds. Return how often it was fetched."""
    listing, tools = Listing([page("a", ttlMs=ttl)]), ToolList()
    await tools.get(listing.fetch)
    clock[0] += seconds
    await tools.get(listing.fetch)
    return listing.asked


async def test_ttl_of_an_older_list_does_not_limit_newer_ones(clock: list[float]) -> None:
    listing, tools = Listing([page("a", ttlMs=0)], [page("a")]), ToolList()
    await tools.get(listing.fetch)
    await tools.get(listing.fetch)
    clock[0] += 1e9
    await tools.get(listing.fetch)

    assert listing.asked == 2


async def test_last_seen_tool_is_known_without_a_request() -> None:
    listing, tools = Listing([page("a", ttlMs=0)]), ToolList()
    before = tools.last_seen("a")
    (listed,) = await tools.get(listing.fetch)
    seen, other = tools.last_seen("a"), tools.last_seen("b")
    tools.forget()

    assert (before, seen, other, tools.last_seen("a")) == (None, listed, None, None)
    assert listing.asked == 1


@pytest.mark.parametrize("tools", [None, "x", {}, 5])
async def test_page_without_a_tool_array_is_empty(tools: object) -> None:
    assert await ToolList().get(Listing([{"tools": tools}]).fetch) == ()


async def test_tool_without_a_name_is_reported() -> None:
    with pytest.raises(MCPError, match="without a name"):
        await ToolList().get(Listing([{"tools": [{}]}]).fetch)


async def test_unusable_tool_is_left_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The other tools of its server stay usable."""
    bad = [{"name": "a b", "inputSchema": {}}, {"name": "c", "inputSchema": {"type": "nonsense"}}]
    listing = Listing([{"tools": [*bad, {"name": "good", "inputSchema": {}}]}])

    listed = await ToolList().get(listing.fetch)

    assert names(listed) == ["good"]
    assert [record.message.partition(":")[2].partition(":")[0].strip() for record in caplog.records] == [
        "The tool 'a b' cannot be used",
        "The tool 'c' cannot be used",
    ]
