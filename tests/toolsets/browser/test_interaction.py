"""Clicking, typing and other actions of a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio

LOG = """<script>
const log = [];
const note = text => log.push(text);
</script>"""


async def read_log(browser: SessionBrowser) -> Any:
    return (await browser.call("evaluate", script="log"))["result"]


# Clicking


@pytest.mark.parametrize(
    ("arguments", "events"),
    [
        ({}, ["click 0 x1"]),
        ({"clickCount": 2}, ["click 0 x1", "click 0 x2", "dblclick 0 x2"]),
        ({"button": "right"}, ["contextmenu 2", "auxclick 2 x1"]),
        ({"button": "middle"}, ["auxclick 1 x1"]),
    ],
)
async def test_click_sends_the_mouse_events_of_a_real_click(
    browser: SessionBrowser, arguments: dict[str, Any], events: list[str]
) -> None:
    url = (
        await browser.show(
            f"""{LOG}<button>Save</button><script>
            for (const type of ['click', 'dblclick', 'auxclick', 'contextmenu'])
              addEventListener(type, event => {{
                event.preventDefault();
                note(`${{type}} ${{event.button}}` + (event.detail ? ` x${{event.detail}}` : ''));
              }});</script>"""
        )
    )["url"]

    assert await browser.call("click", selector="button", **arguments) == {"url": url}
    assert sorted(await read_log(browser)) == sorted(events)


async def test_click_holds_modifiers_down(browser: SessionBrowser) -> None:
    await browser.show(
        """<button onclick="this.textContent = [event.shiftKey, event.altKey, event.ctrlKey]">x</button>"""
    )

    for modifiers, held in ((["Shift", "Alt"], "true,true,false"), (["Control"], "false,false,true")):
        await browser.call("click", selector="button", modifiers=modifiers)
        assert await browser.call("get_text", selector="button") == {"text": held}
    await browser.call("click", selector="button")
    assert await browser.call("get_text", selector="button") == {"text": "false,false,false"}
    error = await browser.refused("click", selector="button", modifiers=["Hyper"])
    assert error["details"]["parameter"] == "modifiers.0"


async def test_a_click_with_control_opens_a_link_in_a_tab(browser: SessionBrowser) -> None:
    there = browser.site.page("<h1>There</h1>")
    url = (await browser.show(f"<a href='{there}'>Go</a>"))["url"]

    done = await browser.call("click", selector="a", modifiers=["ControlOrMeta"])

    assert done["url"] == url
    assert [page["url"] for page in done["newPages"]] == [there]


async def test_click_waits_until_the_element_is_enabled(browser: SessionBrowser) -> None:
    await browser.show(
        """<p>soon</p><script>setTimeout(() => {
          document.body.innerHTML = '<button disabled onclick="this.textContent = 1">go</button>';
          setTimeout(() => document.querySelector('button').disabled = false, 100);
        }, 100)</script>"""
    )

    await browser.call("click", selector="button")

    assert await browser.call("get_text", selector="button") == {"text": "1"}


async def test_click_scrolls_to_the_element(browser: SessionBrowser) -> None:
    await browser.show(
        "<div style='height:5000px'></div><button onclick='this.textContent = 1'>far below</button>"
    )

    await browser.call("click", selector="button")

    assert await browser.call("get_text", selector="button") == {"text": "1"}


async def test_click_on_a_link_returns_the_next_page_url(browser: SessionBrowser) -> None:
    url = browser.site.page("<h1>Next</h1>")
    await browser.show(f"<a href={url}>next</a>")

    assert await browser.call("click", selector="a") == {"url": url}
    assert await browser.call("get_text", selector="h1") == {"text": "Next"}


@pytest.mark.slow
async def test_click_on_a_form_blocked_by_csp_answers_quickly(browser: SessionBrowser) -> None:
    """Chromium reports a navigation there, and blocks it before its request."""
    policy = "<meta http-equiv=Content-Security-Policy content=\"form-action 'none'\">"
    url = (await browser.show(f"{policy}<form action=/next><button>go</button></form>"))["url"]

    assert await browser.call("click", selector="button", timeout=5_000) == {"url": url}


# Typing and filling


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("<input id=f value=ab>", "cd", "abcd"),
        ("<input id=f type=email value=a@b>", ".org", "a@b.org"),
        ("<input id=f type=number value=12>", "34", "1234"),
        ("<input id=f type=password value=p>", "q", "pq"),
        ("<input id=f type=search value=p>", "ä💡", "pä💡"),
        ("<textarea id=f>one\ntwo</textarea>", "!\nthree", "one\ntwo!\nthree"),
        ("<div id=f contenteditable>one <b>two</b></div>", "!", "one two!"),
        ("<input id=f maxlength=3 value=ab>", "cde", "abc"),
        ("<div id=f><input value=x></div>", None, None),
    ],
)
async def test_type_appends_key_by_key(
    browser: SessionBrowser, field: str, text: str | None, value: str | None
) -> None:
    url = (await browser.show(f"{LOG}{field}<script>onkeydown = event => note(event.key)</script>"))["url"]
    if text is None:
        error = await browser.refused("type", selector="#f", text="x")
        assert error["message"] == (
            '"#f" cannot be typed into: it does not take the focus. Use the field inside it: textbox '
            "(input:nth-of-type(1))"
        )
        return

    typed = await browser.call("type", selector="#f", text=text)

    assert typed["url"] == url
    assert ("notice" in typed) == ("maxlength" in field)

    held = await browser.call(
        "evaluate", script="(f => f.value ?? f.innerText)(document.querySelector('#f'))"
    )
    assert held == {"result": value}
    keys = [{"\n": "Enter"}.get(key, key) for key in text if key.isascii()]
    assert [key for key in await read_log(browser) if key != "End"] == keys


async def test_type_delay_separates_the_keys(browser: SessionBrowser) -> None:
    await browser.show(f"{LOG}<input><script>onkeydown = event => note(event.timeStamp)</script>")

    await browser.call("type", selector="input", text="abc", delay=40)

    first, second, third = await read_log(browser)
    assert second - first >= 30
    assert third - second >= 30


@pytest.mark.parametrize(
    ("field", "reason"),
    [("<input id=f readonly>", "it is read-only"), ("<textarea id=f disabled></textarea>", "it is disabled")],
)
async def test_type_refuses_a_field_that_takes_no_text(
    browser: SessionBrowser, field: str, reason: str
) -> None:
    await browser.show(field)

    error = await browser.refused("type", selector="#f", text="x")

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"] == f'"#f" cannot be typed into: {reason}'


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("<input id=f value=old>", "new"),
        ("<input id=f value=old>", ""),
        ("<input id=f type=date>", "2024-02-29"),
        ("<input id=f type=time>", "13:45"),
        ("<input id=f type=datetime-local>", "2024-02-29T13:45"),
        ("<input id=f type=month>", "2024-02"),
        ("<input id=f type=week>", "2024-W09"),
        ("<input id=f type=color>", "#a1b2c3"),
        ("<input id=f type=range min=0 max=10 step=0.5>", "7.5"),
        ("<input id=f type=number value=3>", "-12.5"),
        ("<input id=f type=email value=old>", "new@example.com"),
        ("<textarea id=f>old</textarea>", "one\ntwo"),
        ("<div id=f contenteditable>old <b>text</b></div>", "new text"),
    ],
)
async def test_fill_replaces_the_value_in_every_kind_of_field(
    browser: SessionBrowser, field: str, value: str
) -> None:
    url = (await browser.show(f"{LOG}{field}<script>oninput = () => note('input')</script>"))["url"]

    assert await browser.call("fill", selector="#f", value=value) == {"url": url}

    held = await browser.call(
        "evaluate", script="(f => f.value ?? f.innerText)(document.querySelector('#f'))"
    )
    assert held == {"result": value}
    assert "input" in await read_log(browser)


async def test_fill_reaches_a_field_through_its_label(browser: SessionBrowser) -> None:
    await browser.show("<label>Name <input></label>")

    await browser.call("fill", selector="label", value="Ada")

    assert await browser.call("get_value", selector="input") == {"value": "Ada"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("field", "value", "takes"),
    [
        ("<input id=f type=date value=2020-01-01>", "29/02/2024", "the form 2024-02-29"),
        ("<input id=f type=date value=2020-01-01>", "2023-02-29", "the form 2024-02-29"),
        ("<input id=f type=time value=10:00>", "25:99", "the form 13:45"),
        ("<input id=f type=month value=2020-01>", "Feb", "the form 2024-02"),
        ("<input id=f type=color value=#112233>", "red", "the form #a1b2c3"),
        ("<input id=f type=number value=3>", "1,5", "the form 1234.5"),
        ("<input id=f type=range max=10 value=3>", "77", "a number from 0 to 10"),
        ("<input id=f type=range min=1 max=9 step=2 value=3>", "4", "a number from 1 to 9 in steps of 2"),
    ],
)
async def test_fill_refuses_an_invalid_value_and_keeps_the_old(
    browser: SessionBrowser, field: str, value: str, takes: str
) -> None:
    await browser.show(field)
    before = await browser.call("get_value", selector="#f")

    error = await browser.refused("fill", selector="#f", value=value)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == f'value: "#f" cannot hold "{value}"; it takes {takes}'
    assert error["details"] == {"parameter": "value"}
    assert await browser.call("get_value", selector="#f") == before


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("<input id=f type=number>", "INVALID_PARAMETER"),
        ("<input id=f readonly>", "ELEMENT_NOT_INTERACTIVE"),
        ("<input id=f disabled>", "ELEMENT_NOT_INTERACTIVE"),
        ("<input id=f style='display:none'>", "ELEMENT_NOT_INTERACTIVE"),
        ("<input id=f type=checkbox>", "ELEMENT_NOT_INTERACTIVE"),
        ("<input id=f type=radio>", "ELEMENT_NOT_INTERACTIVE"),
        ("<input id=f type=file>", "ELEMENT_NOT_INTERACTIVE"),
        ("<input id=f type=submit>", "ELEMENT_NOT_INTERACTIVE"),
        ("<select id=f><option>x</select>", "ELEMENT_NOT_INTERACTIVE"),
        ("<p id=f>text</p>", "ELEMENT_NOT_INTERACTIVE"),
    ],
)
async def test_fill_refuses_an_element_that_holds_no_text(
    browser: SessionBrowser, field: str, code: str
) -> None:
    await browser.show(field)

    error = await browser.refused("fill", selector="#f", value="x", timeout=5_000)

    assert error["code"] == code


# Choosing

SIZES = """<select id=s><option value=1>small<option value=2 label=medium>m
<option value=3 disabled>large<option value="">none</select>"""


@pytest.mark.parametrize(
    "field",
    [
        "<input id=it maxlength=3>",
        "<input id=it oninput='this.value = `other`'>",
        "<input id=it onbeforeinput='event.preventDefault()' oninput='this.value = ``'>",
        "<div id=it contenteditable>old</div><script>it.onbeforeinput = e => e.preventDefault()</script>",
        pytest.param(
            "<input id=it type=date value=2020-01-01 oninput='this.value = `2020-01-01`'>", id="date"
        ),
    ],
)
async def test_fill_has_a_notice_when_the_field_holds_another_text(
    browser: SessionBrowser, field: str
) -> None:
    await browser.show(field)

    value = "2024-02-03" if "date" in field else "hello"
    filled = await browser.call("fill", selector="#it", value=value)

    assert filled["notice"] == "the page changed or refused the text: the field holds another"


async def test_each_fill_is_verified_with_its_own_field_and_text(browser: SessionBrowser) -> None:
    await browser.show(
        """<input id=one><input id=short maxlength=3>
        <input id=new oninput='this.outerHTML = `<input id=new value=other>`'>"""
    )
    notices: list[str | None] = []

    # The text for `short` is too long to be verified by the function that the fill before it has left.
    for selector, value in (
        ("#one", "hello"),
        ("#short", "x" * 3_001),
        ("#one", "x" * 3_001),
        ("#new", "hello"),
    ):
        notices.append((await browser.call("fill", selector=selector, value=value)).get("notice"))

    notice = "the page changed or refused the text: the field holds another"
    assert notices == [None, notice, None, notice]


@pytest.mark.parametrize(
    "field", ["<input id=it>", "<textarea id=it></textarea>", "<div id=it contenteditable></div>"]
)
async def test_fill_has_no_notice_when_the_field_holds_the_text(browser: SessionBrowser, field: str) -> None:
    await browser.show(field)

    assert "notice" not in await browser.call("fill", selector="#it", value=" hello\n  you ")


@pytest.mark.parametrize(
    "page",
    [
        "<input id=it><dialog id=d><input id=other></dialog><script>d.showModal()</script>",
        "<input id=it onfocus='other.focus()'><input id=other>",
    ],
)
async def test_fill_of_a_field_that_rejects_focus_changes_nothing(browser: SessionBrowser, page: str) -> None:
    await browser.show(page)

    error = await browser.refused("fill", selector="#it", value="hello")

    assert error["message"] == '"#it" cannot be filled: it does not take the focus'
    assert await browser.evaluate("it.value + other.value") == ""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "field",
    [
        "<input id=it maxlength=3>",
        "<textarea id=it onkeydown='event.preventDefault()'></textarea>",
        "<div id=it contenteditable onbeforeinput='event.preventDefault()'>hello</div>",
        "<input id=it type=number>",
        "<input id=it onkeydown='other.focus()'><input id=other>",
    ],
)
async def test_type_has_a_notice_when_the_text_did_not_arrive(browser: SessionBrowser, field: str) -> None:
    await browser.show(field)

    typed = await browser.call("type", selector="#it", text="hello")

    assert typed["notice"] == "the page changed or refused the text: the field does not end with it"


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("<input id=it value=old>", " hello"),
        ("<input id=it type=date>", "02032024"),
        ("<input id=it onkeydown='if (event.key === `Enter`) this.value = ``'>", "sent\n"),
        ("<div id=it tabindex=0>keys</div>", "jk"),
    ],
)
async def test_type_has_no_notice_when_the_text_arrived(
    browser: SessionBrowser, field: str, text: str
) -> None:
    await browser.show(field)

    assert "notice" not in await browser.call("type", selector="#it", text=text)


async def test_select_returns_the_option_that_the_page_selected_instead(browser: SessionBrowser) -> None:
    page = "<select onchange='this.value = `a`'><option>a<option>b</select>"
    url = (await browser.show(page))["url"]

    assert await browser.call("select", selector="select", value="b") == {"url": url, "selected": ["a"]}


@pytest.mark.parametrize(("value", "selected"), [("2", "2"), ("small", "1"), ("medium", "2"), ("none", "")])
async def test_select_takes_a_value_or_a_label(browser: SessionBrowser, value: str, selected: str) -> None:
    url = (await browser.show(f"{LOG}{SIZES}<script>onchange = () => note(s.value)</script>"))["url"]

    data = await browser.call("select", selector="#s", value=value)

    assert data == {"url": url, "selected": [selected]}
    assert await read_log(browser) == [selected]


async def test_select_in_a_multiple_list_leaves_only_the_chosen_option(browser: SessionBrowser) -> None:
    url = (await browser.show("<select multiple><option selected>a<option selected>b<option>c</select>"))[
        "url"
    ]

    assert await browser.call("select", selector="select", value="c") == {"url": url, "selected": ["c"]}
    chosen = "Array.from(document.querySelector('select').selectedOptions, option => option.value)"
    assert await browser.call("evaluate", script=chosen) == {"result": ["c"]}


async def test_select_waits_for_the_option(browser: SessionBrowser) -> None:
    await browser.show(
        "<select></select><script>setTimeout(() => document.querySelector('select')"
        ".innerHTML = '<option>late', 200)</script>"
    )

    assert (await browser.call("select", selector="select", value="late"))["selected"] == ["late"]


async def test_select_error_lists_the_existing_options(browser: SessionBrowser) -> None:
    await browser.show(SIZES)

    error = await browser.refused("select", selector="#s", value="huge", timeout=1000)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == (
        'value: "#s" has no option "huge"; it has: "small" (1); "medium" (2); "large" (3); "none" ()'
    )
    assert error["details"] == {"parameter": "value", "options": ["1", "2", "3", ""]}


async def test_select_refuses_a_list_behind_a_modal_dialog(browser: SessionBrowser) -> None:
    options = "<option>A<option>B</select>"
    await browser.show(
        f"<select id=behind>{options}<dialog id=d>Sure? <select id=inside>{options}</dialog>"
        "<script>d.showModal()</script>"
    )

    error = await browser.refused("select", selector="#behind", value="B")
    await browser.call("select", selector="#inside", value="B")

    assert (error["code"], error["details"]["reason"]) == ("ELEMENT_NOT_INTERACTIVE", "covered")
    assert await browser.evaluate("[behind.value, inside.value]") == ["A", "B"]


async def test_select_refuses_disabled_options_and_other_elements(browser: SessionBrowser) -> None:
    url = (await browser.show(f"{SIZES}<p>text</p><select id=d disabled><option>z</select>"))["url"]

    option = await browser.refused("select", selector="#s", value="large", timeout=1000)
    assert option["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert option["message"] == '"#s" cannot be used: its option "large" is disabled'
    assert option["details"] == {"selector": "#s", "page": url, "reason": "disabled"}
    for selector, value in (("p", "x"), ("#d", "z")):
        error = await browser.refused("select", selector=selector, value=value, timeout=1000)
        assert error["code"] == "ELEMENT_NOT_INTERACTIVE"


ASKING = """<p id=f role=checkbox aria-checked=false tabindex=0>Agree</p><p id=count>0</p><script>
f.onclick = () => { count.textContent++; setTimeout(() => { f.ariaChecked = f.ariaChecked !== 'true' }, 200) }
</script>"""


async def test_checkbox_with_delayed_state_is_clicked_once(browser: SessionBrowser) -> None:
    await browser.show(ASKING)

    await browser.call("check", selector="#f")
    await browser.call("uncheck", selector="#f")

    assert await browser.evaluate("[count.textContent, f.ariaChecked]") == ["2", "false"]


@pytest.mark.slow
async def test_checkbox_that_does_not_change_is_clicked_only_once(browser: SessionBrowser) -> None:
    await browser.show("<p id=f role=checkbox aria-checked=false tabindex=0 onclick='title += 1'>Agree</p>")

    error = await browser.refused("check", selector="#f")

    assert "did not change its state" in error["message"]
    assert error["suggestion"].startswith("It was clicked once.")
    assert await browser.evaluate("f.title") == "1"


@pytest.mark.parametrize("hidden", ["", "style='position: absolute; opacity: 0; width: 0; height: 0'"])
async def test_unchecking_presses_once(browser: SessionBrowser, hidden: str) -> None:
    await browser.show(
        "<script>presses = []; for (const type of ['mousedown', 'click'])"
        " addEventListener(type, event => event.detail && presses.push(type), true)</script>"
        f"<label style='display: flex'><input type=checkbox id=f checked {hidden}><i>Switch</i></label>"
    )

    await browser.call("uncheck", selector="#f")

    # A label passes its click on to its checkbox, as another click.
    assert await browser.evaluate("[f.checked, ...presses.slice(0, 2)]") == [False, "mousedown", "click"]
    assert await browser.evaluate("presses.lastIndexOf('mousedown')") == 0


MIXED = """<input id=a type=checkbox><input id=b type=checkbox checked>
<div id=c role=checkbox tabindex=0 aria-checked=mixed
 onclick="this.ariaChecked = {mixed: 'true', true: 'false', false: 'true'}[this.ariaChecked]">c</div>
