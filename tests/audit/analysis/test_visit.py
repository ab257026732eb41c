"""The tools of a model on a page, with each supported server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from footlight.audit.analysis.visit import Visit, origin_of
from footlight.audit.model.tools import AITool, AIToolDefinition, ToolAnswer, ToolInput
from footlight.audit.page.observer import observer_for
from footlight.audit.page.page import AuditedPage
from footlight.audit.page.page_text import PageMarks
from tests.audit.conftest import client_of
from tests.audit.scripted import ref
from tests.site import Site

pytestmark = pytest.mark.anyio

MARKS = PageMarks("0123abcd")


class Visitor:
    """Calls tools as a run of a model does: with arguments that were validated."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.tools: Mapping[str, AITool] = {tool.name: tool for tool in visit.tools}

    async def call(self, name: str, **arguments: Any) -> ToolAnswer:
        tool = self.tools[name]
        return await tool.run(tool.parameters.model_validate(arguments))

    async def call_text(self, name: str, **arguments: Any) -> str:
        answer = await self.call(name, **arguments)
        assert not answer.is_error, answer.text
        return MARKS.unwrap_text(answer.text)


async def visitor(
    page: AuditedPage,
    url: str,
    *,
    origins: Sequence[str] = (),
    secrets: Sequence[str] = (),
    more: Sequence[AIToolDefinition | AITool] = (),
) -> Visitor:
    client = client_of(page)
    looking = await observer_for(page, client)
    origins = origins or [origin_of(url)]
    visit = Visit(page, client, looking, url=url, marks=MARKS, origins=origins, secrets=secrets, more=more)
    await visit.begin()
    return Visitor(visit)


async def test_form_is_filled_and_submitted(any_page: AuditedPage, site: Site) -> None:
    """Each answer shows what came of the call, and no more."""
    done = site.page("<title>Done</title><h1>Thank you")
    url = site.page(
        f"<title>Form</title><h1>Write to us</h1><form action='{done}'>"
        "<label>Name <input id=name></label>"
        "<label>Kind <select id=kind><option>Praise<option>Blame</select></label>"
        "<label><input type=checkbox id=terms> Terms</label><button>Send</button></form>"
        + "<p>Words that do not change.</p>"
        * 30
    )
    tester = await visitor(any_page, url)

    whole = await tester.call_text("getPageStructure")
    filled = await tester.call_text("typeText", target=ref(whole, "textbox", "Name"), text="Ann")
    chosen = await tester.call_text("selectOption", target="#kind", option="Blame")
    ticked = await tester.call_text("clickElement", target="#terms")
    sent = await tester.call("clickElement", target=ref(whole, "button", "Send"))
    back = await tester.call_text("goBack")

    assert whole.splitlines()[0] == f"{url} · Form"
    assert [("Ann" in filled), ("Blame" in chosen), ("checked" in ticked)] == [True] * 3
    assert all(
        len(said) < len(whole) / 2 and "do not change" not in said for said in (filled, chosen, ticked)
    )
    assert ("Thank you" in sent.text, sent.replaces, "Write to us" in back) == (True, True, True)
    assert tester.visit.url.startswith(url)


async def test_keys_go_to_the_focused_element(any_page: AuditedPage, site: Site) -> None:
    url = site.page("<button onclick='this.textContent=\"Pressed\"'>Press</button><a href=/x>Away</a>")
    tester = await visitor(any_page, url)

    for key in ("Tab", "Tab", "Shift+Tab"):
        await tester.call_text("pressKey", key=key)

    assert "Pressed" in await tester.call_text("pressKey", key="Enter")


async def test_new_tab_becomes_the_current_page(any_page: AuditedPage, site: Site) -> None:
    second = site.page("<title>Second</title><h1>There")
    tester = await visitor(any_page, site.page(f"<a href='{second}' target=_blank>Open</a>"))

    displayed = await tester.call_text("clickElement", target="a")

    assert ("There" in displayed, tester.visit.url) == (True, second)


async def test_screenshot_is_taken_at_model_size(any_page: AuditedPage, site: Site) -> None:
    tester = await visitor(any_page, site.page("<h1>Look"))

    answer = await tester.call("captureScreenshot")

    assert answer.picture is not None
    assert (answer.picture.width, answer.picture.type, answer.replaces) == (1024, "jpeg", False)


