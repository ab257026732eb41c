"""Refs stay with their element, pass to its certain successor, and are never guessed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.conftest import SessionBrowser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio


async def ref(browser: SessionBrowser, words: str, **arguments: Any) -> str:
    """Return the last ref before these words, which only one line of the page's snapshot has in it."""
    text = (await browser.call("snapshot", **arguments))["snapshot"]
    lines = [line for line in text.splitlines() if words in line]
    assert len(lines) == 1, text
    return re.findall(r"\b(e\d+) ", lines[0].partition(words)[0])[-1]


async def read_said(browser: SessionBrowser) -> Any:
    return (await browser.call("evaluate", script="window.said ?? null"))["result"]


ONCLICK = 'onclick="window.said = this.id || this.textContent"'


# Everything takes a ref


async def test_every_tool_with_a_selector_accepts_a_ref(browser: SessionBrowser) -> None:
    await browser.show(
        """<h1>Shop</h1><label>Name <input></label><label><input type=checkbox> Agree</label>
        <select aria-label=Size><option>S<option>M</select><button>Save</button>
        <ul aria-label=Basket><li>Tea</ul><div role=region aria-label=Target>here</div>"""
    )
    name, agree = await ref(browser, "textbox"), await ref(browser, "checkbox")

    await browser.call("fill", selector=name, value="Ada")
    await browser.call("type", selector=name, text="!")
    await browser.call("check", selector=agree)
    await browser.call("select", selector=await ref(browser, "combobox"), value="M")
    await browser.call("hover", selector=await ref(browser, "Save"))
    await browser.call(
        "drag_and_drop", source=await ref(browser, "Save"), target=await ref(browser, "Target")
    )

    assert await browser.call("get_value", selector=name) == {"value": "Ada!"}
    assert await browser.call("get_text", selector=await ref(browser, "Shop")) == {"text": "Shop"}
    assert await browser.call("is_visible", selector=name) == {"visible": True}
    assert await browser.call("element_exists", selector=agree) == {"exists": True}
    assert await browser.call("get_all_text", selector=f"{await ref(browser, 'Basket')} >> li") == {
        "texts": ["Tea"]
    }
    assert (await browser.call("find_element", selector=agree))["element"]["tagName"] == "input"
    assert (await browser.call("screenshot_element", selector=name))["format"] == "png"


async def test_refs_in_frames_need_no_frame_selector(browser: SessionBrowser) -> None:
    inner = browser.site.page("<button onclick='this.id = 1'>Pay</button>")
    elsewhere = inner.replace("127.0.0.1", "localhost")
    await browser.show(f"<iframe src='{inner}'></iframe><iframe title=bank src='{elsewhere}'></iframe>")

    text = (await browser.call("snapshot"))["snapshot"]
    own, other = re.findall(r'(e\d+) button "Pay"', text)
    await browser.call("click", selector=own)
    await browser.call("click", selector=other)

    for frame in ("iframe:not([title])", "iframe[title=bank]"):
        clicked = await browser.call("get_attribute", selector=f"{frame} >> button", attribute="id")
        assert clicked == {"value": "1"}
    described = (await browser.call("find_element", selector=other))["element"]
    assert await browser.call("get_text", selector=described["selector"]) == {"text": "Pay"}


# They stay


async def test_ref_stays_with_its_moved_element(browser: SessionBrowser) -> None:
    await browser.show(f"<ul><li><button id=a {ONCLICK}>A</button><li><button id=b {ONCLICK}>B</button></ul>")
    first = await ref(browser, '"A"')
    await browser.call("snapshot", rootSelector="li:nth-child(2)")
    await browser.call(
        "evaluate",
        script="""const a = document.querySelector('#a'); a.remove(); document.body.append(a);
        document.body.insertAdjacentHTML('afterbegin', '<button>New</button>'); return 1""",
    )

    await browser.call("click", selector=first)

    assert await read_said(browser) == "a"
    assert await ref(browser, '"A"') == first


async def test_partial_snapshot_keeps_other_refs_valid(browser: SessionBrowser) -> None:
    await browser.show(f"<main><button id=a {ONCLICK}>A</button></main><nav><button>B</button></nav>")
    first = await ref(browser, '"A"')

    await browser.call("snapshot", rootSelector="nav")
    await browser.call("snapshot", depth=1)
    await browser.call("snapshot", interactive=True)
    await browser.call("click", selector=first)

    assert await read_said(browser) == "a"