<script>a.indeterminate = b.indeterminate = true</script>"""


async def test_indeterminate_checkbox_can_be_checked_and_unchecked(browser: SessionBrowser) -> None:
    state = "[a, b].map(it => [it.indeterminate, it.checked]).concat([[c.ariaChecked]])"
    for tool, reached in (
        ("check", [[False, True], [False, True], ["true"]]),
        ("uncheck", [[False, False], [False, False], ["false"]]),
    ):
        await browser.show(MIXED)
        for selector in ("#a", "#b", "#c"):
            await browser.call(tool, selector=selector)
        assert await browser.evaluate(state) == reached


@pytest.mark.parametrize(
    "box",
    [
        "<input type=checkbox id=f>",
        "<label id=f><input type=checkbox style='opacity:0'>Agree</label>",
        "<p role=checkbox aria-checked=false id=f onclick=\"ariaChecked = ariaChecked != 'true'\">Agree</p>",
    ],
)
async def test_check_and_uncheck_are_idempotent(browser: SessionBrowser, box: str) -> None:
    url = (await browser.show(box))["url"]
    checked = "(f => (f.control ?? f).checked ?? f.ariaChecked === 'true')(document.querySelector('#f'))"

    for tool, state in (("check", True), ("check", True), ("uncheck", False), ("uncheck", False)):
        assert await browser.call(tool, selector="#f") == {"url": url}
        assert await browser.call("evaluate", script=checked) == {"result": state}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("tool", "box"),
    [
        ("check", "<input id=f>"),
        ("check", "<input id=f type=checkbox disabled>"),
        ("check", "<input id=f type=checkbox onclick='return false'>"),
        ("uncheck", "<input id=f type=radio checked>"),
    ],
)
async def test_unreachable_checkbox_state_is_refused(browser: SessionBrowser, tool: str, box: str) -> None:
    await browser.show(box)

    error = await browser.refused(tool, selector="#f", timeout=1000)

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"


# The mouse and the keys


async def test_hover_moves_the_mouse_over_an_element(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            "<style>b { display: none } p:hover + b { display: block }</style><p>menu</p><b>item</b>"
        )
    )["url"]
    assert await browser.call("is_visible", selector="b") == {"visible": False}

    assert await browser.call("hover", selector="p") == {"url": url}

    assert await browser.call("is_visible", selector="b") == {"visible": True}


async def test_scroll_moves_the_page_and_reports_the_limits(browser: SessionBrowser) -> None:
    await browser.show("<!doctype html><body style='margin:0'><div style='width:3000px;height:5000px'></div>")
    size = "(({clientWidth, clientHeight}) => [clientWidth, clientHeight])(document.documentElement)"
    width, height = (await browser.call("evaluate", script=size))["result"]
    far = {"maxX": 3000 - width, "maxY": 5000 - height}

    assert await browser.call("scroll", y=300) == {"x": 0, "y": 300, **far}
    assert await browser.call("scroll", x=100, y=-50) == {"x": 100, "y": 250, **far}
    assert await browser.call("scroll", y=1e6) == {"x": 100, "y": far["maxY"], **far}
    assert await browser.call("scroll") == {"x": 100, "y": far["maxY"], **far}


async def test_scroll_reports_where_the_listeners_of_the_page_leave_it(browser: SessionBrowser) -> None:
    await browser.show(
        "<div style='height: 5000px'>far</div><div id=box style='height: 99px; overflow: auto'>"
        "<p style='height: 500px'></p></div><script>onscroll = () => { if (scrollY > 100) scrollTo(0, 100) };"
        "box.onscroll = () => { box.scrollTop = 7; box.firstChild.style.height = '800px' }</script>"
    )

    page = await browser.call("scroll", y=400)
    box = await browser.call("scroll", selector="#box", y=50)
    steps = await browser.call("run_steps", steps=[{"tool": "scroll", "arguments": {"y": 400}}])

    assert page["y"] == steps["steps"][0]["data"]["y"] == 100
    assert (box["y"], box["maxY"] > 700) == (7, True)


async def test_scroll_of_a_document_without_root_moves_nothing(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    await browser.evaluate("document.documentElement.remove()")

    assert await browser.call("scroll", y=300) == {"x": 0, "y": 0, "maxX": 0, "maxY": 0}


async def test_scroll_moves_one_box_or_scrolls_an_element_into_view(browser: SessionBrowser) -> None:
    await browser.show(
        "<div id=box style='height:100px;overflow:auto'><div style='height:500px'>in</div></div>"
        "<div style='height:5000px'></div><p id=end>end</p>"
    )

    moved = await browser.call("scroll", selector="#box", y=50)
    assert moved == {"x": 0, "y": 50, "maxX": 0, "maxY": 400}

    await browser.call("scroll", selector="p")
    seen = "(({top, bottom}) => top >= 0 && bottom <= innerHeight)(end.getBoundingClientRect())"
    assert await browser.call("evaluate", script=seen) == {"result": True}


async def test_drag_and_drop_transfers_data(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            """<p id=a draggable=true ondragstart="event.dataTransfer.setData('text', 'cargo')">take</p>
            <p id=b ondragover="event.preventDefault()"
            ondrop="event.preventDefault(); this.textContent = event.dataTransfer.getData('text')">here</p>"""
        )
    )["url"]

    assert await browser.call("drag_and_drop", source="#a", target="#b") == {"url": url}

    assert await browser.call("get_text", selector="#b") == {"text": "cargo"}


@pytest.mark.slow
async def test_drag_and_drop_says_what_covers_the_target(browser: SessionBrowser) -> None:
    await browser.show(
        """<p id=a draggable=true>one</p><div id=b style="height: 90px">two</div>
        <div id=cover style="position: fixed; inset: 60px 0 0 0; background: red">wait</div>"""
    )

    error = await browser.refused("drag_and_drop", source="#a", target="#b", timeout=1500)

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"] == '"#b" cannot be used: covered by <div id="cover"> "wait"'


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("source", "target"), [("#a", "#missing"), ("#missing", "#b")])
async def test_drag_and_drop_error_names_the_missing_element(
    browser: SessionBrowser, source: str, target: str
) -> None:
    await browser.show("<p id=a>take</p><p id=b>here</p>")

    error = await browser.refused("drag_and_drop", source=source, target=target, timeout=2_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["details"]["selector"] == "#missing"


async def test_press_sends_keys_to_the_focused_element(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            f"{LOG}<input autofocus><input>"
            "<script>onkeydown = event => note((event.ctrlKey ? '^' : '') + event.key)</script>"
        )
    )["url"]

    assert await browser.call("press", key="b") == {"url": url}
    await browser.call("press", key="c", modifiers=["Shift"])
    assert await browser.call("get_value", selector="input") == {"value": "bC"}

    await browser.call("press", key="a", modifiers=["Control"])
    await browser.call("press", key="Backspace")
    assert await browser.call("get_value", selector="input") == {"value": ""}

    await browser.call("press", key="Tab")
    await browser.call("press", key="+")
    assert await browser.call("evaluate", script="document.activeElement.value") == {"result": "+"}
    keys = ["b", "Shift", "C", "^Control", "^a", "Backspace", "Tab", "+"]
    assert await read_log(browser) == keys


async def test_enter_submits_a_form(browser: SessionBrowser) -> None:
    url = browser.site.page("<h1>Found</h1>")
    await browser.show(f"<form action={url}><input name=q autofocus value=pears></form>")

    assert await browser.call("press", key="Enter") == {"url": f"{url}?q=pears"}
    assert await browser.call("get_text", selector="h1") == {"text": "Found"}


async def test_unknown_key_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<input autofocus>")

    error = await browser.refused("press", key="Entre")

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == 'key: Unknown key: "Entre". Use a name such as Enter, Tab, ArrowDown or a'
    assert error["details"] == {"parameter": "key"}


# Uploading

READ = """<script>onchange = async event => document.querySelector('output').textContent = JSON.stringify(
  await Promise.all(Array.from(event.target.files, async file => [file.name, await file.text()])))</script>
