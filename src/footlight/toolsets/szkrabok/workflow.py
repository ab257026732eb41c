"""`workflow.*`: log in, fill a form and read many texts, with a report of each step."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.actions.click import click_element
from footlight.browser.actions.forms import filling, kinds
from footlight.browser.actions.forms.text_input import fill_field
from footlight.browser.actions.keyboard import press_key
from footlight.browser.actions.waiting.elements import wait_for_element
from footlight.browser.page.settling import settle
from footlight.browser.reading import reads as reading
from footlight.errors import FootlightError, InvalidSelectorError, StaleRefError
from footlight.server.answers.secrets import SecretText
from footlight.server.tools import ToolCall
from footlight.toolsets.browser.parameters import FormValues
from footlight.toolsets.szkrabok.parameters import Selector, get_title, named_tool

if TYPE_CHECKING:
    from footlight.server.tools import ToolCall

__all__ = ["TOOLS"]

Status = Literal["done", "failed", "not begun"]


class StepReport(TypedDict):
    """The report of a step. `error` says why it failed, `count` how many matches were found."""

    step: str
    status: Status
    selector: NotRequired[str]
    error: NotRequired[str]
    count: NotRequired[int]


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """A step: its name, its element, and its work."""

    name: str
    selector: str | None
    work: Callable[[], Awaitable[object]]


async def run_steps(call: ToolCall, steps: Sequence[WorkflowStep]) -> list[StepReport]:
    """Run all steps and report them as done.

    Raises:
        FootlightError: The error of the first step that failed, with a report of every step.
    """
    for index, step in enumerate(steps):
        call.stage(f"step {index + 1} of {len(steps)}: {step.name}")
        try:
            await step.work()
        except FootlightError as error:
            error.details = {
                **error.details,
                "steps": report_failure(_report_planned(steps), error, at=index),
            }
            error.message = f"step {index + 1} of {len(steps)}, {step.name}: {error.message}"
            error.args = (error.message,)
            raise
    return [report_step(step.name, "done", step.selector) for step in steps]


def _report_planned(steps: Sequence[WorkflowStep]) -> list[StepReport]:
    return [report_step(step.name, "not begun", step.selector) for step in steps]


def report_failure(
    planned: Sequence[StepReport], error: FootlightError, *, at: int, done: bool = True
) -> list[StepReport]:
    """Return the report of all steps after the step `at` failed. `done` says that the earlier steps were
    done.
    """
    before: Status = "done" if done else "not begun"
    return [
        *({**step, "status": before} for step in planned[:at]),
        {**planned[at], "status": "failed", "error": error.message},
        *planned[at + 1 :],
    ]


def report_step(
    step: str, status: Status, selector: str | None, *, error: str | None = None, count: int | None = None
) -> StepReport:
    one: StepReport = {"step": step, "status": status}
    if selector is not None:
        one["selector"] = selector
    if error is not None:
        one["error"] = error
    if count is not None:
        one["count"] = count
    return one


class LoginResult(TypedDict):
    """`formStillVisible`: the password field is still visible, so the login has probably failed."""

    url: str
    title: str
    formStillVisible: bool
    steps: list[StepReport]


class FormSteps(TypedDict):
    url: str
    steps: list[StepReport]


class ScrapeResult(TypedDict):
    """`data` has the texts of all matches by name; `failed` counts the steps that failed.

    A result that is too large for an answer is replaced by a link.
    """

    url: NotRequired[str]
    title: NotRequired[str]
    data: NotRequired[dict[str, list[str]]]
    failed: NotRequired[int]
    steps: NotRequired[list[StepReport]]


@named_tool("workflow.login", effect="act", destructive=True, untrusted=True)
async def login(
    call: ToolCall,
    username_selector: Selector,
    password_selector: Selector,
    username: SecretText,
    password: SecretText,
    submit_selector: Annotated[
        Selector | None, Field(description="Submit button; default: press Enter")
    ] = None,
    success_selector: Annotated[
        Selector | None, Field(description="Element to wait for after a successful login")
    ] = None,
) -> LoginResult:
    """Log in with the form on the page. Fills and submits it, then waits for the result."""
    page = call.page

    async def submit() -> None:
        began = time.monotonic()
        if submit_selector is None:
            await press_key(page, "Enter", [], call.deadline.start_patience())
        else:
            await click_element(page, submit_selector, call.deadline.start_patience(), button="left", count=1)
        await settle(page, began, call.deadline, limit_ms=call.settings.observation.settle_timeout)

    steps = [
        WorkflowStep(
            "fill the username",
            username_selector,
            lambda: fill_field(page, username_selector, username, call.deadline.start_patience()),
        ),
        WorkflowStep(
            "fill the password",
            password_selector,
            lambda: fill_field(page, password_selector, password, call.deadline.start_patience()),
        ),
        WorkflowStep("submit", submit_selector, submit),
    ]
    if success_selector is not None:
        expected = success_selector
        steps.append(
            WorkflowStep(
                "see that it worked",
                expected,
                lambda: wait_for_element(page, expected, "visible", call.deadline, any_match=False),
            )
        )
    done = await run_steps(call, steps)
    return {
        "url": page.url,
        "title": await get_title(call),
        "formStillVisible": await reading.is_visible(page, password_selector, call.deadline),
        "steps": done,
    }


@named_tool("workflow.fillForm", effect="act", destructive=True, idempotent=True)
async def fill_form(
    call: ToolCall,
    fields: FormValues,
) -> FormSteps:
    """Fill a form. Fields of any kind, in the given order; does not submit."""
    form_fields = [kinds.Field(selector, value) for selector, value in fields.items()]
    try:
        filled = await filling.fill_form(call.page, form_fields, call.deadline, on_found=call.note_field)
    except FootlightError as error:
        steps = [report_step("fill", "not begun", field.selector) for field in form_fields]
        error.details["steps"] = report_failure(
            steps, error, at=error.details["field"], done=bool(error.details["done"])
        )
        raise
    return {
        "url": call.page.url,
        "steps": [
            report_step(f"fill the {each.kind}", "done", field.selector)
            for field, each in zip(form_fields, filled, strict=True)
        ],
    }


@named_tool("workflow.scrape", effect="read")
async def scrape(
    call: ToolCall,
    selectors: Annotated[
        dict[str, Selector],
        Field(min_length=1, max_length=100, description="Selectors by result name"),
    ],
) -> ScrapeResult:
    """Get the texts of many elements. All matches of each selector; does not wait."""
    data: dict[str, list[str]] = {}
    steps: list[StepReport] = []
    for name, selector in selectors.items():
        try:
            data[name] = await reading.read_all_texts(call.page, selector, call.deadline)
            steps.append(report_step(name, "done", selector, count=len(data[name])))
        except (InvalidSelectorError, StaleRefError) as error:
            steps.append(report_step(name, "failed", selector, error=error.message))
    return {
        "url": call.page.url,
        "title": await get_title(call),
        "data": data,
        "failed": sum(step["status"] == "failed" for step in steps),
        "steps": steps,
    }


TOOLS = (login, fill_form, scrape)