async def test_ref_of_one_page_is_refused_in_another(browser: SessionBrowser) -> None:
    await browser.show("<a href='about:blank' target=_blank>Open</a><button>A</button>")
    first = await ref(browser, '"A"')
    opened = (await browser.call("click", selector="a"))["newPages"][0]["pageId"]

    error = await browser.refused("click", selector=first, pageId=opened)

    assert error["code"] == "STALE_REF"
    assert error["message"] == f"{first} is an element of page-1; this call is about {opened}"
    assert error["details"]["pageId"] == "page-1"


# They heal


async def test_refs_of_a_redrawn_list_heal(browser: SessionBrowser) -> None:
    await browser.show(
        f"""<ul></ul><script>function draw(names) {{ document.querySelector('ul').innerHTML = names.map(
        name => `<li><button id=${{name}} {ONCLICK}>Remove ${{name}}</button></li>`).join(''); }}
        draw(['a', 'b', 'c'])</script>"""
    )
    b, c = await ref(browser, "Remove b"), await ref(browser, "Remove c")
    await browser.call("evaluate", script="draw(['c', 'x', 'b'])")

    answer = await browser.call("click", selector=b)

    assert await read_said(browser) == "b"
    assert answer["healed"] == {b: await ref(browser, "Remove b")}
    await browser.call("evaluate", script="draw(['x', 'a'])")
    error = await browser.refused("click", selector=c)
    assert error["code"] == "STALE_REF"
    assert error["details"]["candidates"] == [
        f'{await ref(browser, "Remove x")} button "Remove x"',
        f'{await ref(browser, "Remove a")} button "Remove a"',
    ]
    assert await read_said(browser) == "b"


async def test_equal_buttons_of_a_list_that_is_drawn_again_keep_their_entries(
    browser: SessionBrowser,
) -> None:
    await browser.show(
        """<ul></ul><script>function draw(names) { document.querySelector('ul').innerHTML = names.map(
        name => `<li>${name} <button onclick="window.said = '${name}'">Remove</button></li>`).join(''); }
        draw(['a', 'b', 'c'])</script>"""
    )
    text = (await browser.call("snapshot"))["snapshot"]
    _, b, c = re.findall(r'(e\d+) (?:button )?"Remove"', text)
    await browser.call("evaluate", script="draw(['c', 'x', 'b'])")

    await browser.call("click", selector=b)

    assert await read_said(browser) == "b"
    await browser.call("snapshot")
    await browser.call("evaluate", script="draw(['x', 'a'])")
    assert (await browser.refused("click", selector=c))["code"] == "STALE_REF"


async def test_refs_heal_after_going_back(browser: SessionBrowser) -> None:
    url = (await browser.show(f"<button id=a {ONCLICK}>A</button>"))["url"]
    first = await ref(browser, '"A"')
    await browser.show("<h1>Elsewhere</h1>")
    error = await browser.refused("click", selector=first)
    assert error["code"] == "STALE_REF"
    await browser.call("go_back")

    answer = await browser.call("click", selector=first)

    assert answer["url"] == url
    assert list(answer["healed"]) == [first]
    assert await read_said(browser) == "a"


async def test_different_test_id_prevents_healing(browser: SessionBrowser) -> None:
    await browser.show("<button data-testid=save>Save</button>")
    first = await ref(browser, "Save")
    await browser.show("<button data-testid=store>Save</button>")

    error = await browser.refused("click", selector=first)

    assert error["code"] == "STALE_REF"
    assert error["details"]["candidates"] == [f'{await ref(browser, "Save")} button "Save"']


# They never guess


async def test_ref_does_not_heal_to_an_equal_sibling(browser: SessionBrowser) -> None:
    await browser.show(f"<button id=a {ONCLICK}>Buy</button><p>or</p><button id=b {ONCLICK}>Buy</button>")
    text = (await browser.call("snapshot"))["snapshot"]
    first, second = re.findall(r'(e\d+) button "Buy"', text)
    await browser.call("evaluate", script="document.querySelector('#a').remove()")

    error = await browser.refused("click", selector=first)

    assert error["code"] == "STALE_REF"
    assert error["message"] == (
        f'{first}, button "Buy", is not on the page any more. Candidates: {second} button "Buy"'
    )
    assert error["details"]["candidates"] == [f'{second} button "Buy"']
    assert error["retryable"] is False
    assert await read_said(browser) is None


async def test_ref_with_two_equal_successors_does_not_heal(browser: SessionBrowser) -> None:
    await browser.show(f"<button id=a {ONCLICK}>Buy</button>")
    first = await ref(browser, "Buy")
    await browser.call(
        "evaluate",
        script=f"document.body.innerHTML = `<button {ONCLICK}>Buy</button><button {ONCLICK}>Buy</button>`",
    )

    error = await browser.refused("click", selector=first)

    assert error["code"] == "STALE_REF"
    assert "2 elements are like it now" in error["message"]
    assert len(error["details"]["candidates"]) == 2
    assert await read_said(browser) is None


