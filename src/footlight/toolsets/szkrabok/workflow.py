"""`workflow.*`: what takes several steps. Each is told: what was done, what failed, what was not begun."""

from __future__ import annotations

import time
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import actions, forms, reading
from footlight.browser.settling import settle
from footlight.errors import FootlightError, InvalidSelector, StaleRef
from footlight.server.secrets import SecretText
from footlight.server.tool import Number, ToolCall, Whole
from footlight.toolsets.szkrabok.parameters import Selector, named_tool, title_of
from footlight.toolsets.szkrabok.steps import Step, StepTold, run_all, told, up_to_failure

__all__ = ["TOOLS"]


class LoggedIn(TypedDict):
    """`formStillVisible`: the password field is still there, so the login has probably failed."""

    url: str
    title: str
    formStillVisible: bool
    steps: list[StepTold]


class FormFilled(TypedDict):
    url: str
    steps: list[StepTold]


class Scraped(TypedDict):
    """`data` has the texts of all that matched, by the names given; `failed` counts the steps that did.

    Where that is too much for an answer, there is a link to it instead.
    """

    url: NotRequired[str]
    title: NotRequired[str]
    data: NotRequired[dict[str, list[str]]]
    failed: NotRequired[int]
    steps: NotRequired[list[StepTold]]


FieldText = SecretText | bool | Whole | Number | list[str]


@named_tool("workflow.login", effect="act", destructive=True, untrusted=True)
async def login(
    call: ToolCall,
    username_selector: Selector,
    password_selector: Selector,
    username: SecretText,
    password: SecretText,
    submit_selector: Annotated[
        Selector | None, Field(description="The button; without it Enter is pressed")
    ] = None,
    success_selector: Annotated[
        Selector | None, Field(description="What is there after a login that worked; it is waited for")
    ] = None,
) -> LoggedIn:
    """Log in with the form on the page. Fills it, submits it, and waits for what follows."""
    page = call.page

    async def submit() -> None:
        began = time.monotonic()
        if submit_selector is None:
            await actions.press(page, "Enter", [], call.deadline.begun())
        else:
            await actions.click(page, submit_selector, call.deadline.begun(), button="left", count=1)
        await settle(page, began, call.deadline, limit_ms=call.settings.observation.settle_timeout)

    steps = [
        Step(
            "fill the username",
            username_selector,
            lambda: actions.fill(page, username_selector, username, call.deadline.begun()),
        ),
        Step(
            "fill the password",
            password_selector,
            lambda: actions.fill(page, password_selector, password, call.deadline.begun()),
        ),
        Step("submit", submit_selector, submit),
    ]
    if success_selector is not None:
        wanted = success_selector
        steps.append(
            Step(
                "see that it worked", wanted, lambda: reading.wait_for(page, wanted, "visible", call.deadline)
            )
        )
    done = await run_all(call, steps)
    return {
        "url": page.url,
        "title": await title_of(call),
        "formStillVisible": await reading.is_visible(page, password_selector, call.deadline),
        "steps": done,
    }


@named_tool("workflow.fillForm", effect="act", destructive=True, idempotent=True)
async def fill_form(
    call: ToolCall,
    fields: Annotated[
        dict[Selector, FieldText],
        Field(
            min_length=1,
            max_length=100,
            description="By selector: text, number, true or false, option, or list of options",
        ),
    ],
) -> FormFilled:
    """Fill a form. Fields of every kind, in the order given; nothing is sent."""
    wanted = [forms.Field(selector, value) for selector, value in fields.items()]
    try:
        kinds = await forms.fill_form(call.page, wanted, call.deadline)
    except FootlightError as error:
        steps = [told("fill", "not begun", field.selector) for field in wanted]
        error.details["steps"] = up_to_failure(
            steps, error, at=error.details["field"], done=bool(error.details["done"])
        )
        raise
    return {
        "url": call.page.url,
        "steps": [
            told(f"fill the {kind}", "done", field.selector)
            for field, kind in zip(wanted, kinds, strict=True)
        ],
    }


@named_tool("workflow.scrape", effect="read")
async def scrape(
    call: ToolCall,
    selectors: Annotated[
        dict[str, Selector],
        Field(min_length=1, max_length=100, description="Selectors by names for the data"),
    ],
) -> Scraped:
    """Take the texts of many elements. All matches of each selector, those that are there now."""
    data: dict[str, list[str]] = {}
    steps: list[StepTold] = []
    for name, selector in selectors.items():
        try:
            data[name] = await reading.all_text(call.page, selector, call.deadline)
            steps.append(told(name, "done", selector, count=len(data[name])))
        except (InvalidSelector, StaleRef) as error:
            steps.append(told(name, "failed", selector, error=error.message))
    return {
        "url": call.page.url,
        "title": await title_of(call),
        "data": data,
        "failed": sum(step["status"] == "failed" for step in steps),
        "steps": steps,
    }


TOOLS = (login, fill_form, scrape)