<output></output>"""


@pytest.fixture
def files(browser: SessionBrowser, tmp_path: Path) -> Path:
    """A folder below the upload root with a.txt and b.txt, and a link from it to the outside."""
    folder = browser.uploads / tmp_path.name
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("first", encoding="utf-8")
    (folder / "b.txt").write_text("sécond", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (folder / "link.txt").unlink(missing_ok=True)
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "html",
    [
        "<input id=f type=file>",
        "<input id=f type=file hidden>",
        "<label id=f>File <input type=file style='display:none'></label>",
        "<input type=file hidden><button id=f onclick='previousSibling.click()'>choose</button>",
    ],
)
async def test_file_is_uploaded_to_any_kind_of_file_chooser(
    browser: SessionBrowser, files: Path, html: str
) -> None:
    url = (await browser.show(html + READ))["url"]

    data = await browser.call("upload_file", selector="#f", files=[str(files / "b.txt")])

    assert data == {"url": url, "files": ["b.txt"]}
    await browser.call("wait_for_selector", selector="output:not(:empty)")
    assert await browser.call("get_text", selector="output") == {"text": '[["b.txt","sécond"]]'}


async def test_several_files_are_uploaded_by_paths_relative_to_the_root(
    browser: SessionBrowser, files: Path
) -> None:
    url = (await browser.show(f"<input type=file multiple>{READ}"))["url"]

    names = [f"{files.name}/a.txt", f"{files.name}/b.txt"]
    data = await browser.call("upload_file", selector="input", files=names)

    assert data == {"url": url, "files": ["a.txt", "b.txt"]}
    await browser.call("wait_for_selector", selector="output:not(:empty)")
    expected = '[["a.txt","first"],["b.txt","sécond"]]'
    assert await browser.call("get_text", selector="output") == {"text": expected}


@pytest.mark.parametrize("way", ["absolute", "by dots", "by link", "system"])
async def test_file_outside_the_upload_root_is_refused(
    browser: SessionBrowser, files: Path, tmp_path: Path, way: str
) -> None:
    paths = {
        "absolute": str(tmp_path / "secret.txt"),
        "by dots": f"{files.name}/../../../{tmp_path.name}/secret.txt",
        "by link": str(files / "link.txt"),
        "system": "/etc/hostname",
    }
    await browser.show(f"<input type=file>{READ}")

    error = await browser.refused("upload_file", selector="input", files=[paths[way]])

    assert error["code"] == "PERMISSION_DENIED"
    assert error["message"] == f"{paths[way]} is outside the folders that files may be uploaded from"
    assert error["details"] == {"file": paths[way]}
    count = await browser.call("evaluate", script="document.querySelector('input').files.length")
    assert count == {"result": 0}


async def test_upload_reports_what_the_input_accepted(browser: SessionBrowser, files: Path) -> None:
    await browser.show(
        """<input id=cleared type=file onchange="value = ''"><input id=disabled type=file disabled>
        <input id=folder type=file webkitdirectory>"""
    )
    file = [str(files / "a.txt")]

    cleared = await browser.call("upload_file", selector="#cleared", files=file)
    disabled = await browser.refused("upload_file", selector="#disabled", files=file)
    folder = await browser.refused("upload_file", selector="#folder", files=file)

    assert cleared["notice"] == "the file input is empty again: the page has taken the files or refused them"
    assert (disabled["code"], disabled["message"]) == (
        "ELEMENT_NOT_INTERACTIVE",
        '"#disabled" cannot be used: disabled',
    )
    assert (folder["code"], folder["message"]) == ("INVALID_PARAMETER", 'files: "#folder" takes a folder')


async def test_upload_error_states_what_the_element_accepts(browser: SessionBrowser, files: Path) -> None:
    url = (await browser.show("<input type=file><button>nothing</button>"))["url"]
    both = [str(files / "a.txt"), str(files / "b.txt")]

    several = await browser.refused("upload_file", selector="input", files=both)
    assert several["code"] == "INVALID_PARAMETER"
    assert several["message"] == 'files: "input" takes one file'

    button = await browser.refused("upload_file", selector="button", files=both[:1], timeout=1_500)
    assert button["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert button["message"] == '"button" is not a file input, and a click on it opened no file chooser'
    assert button["details"] == {"selector": "button", "page": url}


async def test_missing_file_or_folder_is_refused_for_upload(browser: SessionBrowser, files: Path) -> None:
    await browser.show("<input type=file>")

    for path in (files, files / "missing.txt"):
        error = await browser.refused("upload_file", selector="input", files=[str(path)])
        assert error["code"] == "INVALID_PARAMETER"
        assert error["message"] == f"files: {path} is not a file"


async def test_effect_of_an_upload_is_that_of_the_files(browser: SessionBrowser, files: Path) -> None:
    """The files that a field has already, by its button, and none."""
    await browser.show("<input type=file id=f><button onclick='f.click()'>Choose</button>")
    names = [str(files / "b.txt")]
    uploads = [
        {"selector": "#f", "files": names},
        {"selector": "button", "files": names},
        {"selector": "#f", "files": []},
    ]

    for each in uploads:
        content = (await browser.answer("upload_file", **each, observe="diff")).structured_content
        assert content is not None
        assert (content["effect"], content.get("reason")) == ("page", None)


async def test_unknown_key_leaves_no_modifier_down(browser: SessionBrowser) -> None:
    await browser.show("<input onkeydown='last.value = event.ctrlKey' autofocus><output id=last></output>")

    await browser.refused("press", key="Control+Entre")
    await browser.refused("press", key="Entre", modifiers=["Control"])
    await browser.call("press", key="a")

    assert await browser.evaluate("last.value") == "false"