async def test_candidates_that_are_alike_are_told_with_their_rows(browser: SessionBrowser) -> None:
    await browser.show(
        f"""<table role=table></table><script>function draw(names) {{
          document.querySelector('table').innerHTML =
            names.map(name => `<tr><td>${{name}}<td><button {ONCLICK}>Edit</button>`).join(''); }}
        draw(['Tea', 'Milk'])</script>"""
    )
    text = (await browser.call("snapshot"))["snapshot"]
    [milk] = re.findall(r'"Milk" \| (e\d+) ', text)
    await browser.call("evaluate", script="draw(['Jam', 'Rice'])")

    error = await browser.refused("click", selector=milk)

    assert [each.split(" ", 1)[1] for each in error["details"]["candidates"][:2]] == [
        'button "Edit" in row Jam',
        'button "Edit" in row Rice',
    ]


async def test_ref_does_not_heal_to_an_element_that_existed_before(browser: SessionBrowser) -> None:
    await browser.show(f"<button id=a {ONCLICK}>Save</button><button id=b {ONCLICK}>Cancel</button>")
    first = await ref(browser, "Save")
    await browser.call(
        "evaluate",
        script="document.querySelector('#a').remove(); document.querySelector('#b').textContent = 'Save'; 1",
    )

    error = await browser.refused("click", selector=first)

    assert error["code"] == "STALE_REF"
    assert await read_said(browser) is None


async def test_recycled_virtual_list_row_makes_its_ref_stale(browser: SessionBrowser) -> None:
    """The rows are used again for other entries as the list is scrolled."""
    await browser.show(
        """<ul></ul><script>const rows = Array.from({length: 3}, () =>
          document.querySelector('ul').appendChild(document.createElement('li')));
        function scrollTo(top) { rows.forEach((row, i) => row.innerHTML ||= '<button></button>');
          rows.forEach((row, i) => { const button = row.firstChild; button.textContent = 'Open ' + (top + i);
            button.onclick = () => window.said = button.textContent; }); }
        scrollTo(0)</script>"""
    )
    second = await ref(browser, "Open 1")

    await browser.call("evaluate", script="scrollTo(1); 1")
    error = await browser.refused("click", selector=second)
    now = await ref(browser, "Open 1")
    assert error["code"] == "STALE_REF"
    assert error["details"]["candidates"] == [f'{now} button "Open 1"']

    await browser.call("evaluate", script="scrollTo(50); 1")
    error = await browser.refused("click", selector=now)
    assert error["code"] == "STALE_REF"
    assert error["details"]["candidates"] == []
    assert error["suggestion"].startswith(f"Use {now} again if you mean what it is now")
    assert await read_said(browser) is None

    await browser.call("click", selector=now)
    assert await read_said(browser) == "Open 50"


async def test_unreported_page_change_does_not_change_what_a_ref_means(browser: SessionBrowser) -> None:
    await browser.show("<ul><li><button onclick='window.said = 1'>Open 1</button></ul><h1>Title</h1>")
    first = await ref(browser, "Open 1")
    await browser.call("evaluate", script="document.querySelector('button').textContent = 'Open 2'")
    await browser.call("find", text="Title")

    error = await browser.refused("click", selector=first)
    assert error["code"] == "STALE_REF"
    assert (
        error["message"]
        == f'{first} was button "Open 1" in listitem Open 1 and is now button "Open 2" in listitem Open 2'
    )

    await browser.call("evaluate", script="document.querySelector('button').textContent = 'Open 3'")
    await browser.call("find", text="Open 3")
    await browser.call("click", selector=first)
    assert await read_said(browser) == 1