async def test_long_page_is_truncated_and_a_part_can_be_requested(any_page: AuditedPage, site: Site) -> None:
    items = "".join(f"<li><a href=/{number}>Link number {number}</a>" for number in range(400))
    tester = await visitor(any_page, site.page(f"<ul>{items}</ul><footer><a href=/end>The end</a></footer>"))

    whole = await tester.call_text("getPageStructure")
    part = await tester.call_text("getPageStructure", target="footer")

    # Footlight folds the links, and so shows the end of the page; others cut it off.
    assert len(whole) < 6_500
    assert "lines shown; getPageStructure with a target shows a part" in whole
    assert ("The end" in part, "Link number" in part) == (True, False)


async def test_error_text_is_wrapped_in_page_marks(any_page: AuditedPage, site: Site) -> None:
    tester = await visitor(any_page, site.page("<button>Save"))

    answer = await tester.call("clickElement", target="e999")

    assert (answer.is_error, "e999" in answer.text) == (True, True)
    assert (answer.text.startswith(MARKS.first), answer.text.endswith(MARKS.last)) == (True, True)


async def test_a_dialog_does_not_stop_the_visit(any_page: AuditedPage, site: Site) -> None:
    tester = await visitor(
        any_page, site.page("<button onclick='alert(\"Mind the gap\")'>Warn</button><h1>Here")
    )

    reported = await tester.call_text("clickElement", target="button")
    if "answerDialog" in tester.tools:
        await tester.call_text("answerDialog", accept=True)

    assert "Mind the gap" in reported
    assert "Here" in await tester.call_text("getPageStructure")


async def test_navigation_to_other_sites_is_refused(any_page: AuditedPage, site: Site) -> None:
    """What a page makes a model say leads nowhere else. A link may be followed."""
    elsewhere = site.at("localhost")
    site.page("<h1>Elsewhere", path="/elsewhere")
    url = site.page(f"<a href='{elsewhere}/elsewhere'>Partner</a>")
    tester = await visitor(any_page, url)

    refused = [
        await tester.call("navigateToPage", url=each)
        for each in (
            f"{elsewhere}/elsewhere",
            f"http://127.0.0.1:{site.port}@localhost/",
            "http://127.0.0.1:1/",
        )
    ]
    here = await tester.call("navigateToPage", url=url)
    followed = await tester.call_text("clickElement", target="a")

    refusal = ToolAnswer(
        text=f"Refused: only addresses of {site.url} may be opened. "
        "Links to other sites can be followed by a click.",
        is_error=True,
    )
    assert refused == [refusal] * 3
    assert (here.is_error, "Elsewhere" in followed) == (False, True)


async def test_each_visit_starts_in_a_new_session(page: AuditedPage, site: Site) -> None:
    """A session of its own, of which the model knows nothing."""
    url = site.page(
        "<p id=seen></p><script>seen.textContent = localStorage.n = 1 + +(localStorage.n || 0)</script>"
    )
    tester = await visitor(page, url)
    await tester.visit.begin()

    assert "paragraph: 1" in await tester.call_text("getPageStructure")
    assert all("session" not in str(tool.parameters.model_json_schema()) for tool in tester.visit.tools)


async def test_callers_can_add_their_own_tools(page: AuditedPage, site: Site) -> None:
    """One of the server, which works in the page's session, and one of the caller."""

    async def count(_: ToolInput) -> ToolAnswer:
        return ToolAnswer(text="7")

    own = AITool(name="countStock", description="How many there are", parameters=ToolInput, run=count)
    read = AIToolDefinition(
        mcp_tool_name="read_page",
        ai_tool_name="readPage",
        description="The page's text",
        input_schema=ToolInput,
    )
    tester = await visitor(page, site.page("<title>T</title><h1>Only here"), more=[read, own])

    assert "Only here" in (await tester.call("readPage")).text
    assert await tester.call("countStock") == ToolAnswer(text="7")


async def test_text_typed_into_password_field_is_masked(any_page: AuditedPage, site: Site) -> None:
    url = site.page("<input id=name><input id=password type=password>")
    tester = await visitor(any_page, url)

    await tester.call_text("typeText", target="#name", text="Ann Other")
    await tester.call_text("typeText", target="#password", text="open sesame")

    assert tester.visit.mask("Ann Other says: open sesame") == "Ann Other says: ••••••••"


async def test_secret_not_named_by_a_goal_is_refused(page: AuditedPage, site: Site) -> None:
    """Only those that a goal names."""
    tester = await visitor(page, site.page("<input id=name>"), secrets=["secret:SHOP"])

    refused = await tester.call("typeText", target="#name", text="it is secret:BANK")
    named = await tester.call("typeText", target="#name", text="secret:SHOP")

    assert refused == ToolAnswer(text="Refused: no goal names secret:BANK.", is_error=True)
    assert "no goal names" not in named.text
