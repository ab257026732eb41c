"""Running a model with tools, over the wire formats of three vendors."""

from __future__ import annotations

import asyncio
import base64
import logging
import socket
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from footlight.audit.findings import EvidencePicture
from footlight.audit.model.failures import ModelError
from footlight.audit.model.provider import KEY_VARIABLES, ChatModel, chat_model
from footlight.audit.model.request import Limits
from footlight.audit.model.stage import Stage, StageRun, run_stage
from footlight.audit.model.stream import (
    AIStreamPart,
    FinishPart,
    TextDeltaPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from footlight.audit.model.tools import AITool, ToolAnswer
from tests.audit.vendors.google import Google
from tests.audit.vendors.script import Call, Failure, Script, Turn
from tests.audit.vendors.serving import VendorServer, serve_vendor

pytestmark = pytest.mark.anyio

KEY = "sk-planted-5f2b7c91d0"
LIMIT_SECONDS = 60.0
QUICK = Limits(backoff_s=0.001)
SLOW = Limits(backoff_s=1000, longest_wait_s=1000)
STOP = FinishPart(finish_reason="stop")
WRONG = "The arguments are wrong. url: Field required. Call again."
OLD = "(This old answer is omitted. Call the tool again if you need it.)"
PICTURE = EvidencePicture(data=b"a picture", width=1, height=1)
OTHER_PICTURE = EvidencePicture(data=b"another", width=1, height=1, type="png")


class Goto(BaseModel):
    url: str


@dataclass
class Work:
    """A tool that keeps what it was called with."""

    done: list[str] = field(default_factory=list[str])
    picture: EvidencePicture | None = None
    ends: bool = False
    replaces: Collection[str] = ()

    @property
    def tool(self) -> AITool:
        return AITool(name="goto", description="Go there.", parameters=Goto, run=self._run, ends=self.ends)

    async def _run(self, arguments: Goto) -> ToolAnswer:
        self.done.append(arguments.url)
        return ToolAnswer(
            text=f"at {arguments.url}", picture=self.picture, replaces=arguments.url in self.replaces
        )


def model_of(vendor: VendorServer) -> ChatModel:
    return chat_model(
        vendor.vendor.name,
        model=vendor.vendor.model,
        base_url=vendor.base_url,
        environ={vendor.vendor.variable: KEY},
    )


def calls(*urls: str, name: str = "goto") -> list[Call]:
    return [Call(id=f"c-{url}", name=name, pieces=['{"ur', f'l": "{url}"}}']) for url in urls]


def make_call_parts(url: str) -> list[AIStreamPart]:
    return [
        ToolCallPart(tool_call_id=f"c-{url}", tool_name="goto", input={"url": url}),
        ToolResultPart(tool_call_id=f"c-{url}", tool_name="goto", result=f"at {url}"),
    ]


def make_usage(requests: int, input_tokens: int = 0, output_tokens: int = 0) -> Usage:
    return Usage(requests=requests, input_tokens=input_tokens, output_tokens=output_tokens)


def texts(*pieces: str) -> list[AIStreamPart]:
    return [TextDeltaPart(text_delta=piece) for piece in pieces]


@dataclass
class Outcome:
    """What a run came to. `error` is what it raised at its end."""

    parts: list[AIStreamPart]
    usage: Usage
    error: ModelError | None = None


async def outcome(
    vendor: VendorServer, script: Script, *tools: AITool, limits: Limits = QUICK, **stage: Any
) -> Outcome:
    vendor.answers(script)
    spent = stage.pop("spent", None)
    async with asyncio.timeout(LIMIT_SECONDS), model_of(vendor) as model:
        work = Stage(instructions="Judge.", prompt="Look at it.", tools=tools, **stage)
        async with run_stage(model, work, limits=limits, spent=spent) as run:
            parts: list[AIStreamPart] = []
            try:
                async for part in run:
                    parts.append(part)
            except ModelError as error:
                return Outcome(parts, run.usage, error)
    return Outcome(parts, run.usage)


async def test_text_is_streamed_while_the_model_writes(vendor: VendorServer) -> None:
    hold = asyncio.Event()
    vendor.answers([Turn(text=["Well ", "done."], hold=hold)])
    stage = Stage(instructions="Judge.", prompt="Look at it.")
    async with (
        asyncio.timeout(LIMIT_SECONDS),
        model_of(vendor) as model,
        run_stage(model, stage, limits=QUICK) as run,
    ):
        reported = [await anext(run), await anext(run)]
        hold.set()
        rest = [part async for part in run]

    assert reported == texts("Well ", "done.")
    assert rest == [STOP]


async def test_tool_is_called_and_its_result_is_sent_back(vendor: VendorServer) -> None:
    work = Work()

    result = await outcome(vendor, [Turn(text=["First."], calls=calls("a")), Turn(text=["Done."])], work.tool)

    assert result == Outcome(
        [*texts("First."), *make_call_parts("a"), *texts("Done."), STOP], make_usage(2, 20, 10)
    )
    assert work.done == ["a"]
    wire = vendor.vendor
    assert [wire.tools(request) for request in vendor.received] == [["goto"], ["goto"]]
    assert [wire.results(request) for request in vendor.received] == [[], [("c-a", "at a")]]


async def test_invalid_arguments_error_names_the_field(vendor: VendorServer) -> None:
    """The error is one of the tool, and the run continues."""
    wrong = Call(id="c-1", name="goto", pieces=['{"to"', ': "a"}'])
    work = Work()

    result = await outcome(
        vendor, [Turn(calls=[wrong]), Turn(calls=calls("a")), Turn(text=["Done."])], work.tool
    )

    assert result.parts == [
        ToolCallPart(tool_call_id="c-1", tool_name="goto", input={"to": "a"}),
        ToolResultPart(tool_call_id="c-1", tool_name="goto", result=WRONG, is_error=True),
        *make_call_parts("a"),
        *texts("Done."),
        STOP,
    ]
    assert work.done == ["a"]
    assert WRONG in vendor.vendor.results(vendor.received[1])[0][1]


async def test_parallel_tool_calls_run_sequentially(vendor: VendorServer) -> None:
    """Each has its result."""
    unknown = Call(id="c-2", name="fly", pieces=["{}"])
    work = Work()

    result = await outcome(
        vendor, [Turn(calls=[*calls("a"), unknown, *calls("b")]), Turn(text=["Done."])], work.tool
    )

    assert result.parts == [
        *make_call_parts("a"),
        ToolCallPart(tool_call_id="c-2", tool_name="fly", input={}),
        ToolResultPart(
            tool_call_id="c-2",
            tool_name="fly",
            result="There is no tool fly. The tools are: goto.",
            is_error=True,
        ),
        *make_call_parts("b"),
        *texts("Done."),
        STOP,
    ]
    assert work.done == ["a", "b"]
    assert [name for name, _ in vendor.vendor.results(vendor.received[1])] == ["c-a", "c-2", "c-b"]


async def test_repeated_call_ids_are_made_unique(vendor: VendorServer) -> None:
    """A result belongs to one call."""
    result = await outcome(vendor, [Turn(calls=calls("a")), Turn(calls=calls("a")), Turn()], Work().tool)

    asked = [part.tool_call_id for part in result.parts if isinstance(part, ToolCallPart)]
    answered = [part.tool_call_id for part in result.parts if isinstance(part, ToolResultPart)]
    assert asked == answered
    assert len(set(asked)) == 2


async def test_a_tool_can_end_the_stage(vendor: VendorServer) -> None:
    work = Work(ends=True)

    result = await outcome(vendor, [Turn(calls=calls("a", "b"))], work.tool)

    late = "Not done: the previous call ended the work."
    assert result.parts == [
        *make_call_parts("a"),
        ToolCallPart(tool_call_id="c-b", tool_name="goto", input={"url": "b"}),
        ToolResultPart(tool_call_id="c-b", tool_name="goto", result=late, is_error=True),
        STOP,
    ]
    assert (work.done, len(vendor.received)) == (["a"], 1)


async def test_crashing_tool_still_gets_a_result(vendor: VendorServer) -> None:
    async def raise_bug(_: Goto) -> ToolAnswer:
        raise KeyError("bug")

    vendor.answers([Turn(calls=calls("a"))])
    tool = AITool(name="goto", description="Go there.", parameters=Goto, run=raise_bug)
    stage = Stage(instructions="Judge.", prompt="Look at it.", tools=[tool])
    async with (
        asyncio.timeout(LIMIT_SECONDS),
        model_of(vendor) as model,
        run_stage(model, stage, limits=QUICK) as run,
    ):
        parts = [await anext(run), await anext(run)]
        with pytest.raises(KeyError, match="bug"):
            await anext(run)

    failed = ToolResultPart(
        tool_call_id="c-a", tool_name="goto", result="The tool failed: KeyError", is_error=True
    )
    assert parts == [make_call_parts("a")[0], failed]


async def test_rate_limited_request_is_retried_after_the_given_delay(vendor: VendorServer) -> None:
    busy = Failure(status=429, headers=[("Retry-After", "0")])

    result = await outcome(vendor, [busy, Turn(text=["Done."])], limits=SLOW)

    assert result == Outcome([*texts("Done."), STOP], make_usage(2, 10, 5))


async def test_too_long_retry_delay_is_not_awaited(vendor: VendorServer) -> None:
    busy = Failure(status=429, message="Slow down.", headers=[("Retry-After", "3600")])

    result = await outcome(vendor, [busy])

    assert (str(result.error), result.usage) == (
        f"{vendor.vendor.name} was asked too often: Slow down.",
        make_usage(1),
    )


async def test_failing_provider_request_is_retried(vendor: VendorServer) -> None:
    result = await outcome(vendor, [Failure(status=500), Failure(status=503), Turn(text=["Do", "ne."])])

    assert result == Outcome([*texts("Do", "ne."), STOP], make_usage(3, 10, 5))
    assert vendor.received[0].body == vendor.received[2].body


async def test_repeated_provider_failure_is_reported(vendor: VendorServer) -> None:
    result = await outcome(
        vendor, [Failure(status=500, message="Oh.")] * 9, limits=Limits(backoff_s=0.001, retries=2)
    )

    assert (str(result.error), result.usage) == (f"{vendor.vendor.name} failed: Oh.", make_usage(3))
    assert result.error is not None
    assert result.error.details == {
        "provider": vendor.vendor.name,
        "model": vendor.vendor.model,
        "status": 500,
    }


@pytest.mark.parametrize(
    ("status", "what", "todo"),
    [
        (401, "does not accept the key", "Check the key in {variable}."),
        (404, "does not know the model {model}", "Name another model, or check the base URL."),
        (400, "refused the request", "See what it said; another model may take it."),
    ],
)
async def test_permanent_failure_is_reported_without_retry(
    vendor: VendorServer, status: int, what: str, todo: str
) -> None:
    result = await outcome(vendor, [Failure(status=status, message="No\x1b[2J good.")])

    words = {
        "model": vendor.vendor.model,
        "variable": " or ".join(KEY_VARIABLES[vendor.vendor.name]),
    }
    assert result.error is not None
    assert result.error.message == f"{vendor.vendor.name} {what.format(**words)}: No\\x1b[2J good."
    assert result.error.suggestion == todo.format(**words)
    assert not result.error.retryable
    assert result.usage == make_usage(1)


@pytest.mark.parametrize("clean", [False, True], ids=["broken off", "as if complete"])
async def test_answer_truncated_before_any_text_is_retried(vendor: VendorServer, clean: bool) -> None:
    """No piece is lost, and none comes twice."""
    cut = Turn(text=["Done."], cut_after=20, clean=clean)

    result = await outcome(vendor, [cut, Turn(text=["Done."])])

    assert result.parts == [*texts("Done."), STOP]
    assert result.usage.requests == 2


@pytest.mark.parametrize("clean", [False, True], ids=["broken off", "as if complete"])
async def test_answer_truncated_within_its_text_is_an_error(vendor: VendorServer, clean: bool) -> None:
    turn = Turn(text=["Well ", "done."])
    reported = sum(map(len, vendor.vendor.beginning(turn)))

    result = await outcome(vendor, [Turn(text=turn.text, cut_after=reported, clean=clean)])

    assert (result.parts, result.usage.requests) == (texts("Well ", "done."), 1)
    assert result.error is not None
    assert result.error.message.startswith(f"{vendor.vendor.name} ")


async def test_truncated_tool_call_is_not_executed(vendor: VendorServer) -> None:
    turn = Turn(calls=calls("a"))
    length = sum(map(len, (*vendor.vendor.beginning(turn), *vendor.vendor.rest(turn))))
    cut = Turn(calls=turn.calls, cut_after=length * 3 // 4, clean=True)
    work = Work()

    result = await outcome(vendor, [cut, Turn(text=["Done."])], work.tool)

    assert (result.parts, work.done) == ([*texts("Done."), STOP], [])


async def test_error_within_a_stream_is_reported(vendor: VendorServer) -> None:
    early, late = Failure(status=503), Failure(status=503, message="Overloaded.")

    result = await outcome(
        vendor, [Turn(fails=early), Turn(text=["Well "], fails=late), Turn(text=["Done."])]
    )

    assert (result.parts, result.usage.requests) == (texts("Well "), 2)
    assert result.error is not None
    assert result.error.message.endswith(": Overloaded.")


async def test_answer_aborted_by_the_vendor_is_retried(anyio_backend: str) -> None:
    async with serve_vendor(Google()) as vendor:
        result = await outcome(vendor, [Turn(end="broken"), Turn(text=["Well "], end="broken")])

    assert (result.parts, str(result.error), result.usage) == (
        texts("Well "),
        "google aborted its answer",
        make_usage(2, 20, 10),
    )


async def test_refusal_of_the_model_is_reported(vendor: VendorServer) -> None:
    result = await outcome(vendor, [Turn(text=["I will not."], end="refusal")])

    assert result.error is not None
    assert result.error.message.startswith(f"{vendor.vendor.name} refused to answer: ")
    assert result.usage == make_usage(1, 10, 5)


async def test_answer_over_the_length_limit_ends_the_stage(vendor: VendorServer) -> None:
    """Calls that came whole are made all the same."""
    work = Work()

    result = await outcome(vendor, [Turn(text=["On and"], calls=calls("a"), end="length")], work.tool)

    assert result.parts == [*texts("On and"), *make_call_parts("a"), FinishPart(finish_reason="length")]


async def test_pictures_are_sent_with_prompt_and_tool_results(vendor: VendorServer) -> None:
    work = Work(picture=OTHER_PICTURE)

    await outcome(vendor, [Turn(calls=calls("a")), Turn()], work.tool, pictures=[PICTURE])

    given, taken = (base64.b64encode(picture.data).decode() for picture in (PICTURE, OTHER_PICTURE))
    assert [vendor.vendor.images(request) for request in vendor.received] == [[given], [given, taken]]
    assert "at a" in vendor.vendor.results(vendor.received[1])[0][1]


async def test_old_tool_results_are_omitted_from_requests(vendor: VendorServer) -> None:
    """Each is sent once whole, however many came at once."""
    work = Work(picture=OTHER_PICTURE, replaces={"a", "b", "c"})
    script = [Turn(calls=calls("a", "b", "c")), Turn(calls=calls("d")), Turn()]

    result = await outcome(vendor, script, work.tool)

    sent = [[text for _, text in vendor.vendor.results(request)] for request in vendor.received]
    assert [[OLD in text for text in reported] for reported in sent] == [
        [],
        [False] * 3,
        [True, *[False] * 3],
    ]
    assert [len(vendor.vendor.images(request)) for request in vendor.received] == [0, 3, 3]
    assert result.parts == [
        *make_call_parts("a"),
        *make_call_parts("b"),
        *make_call_parts("c"),
        *make_call_parts("d"),
        STOP,
    ]


async def test_all_but_the_last_two_pages_are_left_out(vendor: VendorServer) -> None:
    work = Work(replaces={"page 1", "page 2", "page 3"})
    urls = ("page 1", "a", "page 2", "b", "page 3")

    await outcome(vendor, [*(Turn(calls=calls(url)) for url in urls), Turn()], work.tool)

    sent = [[text for _, text in vendor.vendor.results(request)] for request in vendor.received]
    assert [OLD in text for text in sent[4]] == [False] * 4
    assert [OLD in text for text in sent[5]] == [True, True, False, False, False]


async def test_prompt_cache_is_requested_where_needed(vendor: VendorServer) -> None:
    await outcome(vendor, [Turn()])

    asked = vendor.received[0].body.get("cache_control")
    assert asked == ({"type": "ephemeral", "ttl": "5m"} if vendor.vendor.name == "anthropic" else None)


async def test_token_limit_ends_the_stage_after_the_current_answer(vendor: VendorServer) -> None:
    """The calls of that answer are made, as they cost nothing."""
    work = Work()
    script = [Turn(calls=calls("a")), Turn(calls=calls("b"), input_tokens=40), Turn(text=["Never."])]

    result = await outcome(vendor, script, work.tool, limits=Limits(tokens=70), spent=make_usage(5, 5, 5))

    assert result == Outcome(
        [*make_call_parts("a"), *make_call_parts("b"), FinishPart(finish_reason="limit")],
        make_usage(2, 50, 10),
    )


async def test_request_limit_ends_the_stage(vendor: VendorServer) -> None:
    work = Work()
    limits = Limits(requests=4, backoff_s=0.001)
    script = [Turn(calls=calls("a")), Failure(status=500), Turn(calls=calls("b")), Turn(text=["Never."])]

    result = await outcome(vendor, script, work.tool, limits=limits, spent=make_usage(1))

    assert result.parts == [*make_call_parts("a"), *make_call_parts("b"), FinishPart(finish_reason="limit")]
    assert (result.usage.requests, len(vendor.received)) == (3, 3)


async def test_retries_count_towards_the_request_limit(vendor: VendorServer) -> None:
    result = await outcome(vendor, [Failure(status=500)] * 9, limits=Limits(requests=2, backoff_s=0.001))

    assert result.error is not None
    assert len(vendor.received) == 2


async def test_spent_budget_makes_no_request(vendor: VendorServer) -> None:
    result = await outcome(vendor, [], limits=Limits(requests=2), spent=make_usage(2))

    assert (result, vendor.received) == (Outcome([FinishPart(finish_reason="limit")], Usage()), [])


async def test_request_times_out(vendor: VendorServer) -> None:
    limits = Limits(request_timeout_s=0.2, retries=0)

    result = await outcome(vendor, [Turn(text=["Well "], hold=asyncio.Event())], limits=limits)

    assert result.error is not None
    assert result.error.message.startswith(f"{vendor.vendor.name} took too long: ")
    await asyncio.wait_for(vendor.left.wait(), LIMIT_SECONDS)


async def cancel_the_task(run: StageRun, reading: asyncio.Event) -> None:
    async def work() -> None:
        async with run:
            async for _ in run:
                reading.set()

    task = asyncio.create_task(work())
    await reading.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def cancel_the_scope(run: StageRun, reading: asyncio.Event) -> None:
    with anyio.CancelScope() as scope:
        async with run:
            async for _ in run:
                asyncio.get_running_loop().call_soon(scope.cancel)


async def stop_reading(run: StageRun, reading: asyncio.Event) -> None:
    async with run:
        async for _ in run:
            break


@pytest.mark.parametrize("stop", [cancel_the_task, cancel_the_scope, stop_reading])
async def test_stopped_run_cancels_its_request(
    vendor: VendorServer, stop: Callable[[StageRun, asyncio.Event], Any]
) -> None:
    vendor.answers([Turn(text=["Well "], hold=asyncio.Event())])
    stage = Stage(instructions="Judge.", prompt="Look at it.")
    async with asyncio.timeout(LIMIT_SECONDS), model_of(vendor) as model:
        await stop(run_stage(model, stage, limits=QUICK), asyncio.Event())
        await vendor.left.wait()


async def test_unreachable_server_is_reported(vendor: VendorServer) -> None:
    stage = Stage(instructions="Judge.", prompt="Look at it.")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        model = chat_model(vendor.vendor.name, model="m", base_url=url, environ={})
    async with (
        asyncio.timeout(LIMIT_SECONDS),
        model,
        run_stage(model, stage, limits=Limits(backoff_s=0.001, retries=1)) as run,
    ):
        with pytest.raises(ModelError, match="could not be reached") as reported:
            await anext(run)

    assert reported.value.suggestion == "Check the network and the base URL."
    assert run.usage == make_usage(2)


SAYS_THE_KEY = {
    "refused": [Failure(status=401, message=f"Incorrect API key provided: {KEY}")],
    "failing": [Failure(status=500, message=f"Bearer {KEY}")] * 2,
    "failing within": [Turn(text=["Well "], fails=Failure(status=503, message=KEY))],
}
SAYS_NOTHING = {"answer": [Turn(text=["Done."])], "cut": [Turn(text=["Well "], cut_after=300)]}


@pytest.mark.parametrize("case", [*SAYS_THE_KEY, *SAYS_NOTHING])
async def test_key_does_not_leak_into_logs_or_errors(
    vendor: VendorServer, caplog: pytest.LogCaptureFixture, case: str
) -> None:
    """Not in a log, an error or what it came from, nor in what stands for the model."""
    caplog.set_level(logging.DEBUG)
    vendor.answers((SAYS_THE_KEY | SAYS_NOTHING)[case])
    stage = Stage(instructions="Judge.", prompt="Look at it.")
    said: list[str] = []
    async with asyncio.timeout(LIMIT_SECONDS), model_of(vendor) as model:
        async with run_stage(model, stage, limits=Limits(backoff_s=0.001, retries=1)) as run:
            try:
                said.extend([repr(part) async for part in run])
            except ModelError as error:
                said += collect_texts(error)
        said += [
            repr(value) for value in (run, vars(run), model, model.model, vars(model.model), model.client)
        ]

    said += [repr(vars(record)) + record.getMessage() for record in caplog.records]
    assert caplog.records
    assert [line for line in said if KEY in line] == []
    assert {vendor.vendor.key(request) for request in vendor.received} == {KEY}


def collect_texts(error: BaseException) -> list[str]:
    """Return all texts of an error: message, details, and our frames with their variables."""
    assert (error.__cause__, error.__context__) == (None, None)
    frames = traceback.TracebackException.from_exception(error, capture_locals=True).stack
    ours = traceback.StackSummary.from_list([frame for frame in frames if frame.filename != __file__])
    assert ours
    return [str(error), repr(error), repr(vars(error)), *ours.format()]