async def test_button_that_changes_its_label_keeps_its_ref(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='window.said = this.textContent'>Resend in 9 s</button><p>Other</p>")
    first = await ref(browser, "Resend")
    await browser.call("evaluate", script="document.querySelector('button').textContent = 'Resend'")

    await browser.call("click", selector=first)

    assert await read_said(browser) == "Resend"


async def test_unknown_ref_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<button>A</button>")

    error = await browser.refused("click", selector="e999")

    assert error == {
        "code": "STALE_REF",
        "message": "No element has the ref e999, or it is too old",
        "details": {"ref": "e999", "page": error["details"]["page"]},
        "retryable": False,
        "suggestion": "Use the ref of a candidate, or take a new snapshot.",
    }


async def test_stale_ref_is_reported_immediately(browser: SessionBrowser) -> None:
    """Not after the time that a selector has to appear."""
    await browser.show("<button>A</button>")
    first = await ref(browser, '"A"')
    await browser.show("<p>Nothing here</p>")

    error = await browser.refused("click", selector=first, timeout=1_000)

    assert error["code"] == "STALE_REF"


@pytest.mark.slow
async def test_recreated_session_never_reuses_a_ref(site: Site) -> None:
    """Not after it was closed, and its caller's next call makes another under the same name."""
    url = site.page("<button>A</button>")
    async with connect_browser(site) as server:
        browser = SessionBrowser(server, "default")
        await browser.call("navigate", url=url)
        first = await ref(browser, '"A"')
        await browser.call("close_session")
        await browser.call("navigate", url=url)

        error = await browser.refused("click", selector=first)

        assert error["code"] == "STALE_REF"
        assert error["message"] == f"No element has the ref {first}, or it is too old"
        assert await ref(browser, '"A"') != first


@pytest.mark.parametrize(
    ("head", "where"),
    [
        ("<thead><tr><th>Name<th>Do</thead>", "in row"),
        ("<thead><tr><th>No<th>Name<th>Do</thead>", "in row 2"),
        ("", "after"),
    ],
    ids=["a table", "numbered rows", "a layout table"],
)
async def test_recycled_row_is_recognized_by_its_text(browser: SessionBrowser, head: str, where: str) -> None:
    """Its button has the same name in every row. Without a head it is a table for the layout only."""
    await browser.show(
        f"<table>{head}<tbody></tbody></table>"
        """<script>
        const body = document.querySelector('tbody'), at = document.querySelectorAll('th').length > 2 ? 1 : 0;
        function draw(names) { names.forEach((name, i) => {
            const row = body.rows[i] || body.insertRow(); if (!row.cells.length) {
              if (at) row.insertCell().textContent = i + 1;
              row.insertCell(); row.insertCell().innerHTML = '<button>Delete</button>'; }
            row.cells[at].textContent = name;
            row.querySelector('button').onclick = () => window.said = name; });
          while (body.rows.length > names.length) body.deleteRow(-1); }
        draw(['Alice', 'Bob', 'Carol'])</script>"""
    )
    text = (await browser.call("snapshot"))["snapshot"]
    bob = re.findall(r'(e\d+) (?:button )?"Delete"', text)[1]
    await browser.call("evaluate", script="draw(['Bob', 'Carol']); 1")

    error = await browser.refused("click", selector=bob)

    assert error["code"] == "STALE_REF"
    assert error["message"].startswith(
        f'{bob} was button "Delete" {where} Bob and is now button "Delete" {where} Carol'
    )
    assert await read_said(browser) is None


async def test_ref_does_not_heal_to_a_button_of_another_dialog(browser: SessionBrowser) -> None:
    await browser.show("<div role=dialog aria-label='Discard the draft?'><button>OK</button></div>")
    first = await ref(browser, "OK")
    await browser.call(
        "evaluate",
        script="""document.body.innerHTML = `<div role=dialog aria-label="Delete your account?">
        <button onclick="window.said = 1">OK</button></div>`""",
    )

    error = await browser.refused("click", selector=first)

    assert error["code"] == "STALE_REF"
    assert await read_said(browser) is None


async def test_ref_does_not_heal_to_a_button_at_another_url(browser: SessionBrowser) -> None:
    """Nor does a secret go to another origin's field."""
    page = "<button onclick='window.said = 1'>Cancel order</button>"
    await browser.show(f"<h1>Order 1</h1>{page}")
    first = await ref(browser, "Cancel")
    await browser.show(f"<h1>Order 2</h1>{page}")

    error = await browser.refused("click", selector=first)

    assert error["code"] == "STALE_REF"
    assert await read_said(browser) is None


async def test_ref_of_a_hidden_element_does_not_heal(browser: SessionBrowser) -> None:
    """It lives; whoever acts on it is told that it is hidden."""
    await browser.show(
        """<div id=one><button>Continue</button></div>
        <div id=two hidden><button onclick="window.said = 1">Continue</button></div>"""
    )
    first = await ref(browser, "Continue")
    await browser.call("evaluate", script="one.hidden = true; two.hidden = false; 1")
    await browser.call("snapshot")

    error = await browser.refused("click", selector=first, timeout=1_000)

    assert (error["code"], error["details"]["reason"]) == ("ELEMENT_NOT_INTERACTIVE", "hidden")
    assert await read_said(browser) is None


async def test_refs_of_a_partial_snapshot_keep_their_meaning(browser: SessionBrowser) -> None:
    await browser.show("<ul><li><button onclick='window.said = 1'>Bob</button></ul>", observe="none")
    text = (await browser.call("snapshot", rootSelector="ul"))["snapshot"]
    bob = re.findall(r"(e\d+) button", text)[0]
    await browser.call("evaluate", script="document.querySelector('button').textContent = 'Yves'")

    error = await browser.refused("click", selector=bob)

    assert error["code"] == "STALE_REF"
    assert await read_said(browser) is None


@pytest.mark.parametrize("written", ["[ref={}]", "ref={}", "@{}", " {} "])
async def test_refs_accept_the_notations_of_other_tools(browser: SessionBrowser, written: str) -> None:
    await browser.show(f"<button id=a {ONCLICK}>A</button>")

    await browser.call("click", selector=written.format(await ref(browser, '"A"')))

    assert await read_said(browser) == "a"


@pytest.mark.slow
async def test_interrupted_snapshot_never_reuses_a_ref(browser: SessionBrowser) -> None:
    """The page may go on giving refs after nobody waits for them any more."""
    rows = "".join(f"<button>B{number}</button>" for number in range(8_000))
    await browser.show(f"{rows}<h1>End</h1>", observe="none")
    for timeout in (20, 60, 120):
        await browser.answer("snapshot", timeout=timeout)

    text = (await browser.call("snapshot", budget=2_000_000))["snapshot"]

    refs = re.findall(r"^ *(e\d+) ", text, re.MULTILINE)
    assert len(refs) == 8_001
    assert len(set(refs)) == len(refs)
    assert max(int(each[1:]) for each in refs) == 8_001  # What nobody was told of is given again.


async def test_existence_and_visibility_of_a_gone_ref_can_be_checked(browser: SessionBrowser) -> None:
    await browser.show("<button>A</button>")
    first = await ref(browser, '"A"')
    await browser.call("evaluate", script="document.querySelector('button').remove()")

    assert await browser.call("element_exists", selector=first) == {"exists": False}
    assert await browser.call("is_visible", selector=first) == {"visible": False}
    gone = {"selector": first, "state": "detached"}
    assert await browser.call("wait_for_selector", **gone) == gone


ROWS = {
    "fields of a table": "<table><tr><th>Item<th>Qty</tr>{}</table>|"
    "<tr><td><input value={0}><td><input value=1></tr>",
    "texts that can be edited": "<table><tr><th>Item<th>Qty</tr>{}</table>|<tr><td><p contenteditable>{0}</p>"
    "<td><input value=1></tr>",
    "a grid": "<div role=grid>{}</div>|<div role=row><div role=gridcell tabindex=-1><input value={0}></div>"
    "<div role=gridcell tabindex=-1><input value=1></div></div>",
    "a drop-down": "<table><tr><th>Item<th>Qty</tr>{}</table>|"
    "<tr><td><select><option>{0}<option>Rope</select><td><input value=1></tr>",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", ROWS)
async def test_field_value_is_not_part_of_its_row_identity(browser: SessionBrowser, rows: str) -> None:
    around, row = ROWS[rows].split("|")
    await browser.show(around.replace("{}", "".join(row.replace("{0}", name) for name in ("Light", "Lamp"))))
    snapshot = (await browser.call("snapshot"))["snapshot"]
    item, quantity, *_ = re.findall(r"(e\d+)(?: textbox| combobox|:)", snapshot)

    await browser.call("fill_form", fields={item: "Rope", quantity: "5"})
    await browser.call("fill_form", fields={quantity: "5", item: "Rope"})

    assert await browser.call("get_value", selector=quantity) == {"value": "5"}


async def test_field_value_in_a_label_does_not_change_its_checkbox(browser: SessionBrowser) -> None:
    await browser.show(
        "<ul><li><label><input type=checkbox> Flash <input size=2 value=3> times</label>"
        "<li><label><input type=checkbox> Flash <input size=2 value=4> times</label></ul>"
    )
    snapshot = (await browser.call("snapshot"))["snapshot"]
    box, times = re.search(r"(e\d+) checkbox", snapshot), re.search(r"(e\d+) textbox", snapshot)
    assert box
    assert times

    await browser.call("fill", selector=times[1], value="4")
    await browser.call("check", selector=box[1])


async def test_read_only_calls_report_the_current_element_of_a_ref(browser: SessionBrowser) -> None:
    await browser.show("<ul><li><button>Open 1</button></ul>")
    first = await ref(browser, "Open 1")
    await browser.call("evaluate", script="document.querySelector('button').textContent = 'Open 2'")

    assert await browser.call("get_text", selector=first) == {"text": "Open 2"}
    assert (await browser.refused("click", selector=first))["code"] == "STALE_REF"
