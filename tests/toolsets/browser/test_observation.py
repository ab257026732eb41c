"""The observation in the answer of an action: what changed, with usable refs, within a budget."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from mcp_types import CallToolResult, ResourceLink, TextContent

from tests.conftest import Browser, SessionBrowser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    """With the defaults of observation."""
    root = tmp_path_factory.mktemp("observing")
    flags = ("--enable-script-evaluation", "--tools", "all", "--state-directory", str(root / "state"))
    async with connect_browser(site, *flags) as browser:
        browser.root = root
        yield browser


@pytest.fixture
async def browser(server: Browser) -> AsyncGenerator[SessionBrowser]:
    session_id = (await server.call("create_session"))["sessionId"]
    yield SessionBrowser(server, session_id)
    await server.client.call_tool("close_session", {"sessionId": session_id})


async def call_observed(browser: SessionBrowser, tool: str, /, **arguments: Any) -> dict[str, Any]:
    content: Any = (await browser.answer(tool, **arguments)).structured_content
    assert content["success"], content
    return content["observation"]


def texts(result: CallToolResult) -> list[str]:
    return [item.text for item in result.content if isinstance(item, TextContent)]


async def test_first_observation_is_the_whole_page(browser: SessionBrowser) -> None:
    url = browser.site.page("<title>Shop</title><h1>Shop</h1><p>Open</p><button>Buy</button>")

    observation = await call_observed(browser, "navigate", url=url)

    assert observation == {
        "kind": "full",
        "url": url,
        "title": "Shop",
        "text": 'e1 h1 "Shop"\nparagraph: Open\ne2 button "Buy"',
    }


async def test_action_reports_changes_with_usable_refs(browser: SessionBrowser) -> None:
    await browser.show(
        """<h1>List</h1><ul aria-label=Names><li>Ada</li><li>Bob</li></ul><p>Some more text around it</p>
        <button onmousedown="event.preventDefault()" onclick="const ul = document.querySelector('ul');
        ul.children[0].remove(); ul.insertAdjacentHTML('beforeend',
        '<li><a href=/c onclick=&quot;document.title=1;return false&quot;>Cleo</a></li>')">Change</button>"""
    )

    observation = await call_observed(browser, "click", selector="button")

    assert observation["kind"] == "diff"
    lines = observation["text"].splitlines()
    assert [re.sub(r"e\d+", "e", line) for line in lines] == [
        '  e list "Names"',
        "-  e listitem",
        '+  listitem: e link "Cleo" -> /c',
    ], observation["text"]
    link = re.search(r"(e\d+) link", observation["text"])
    assert link
    assert (await call_observed(browser, "click", selector=link[1]))["title"] == "1"


@pytest.mark.slow
async def test_a_list_that_is_drawn_anew_says_only_what_is_other(browser: SessionBrowser) -> None:
    """And the refs that the caller has lead to the new elements."""
    await browser.show(
        """<div></div><button onclick="draw()">Refresh</button><script>
        const items = [['Milk', false], ['Tea', false], ['Rice', false]];
        function draw() { document.querySelector('div').innerHTML = `<ul>${items.map(([name, done], i) =>
          `<li><label><input type=checkbox ${done ? 'checked' : ''} onchange="turn(${i})">${name}</label>
          <button onclick="items.splice(${i}, 1); draw()">Delete</button></li>`).join('')}</ul>`; }
        function turn(i) { items[i][1] = !items[i][1]; draw(); }
        draw()</script>"""
    )
    text = (await browser.call("snapshot"))["snapshot"]
    _, tea, rice = re.findall(r'(e\d+) (?:checkbox )?"(?:Milk|Tea|Rice)"', text)

    turned = await call_observed(browser, "click", selector=tea)
    refreshed = await call_observed(browser, "click", selector="text=Refresh")
    again = await call_observed(browser, "click", selector=rice)

    for observation, name in ((turned, "Tea"), (again, "Rice")):
        lines = [re.sub(r"e\d+", "e", line) for line in observation["text"].splitlines()]
        assert f'~  e checkbox "{name}" checked (now checked)' in lines
        assert len(lines) <= 3, lines
    assert "listitem" not in refreshed.get("text", "")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("role", "entry", "sought"),
    [
        ("main", "<h3>${name}</h3><button>Add</button>", "Add"),
        (
            "table",
            "<div role=row><b role=cell>${i}</b><b role=cell>${name}</b><button>Delete</button></div>",
            "Delete",
        ),
        ("main", "<input aria-label=Name value=${name}><button>Delete</button>", "Delete"),
    ],
    ids=["cards", "rows with numbers", "fields"],
)
async def test_refs_of_equal_buttons_do_not_lead_to_other_entries(
    browser: SessionBrowser, role: str, entry: str, sought: str
) -> None:
    """Where the page draws as many entries in another order."""
    await browser.show(
        f"""<div id=all role={role}></div><button onclick="draw(['Tea', 'Milk'])">Sort</button><script>
        function draw(names) {{ all.innerHTML = names.map((name, i) => `{entry}`).join(''); }}
        document.onclick = event => {{ if (event.target.closest('#all')) window.said = 1 }}
        draw(['Milk', 'Tea'])</script>"""
    )
    text = (await browser.call("snapshot"))["snapshot"]
    old = re.findall(rf'(e\d+) (?:button )?"{sought}"', text)
    assert len(old) == 2, text
    await call_observed(browser, "click", selector="text=Sort")

    assert [(await browser.refused("click", selector=each))["code"] for each in old] == ["STALE_REF"] * 2
    assert await browser.evaluate("window.said ?? null") is None


async def test_a_ref_that_leads_to_an_element_drawn_anew_is_reported(browser: SessionBrowser) -> None:
    await browser.show(
        """<ul></ul><button onclick="draw()">Refresh</button><script>function draw() {
        document.querySelector('ul').innerHTML = ['a', 'b'].map(name =>
          `<li>${name} <button onclick="window.said = '${name}'">Remove</button></li>`).join(''); } draw()
        </script>"""
    )
    text = (await browser.call("snapshot"))["snapshot"]
    second = re.findall(r'(e\d+) (?:button )?"Remove"', text)[1]
    await call_observed(browser, "click", selector="text=Refresh")

    answer = await browser.call("click", selector=second)

    assert list(answer["healed"]) == [second]
    assert await browser.evaluate("window.said") == "b"


async def test_multiline_text_diff_shows_only_changed_lines(browser: SessionBrowser) -> None:
    await browser.show(
        f"""<main><pre>a:
    b
    c</pre><textarea aria-label=Code>one
two
three</textarea>{"<p>Some more text around it" * 20}</main>
        <button onmousedown="event.preventDefault()" onclick="
        const text = document.querySelector('pre').firstChild;
        text.data = text.data.replace('    b', '  b');
        document.querySelector('textarea').value = 'one\\n two\\n three\\nfour'">Change</button>"""
    )

    observation = await call_observed(browser, "click", selector="button")

    assert observation["text"].splitlines() == [
        "  e1 main",
        '~  text (line 2 of 3: "  b", was "    b")',
        '~  e2 textbox "Code" (lines 2–4 of 4: " two\\n three\\nfour", was "two\\nthree")',
    ]
    observation = await call_observed(browser, "fill", selector="e2", value="one\n two\nfour")
    assert (
        observation["text"] == '  e1 main\n~  e2 textbox "Code" focused (line 3 of 4 removed, was " three")'
    )


CHROME = """<header><h1>Shop</h1><label>Find <input></label><button>Go</button></header><nav aria-label=Main>
    <a href=/a>Green tea from the hills</a><a href=/b {here}>Coffee</a><a href=/c>Milk in bottles</a>
    <a href=/d>Cake with a lot of cream</a></nav>"""


async def test_unchanged_navigation_is_one_line_on_the_next_page(browser: SessionBrowser) -> None:
    await browser.show(CHROME.format(here="") + "<main>First</main>")
    following = browser.site.page(CHROME.format(here="aria-current=page") + "<main>Second</main>")

    observation = await call_observed(browser, "navigate", url=following)

    assert re.sub(r"e\d+", "e", observation["text"]).splitlines() == [
        "e banner unchanged",
        'e navigation "Main" unchanged',
        ' e link "Coffee" current=page',
        "e main: Second",
    ]
    inside = await browser.call("snapshot", rootSelector=re.findall(r"e\d+", observation["text"])[1])
    assert 'link "Cake with a lot of cream" -> /d' in inside["snapshot"]


async def test_footer_with_a_changed_text_shows_only_that_text(
    browser: SessionBrowser,
) -> None:
    footer = "<footer>Made by <a href=/me>Ada</a> <a href=/law>Law</a> It took {} ms</footer>"
    await browser.show("<main>First</main>" + footer.format(3))
    following = browser.site.page("<main>Second</main>" + footer.format(4))

    observation = await call_observed(browser, "navigate", url=following)

    assert re.sub(r"e\d+", "e", observation["text"]).splitlines() == [
        "e main: Second",
        "e contentinfo unchanged=3",
        ' "It took 4 ms"',
    ]


async def test_same_origin_links_are_paths_and_long_queries_are_shortened(
    browser: SessionBrowser,
) -> None:
    own = browser.site.page("<p>Here", path="/here").removesuffix("/here")
    page = browser.site.page(
        f"<a href={own}/orders>Orders</a><a href={own}.example/x>Other</a>"
        f"<a href='/find?q={'x' * 80}'>Find</a><a href='/shop?id=3&utm_source=mail&fbclid=x#top'>Shop</a>"
        f"<a href='/tea?utm_medium=mail'>Tea</a><a href='/login?next=/tea'>Log in</a>"
        f"<a href='/view?file=/tea'>View</a><a title='{'word ' * 30}' href=/w>Words</a>"
    )

    text = (await call_observed(browser, "navigate", url=page))["text"]

    assert re.sub(r"e\d+", "e", text).splitlines() == [
        'e link "Orders" -> /orders',
        f'e link "Other" -> {own}.example/x',
        'e link "Find" -> /find?…',
        'e link "Shop" -> /shop?id=3#top',
        'e link "Tea" -> /tea',
        'e link "Log in" -> /login?next=…',
        'e link "View" -> /view?file=/tea',
        f'e link "Words" -> /w description "{("word " * 30)[:59]}…"',
    ]


async def test_rows_share_the_budget_and_all_links_are_shown(
    browser: SessionBrowser,
) -> None:
    rows = "".join(f"<tr><td>Customer {n}<td>Some city {n}<td>{n * 7}" for n in range(100))
    links = "".join(f"<li><a href=/{n}>Author {n}</a>" for n in range(9))
    page = browser.site.page(f"<table>{rows}</table><ul>{links}</ul>")

    text = (await call_observed(browser, "navigate", url=page, budget=2000))["text"]

    assert len(text) <= 1500
    assert text.count("Customer ") >= 10
    assert [n for n in range(9) if f'"Author {n}"' not in text] == []


async def test_snapshot_over_budget_omits_known_navigation_first(browser: SessionBrowser) -> None:
    await browser.show(CHROME.format(here="") + "<main>" + "<p>Some words of the page" * 8 + "</main>")

    whole = await browser.call("snapshot")
    shortened = await browser.call("snapshot", budget=500)

    assert "unchanged" not in whole["snapshot"]
    assert 'e5 navigation "Main" unchanged' in shortened["snapshot"]
    assert shortened["snapshot"].count("Some words of the page") == 8


async def test_unchanged_page_is_reported_as_same(browser: SessionBrowser) -> None:
    await browser.show("<p tabindex=0>Only text</p>")
    await call_observed(browser, "hover", selector="p")

    assert await call_observed(browser, "hover", selector="p") == {"kind": "same"}


async def test_change_since_the_last_answer_is_reported_too(browser: SessionBrowser) -> None:
    await browser.show("<p>One</p><p>Two</p><p>Three</p><button>B</button>")
    await browser.call(
        "evaluate", script="setTimeout(() => document.querySelector('p').remove(), 0)", observe="none"
    )
    await browser.call("wait_for_selector", selector="text=One", state="detached")

    assert "One" in (await call_observed(browser, "hover", selector="button"))["text"]


@pytest.mark.parametrize("observe", ["none", "full"])
async def test_observe_option_chooses_what_is_reported(browser: SessionBrowser, observe: str) -> None:
    await browser.show("<h1>Shop</h1><button>Buy</button>")

    content: Any = (await browser.answer("hover", selector="button", observe=observe)).structured_content

    if observe == "none":
        assert "observation" not in content
    else:
        assert content["observation"] == {
            "kind": "full",
            "text": 'e1 h1 "Shop"\ne2 button "Buy"',
        }


async def test_first_action_diffs_against_the_page_before_it(browser: SessionBrowser) -> None:
    await browser.show(
        "<h1>A</h1><p>B</p><p>C</p>"
        "<button onmousedown='event.preventDefault()' onclick='this.after(`new`)'>Add</button>",
        observe="none",
    )

    assert await call_observed(browser, "click", selector="button") == {"kind": "diff", "text": '+ "new"'}


async def test_console_errors_dialogs_and_title_accompany_the_diff(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            """<title>Before</title><button onmousedown="event.preventDefault()"
            onclick="document.title = 'After'; history.pushState({}, '', '?2');
            console.error('went', 'wrong'); alert('Hello'); nothing()">Go</button>"""
        )
    )["url"]

    content: Any = (await browser.answer("click", selector="button")).structured_content

    reported = content["observation"]
    assert (reported["kind"], reported["url"], reported["title"]) == ("same", f"{url}?2", "After")
    assert reported["console"][0].startswith("went wrong")
    assert "nothing is not defined" in reported["console"][1]
    assert [dialog["message"] for dialog in content["data"]["dialogs"]] == ["Hello"]


async def test_page_text_is_separate_from_json_between_random_markers(browser: SessionBrowser) -> None:
    await browser.show('<button>Quote " it</button>')

    answer = await browser.answer("snapshot")

    json, page = texts(answer)
    assert "Quote" not in json
    found = re.fullmatch(r"<page-content (\w+) from=(\S+)>\n(.*)\n</page-content (\w+)>", page, re.DOTALL)
    assert found
    assert found[1] == found[4]
    assert (found[2], found[3]) == (browser.site.url, 'e1 button "Quote \\" it"')


async def test_action_names_the_origin_only_if_neither_the_call_nor_the_answer_before_has(
    browser: SessionBrowser,
) -> None:
    site, other = browser.site.url, browser.site.url.replace("127.0.0.1", "localhost")
    here, there = (browser.site.page(f"<a href='/{each}'>Go {each}</a>") for each in "ab")
    away = browser.site.redirect(there.replace(site, other))

    answers = [
        await browser.answer("navigate", url=here),
        await browser.answer("navigate", url=there),
        await browser.answer("snapshot"),
        await browser.answer("navigate", url=away),
        await browser.answer("navigate", url=there.replace(site, other)),
    ]

    marks = [texts(answer)[1].partition("\n")[0] for answer in answers]
    assert [mark.partition(" from=")[2] for mark in marks] == ["", "", f"{site}>", f"{other}>", ""]


# The budget


async def test_observation_is_truncated_with_a_link_to_the_rest(browser: SessionBrowser) -> None:
    rows = "".join(f"<p>Paragraph {number} says something of its own</p><hr>" for number in range(600))

    answer = await browser.answer("navigate", url=browser.site.page(rows))

    content: Any = answer.structured_content
    reported = content["observation"]
    assert reported["cut"] is True
    assert len(reported["text"]) <= 8_000
    mark = reported["text"].splitlines()[-1]
    found = re.fullmatch(r"… cut: [\d,]+ of 600 lines shown; the whole: (playwright:///answer/\S+)", mark)
    assert found, mark
    [link] = [item for item in answer.content if isinstance(item, ResourceLink)]
    assert (link.uri, link.mime_type) == (found[1], "text/plain")
    [whole] = (await browser.client.read_resource(found[1])).contents
    text: Any = whole
    assert len(text.text.splitlines()) == 600
    assert text.text.startswith("paragraph: Paragraph 0 says")


async def test_call_can_set_its_own_budget(browser: SessionBrowser) -> None:
    rows = "".join(f"<p>Paragraph {number}</p><hr>" for number in range(100))

    observation = await call_observed(browser, "navigate", url=browser.site.page(rows), budget=300)

    assert len(observation["text"]) <= 300
    error = await browser.refused("navigate", url=browser.site.page(rows), budget=10)
    assert error["details"]["expected"]["budget"] == "number"
    assert error["message"].startswith("budget: ")


async def test_runs_of_similar_elements_are_folded(browser: SessionBrowser) -> None:
    await browser.show(
        """<button onmousedown="event.preventDefault()" onclick="const list = document.querySelector('div');
        for (let i = 0; i < 60; i++)
          list.insertAdjacentHTML('beforeend', `<button>Choice ${i}</button>`)">Open</button>
        <p>1</p><p>2</p><p>3</p><p>4</p><p>5</p><p>6</p><p>7</p><div role=group aria-label=Choices></div>"""
    )

    observation = await call_observed(browser, "click", selector="button")

    assert observation["kind"] == "diff"
    assert re.search(r"… 54 more buttons e\d+–e\d+", observation["text"]), observation["text"]
    assert len(observation["text"].splitlines()) < 12


# The tool snapshot


PAGE = """<title>Shop</title><main><h1>Shop</h1><form aria-label=Order>
<label>Name <input value=Ada required></label><label><input type=checkbox checked> Gift</label></form>
<p>Some text</p></main><footer><a href=/about>About</a></footer>"""


async def test_snapshot_shows_roles_names_states_and_refs(browser: SessionBrowser) -> None:
    url = (await browser.show(PAGE, observe="none"))["url"]

    assert await browser.call("snapshot") == {
        "url": url,
        "title": "Shop",
        "snapshot": (
            'e1 main\n e2 h1 "Shop"\n e3 form "Order"\n  e4 textbox "Name" required: Ada\n'
            '  e5 checkbox "Gift" checked\n paragraph: Some text\ne6 contentinfo\n e7 link "About" -> /about'
        ),
    }


async def test_snapshot_in_playwright_yaml_format(browser: SessionBrowser) -> None:
    await browser.show(PAGE, observe="none")

    taken = await browser.call("snapshot", format="yaml", rootSelector="form")

    assert taken["snapshot"].splitlines()[0].startswith('- form "Order"')
    assert "    - textbox" not in taken["snapshot"].splitlines()[0]
    assert 'textbox "Name" [required]' in taken["snapshot"]


async def test_snapshot_in_json_format(browser: SessionBrowser) -> None:
    await browser.show(PAGE, observe="none")

    taken = await browser.call("snapshot", format="json", rootSelector="footer")

    [footer] = taken["nodes"]
    assert footer["role"] == "contentinfo"
    assert footer["children"] == [
        {"role": "link", "ref": footer["children"][0]["ref"], "name": "About", "url": "/about"}
    ]


async def test_snapshot_of_interactive_elements_only(browser: SessionBrowser) -> None:
    await browser.show(PAGE, observe="none")

    text = (await browser.call("snapshot", interactive=True))["snapshot"]

    assert [re.sub(r"e\d+ ", "", line.strip()) for line in text.splitlines()] == [
        'h1 "Shop"',
        'form "Order"',
        'textbox "Name" required: Ada',
        'checkbox "Gift" checked',
        'link "About" -> /about',
    ]


async def test_snapshot_depth_limits_the_levels(browser: SessionBrowser) -> None:
    await browser.show(PAGE, observe="none")

    text = (await browser.call("snapshot", depth=1))["snapshot"]

    assert text.splitlines() == ["e1 main more-inside=5", "e6 contentinfo more-inside=1"]


async def test_snapshot_with_test_ids(browser: SessionBrowser) -> None:
    await browser.show(
        """<button data-testid=pay-now>Pay</button><button>Back</button>
        <button data-testid='odd "one'>Odd</button>"""
    )

    text = (await browser.call("snapshot", testIds=True))["snapshot"]

    assert text.split("\n")[-3:] == [
        'e1 button "Pay" testid=pay-now',
        'e2 button "Back"',
        'e3 button "Odd" "testid=odd \\"one"',
    ]
    assert "testid" not in (await browser.call("snapshot"))["snapshot"]
    assert await browser.call("get_text", selector="testid=pay-now") == {"text": "Pay"}


WRAPPED = """<div data-testid=app><div data-testid=form><div data-testid=field>
<input aria-label=Name data-testid=name></div><p data-testid=help>Any <b>name</b></p></div></div>"""


async def test_test_id_wrappers_are_lines_only_when_requested(
    browser: SessionBrowser,
) -> None:
    await browser.show(WRAPPED, observe="none")

    plain = (await browser.call("snapshot"))["snapshot"]
    whole = (await browser.call("snapshot", testIds=True))["snapshot"]

    assert [line.split()[1] for line in plain.splitlines()] == ["textbox", "paragraph:"]
    assert [line.split("testid=")[1].split()[0] for line in whole.splitlines() if "testid" in line] == [
        *("app", "form", "field", "name", "help:"),
    ]


async def test_elements_focusable_only_by_script_are_left_out(browser: SessionBrowser) -> None:
    await browser.show(
        """<div tabindex=-1><div role=checkbox tabindex=0 aria-label=All><span tabindex=-1></span></div>
        <div tabindex=-1 onclick="title = 1">Press</div><div tabindex=0>Tab</div>
        <div tabindex=-1 id=focused>Here</div></div><script>focused.focus()</script>""",
        observe="none",
    )

    text = (await browser.call("snapshot"))["snapshot"]

    assert [line.split(" ", 1)[1] for line in text.splitlines()] == [
        'checkbox "All"',
        "generic clickable: Press",
        "generic: Tab",
        "generic focused: Here",
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<div id=root></div>",
        "<header><a href=#main>Skip</a><h1>App</h1></header><nav><a href=/a>A</a></nav><main id=root></main>",
        "<div id=root><div role=progressbar aria-label=Loading>0 %</div></div>",
    ],
)
async def test_page_without_content_has_a_loading_notice(browser: SessionBrowser, html: str) -> None:
    answer = (await browser.answer("navigate", url=browser.site.page(html))).structured_content
    before = await browser.call("snapshot")
    await browser.evaluate("root.innerHTML = '<p>Ready</p>'")
    after = await browser.call("snapshot")

    assert answer["observation"]["notice"] == before["notice"]
    assert before["notice"].startswith("No contents are shown yet.")
    assert "notice" not in after


async def test_page_with_content_has_no_loading_notice(browser: SessionBrowser) -> None:
    links = "<a href=#>Start</a><a href=#/help>Help</a>"
    for html in ("<p>Text", "<input>", "<img src=/a.png alt=Map>", "<iframe srcdoc='<p>in'></iframe>", links):
        answer = (await browser.answer("navigate", url=browser.site.page(html))).structured_content
        assert "notice" not in answer["observation"], html


async def test_snapshot_with_bounding_boxes(browser: SessionBrowser) -> None:
    await browser.show(
        "<body style='margin:0'><button style='position:fixed;left:10px;top:20px;width:30px;height:40px'>"
    )

    text = (await browser.call("snapshot", boxes=True))["snapshot"]

    assert text == "e1 button box=10,20,30,40"


async def test_boxes_in_frames_are_relative_to_the_page_viewport(browser: SessionBrowser) -> None:
    inner = browser.site.page("<body style='margin:0'><button style='width:30px;height:40px'>B</button>")
    style = "border:3px solid;padding:7px;position:fixed;left:90px;top:190px"
    await browser.show(f"<body style='margin:0'><iframe style='{style}' src='{inner}'></iframe>")

    text = (await browser.call("snapshot", boxes=True))["snapshot"]

    assert text.splitlines()[-1].endswith('button "B" box=100,200,30,40'), text


async def test_snapshot_masks_passwords(browser: SessionBrowser) -> None:
    await browser.show("<label>Password <input type=password value=hunter2></label>")

    assert (await browser.call("snapshot"))["snapshot"] == 'e1 textbox "Password": ••••••••'


@pytest.mark.slow
async def test_snapshot_names_frames_left_out_above_the_limit(browser: SessionBrowser) -> None:
    await browser.show("<iframe srcdoc='<p>inside'></iframe>" * 104, observe="none")

    lines: list[str] = []
    for _ in range(10):  # A busy machine takes too long for all of them at once.
        lines = (await browser.call("snapshot", budget=100_000))["snapshot"].splitlines()
        if lines.count(" paragraph: inside") == 99:
            break

    assert lines.count(" paragraph: inside") == 99
    assert [line for line in lines if "left out" in line] == [
        ' "… 5 frames from here on are left out: a snapshot has at most 100 frames"'
    ]


async def test_frame_content_is_included_in_the_snapshot(browser: SessionBrowser) -> None:
    deepest = browser.site.page("<button>Deep</button>").replace("127.0.0.1", "localhost")
    inner = browser.site.page(f"<p>Inner</p><iframe title=deep src='{deepest}'></iframe>")
    await browser.show(f"<h1>Outer</h1><iframe title=inner src='{inner}'></iframe><p>After</p>")

    text = (await browser.call("snapshot"))["snapshot"]

    assert [re.sub(r"e\d+ ", "", line) for line in text.splitlines()] == [
        'h1 "Outer"',
        'iframe "inner"',
        " paragraph: Inner",
        ' iframe "deep"',
        '  button "Deep"',
        "paragraph: After",
    ]


async def test_missing_snapshot_root_is_reported(browser: SessionBrowser) -> None:
    await browser.show(PAGE)

    error = await browser.refused("snapshot", rootSelector="#none", timeout=2_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"


# The tool find


async def test_find_by_text_shows_the_match_with_its_ancestors(browser: SessionBrowser) -> None:
    await browser.show(PAGE, observe="none")

    found = await browser.call("find", text="gift")

    assert found == {
        "count": 1,
        "matches": 'e1 main\n e3 form "Order"\n  e5 checkbox "Gift" checked',
    }


async def test_find_by_regular_expression(browser: SessionBrowser) -> None:
    await browser.show("<ul>" + "".join(f"<li>Order {number}</li>" for number in range(30)) + "</ul>")

    found = await browser.call("find", regex=r"Order \d$", limit=3)

    assert found["count"] == 10
    assert found["cut"] is True
    assert [re.sub(r"e\d+ ", "", line) for line in found["matches"].splitlines()] == [
        "listitem: Order 0",
        "listitem: Order 1",
        "listitem: Order 2",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "find takes either text or regex"),
        ({"text": "a", "regex": "b"}, "find takes either text or regex"),
        ({"regex": "("}, "regex: missing ): (; the syntax is RE2"),
    ],
)
async def test_invalid_find_arguments_are_refused_with_reason(
    browser: SessionBrowser, arguments: dict[str, Any], message: str
) -> None:
    await browser.show(PAGE)

    assert (await browser.refused("find", **arguments))["message"].startswith(message)


async def test_find_without_match_returns_nothing(browser: SessionBrowser) -> None:
    await browser.show(PAGE)

    assert await browser.call("find", text="Elephant") == {"count": 0, "matches": ""}


# Beside the page


async def test_a_page_that_closes_itself_is_reported(browser: SessionBrowser) -> None:
    await browser.show("<a href='about:blank' target=_blank>Open</a>")
    opened = (await browser.call("click", selector="a"))["newPages"][0]["pageId"]
    page = browser.site.page("<button onclick='window.close()'>Close</button>")
    await browser.call("navigate", url=page, pageId=opened)

    closed = await browser.call("click", selector="button", pageId=opened)

    assert closed["closedPages"] == [opened]


async def test_wait_for_reports_the_element_that_appeared(browser: SessionBrowser) -> None:
    """And an element that is hidden is not the one that was waited for."""
    await browser.show(
        """<h1>A</h1><p>B</p><ul class=menu hidden></ul>
        <ul class=menu style="display:none"><li>Chosen</li></ul>
        <button onmousedown="event.preventDefault()" onclick="setTimeout(() =>
        document.querySelectorAll('.menu')[1].style.display = '', 300)">Open</button>"""
    )
    await browser.call("click", selector="button", settle="none")

    observation = await call_observed(browser, "wait_for", selector=".menu")

    assert observation["kind"] == "diff"
    assert "Chosen" in observation["text"]


@pytest.mark.parametrize("after", ["{}", "setTimeout(() => {}, 0)", "fetch('/').then(() => {})"])
async def test_reported_url_includes_history_push_state(browser: SessionBrowser, after: str) -> None:
    push = after.replace("{}", "{ history.pushState(0, '', '/pushed') }")
    await browser.show(f"<button>Go</button><script>onclick = () => {{ {push} }}</script>")

    answer = await browser.call("click", selector="button")

    assert answer["url"].endswith("/pushed")


async def test_console_errors_of_the_previous_page_are_not_reported(browser: SessionBrowser) -> None:
    other = browser.site.page("<h1>Next</h1><script>console.error('of the next')</script>")
    await browser.show(
        """<script>addEventListener('pagehide', () => console.error('goodbye'));
        window.late = new Promise(done => setTimeout(() => done(console.error('late')), 1));</script>"""
    )
    await browser.call("evaluate", script="window.late")

    answer = await browser.answer("navigate", url=other, observe="diff")

    assert answer.structured_content is not None
    errors = answer.structured_content["observation"]["console"]
    assert [error.partition(" (")[0] for error in errors] == ["of the next"]


async def test_diff_after_closing_a_dialog_shows_only_real_changes(browser: SessionBrowser) -> None:
    rows = "".join(f"<tr><td>{number}<td>Item {number}<td><button>Delete</button>" for number in range(5))
    await browser.show(
        f"""<table><tr><th>No<th>Name<th>Action{rows}</table><p id=count>5 items</p>
        <dialog id=sure><p>Sure?</p><button id=yes>Yes</button><button id=no>No</button></dialog><script>
        let row;
        document.querySelector('table').onclick = event => {{
          row = event.target.closest('tr'); sure.showModal() }};
        yes.onclick = () => {{ row.remove(); count.textContent = '4 items'; sure.close() }};
        no.onclick = () => sure.close();</script>"""
    )
    opened = await call_observed(browser, "click", selector="button >> nth=2")

    again = await call_observed(browser, "click", selector="#no")
    await browser.call("click", selector="button >> nth=2")
    gone = await call_observed(browser, "click", selector="#yes")

    assert opened["text"].splitlines()[0].endswith("dialog modal")
    assert again["kind"] == gone["kind"] == "diff"
    assert unnumbered(again["text"]) == (
        '  e row (row "2")\n~  e button "Delete" focused\n- e dialog (3 inside)'
    )
    assert unnumbered(gone["text"]) == (
        '  e table\n-  e row "2 Item 2" (4 inside)\n'
        '~ paragraph: 4 items (text was "5 items")\n- e dialog (3 inside)'
    )


@pytest.mark.slow
async def test_page_behind_a_menu_is_not_repeated_when_the_menu_closes(browser: SessionBrowser) -> None:
    """The page makes everything else inert while the menu has the focus."""
    await browser.show(
        """<main id=page style="height: 400px"><h1>Team</h1><p>One</p><p>Two</p><p>Three</p></main>
        <button id=go aria-haspopup=menu>Options</button>
        <div role=menu id=menu tabindex=-1 hidden><div role=menuitem id=item>Settings</div></div><script>
        go.onclick = () => { menu.hidden = false; page.inert = true; menu.focus(); };
        item.onclick = () => { menu.hidden = true; page.inert = false; page.append('Done'); };</script>""",
        observe="full",
    )

    opened = await call_observed(browser, "click", selector="#go")
    refused = await browser.refused("click", selector="h1")
    closed = await call_observed(browser, "click", selector="#item")

    assert "menu focused modal" in unnumbered(opened["text"])
    assert refused["message"].endswith('; the key Escape may close menu "Settings" (#menu)')
    assert unnumbered(closed["text"]) == '  e main\n+  "Done"\n- e menu (1 inside)'


async def test_many_removed_rows_are_summarized_in_one_line(browser: SessionBrowser) -> None:
    rows = "".join(f"<tr><td>{number}<td>Order {number}" for number in range(60))
    await browser.show(
        f"""<table><tr><th>No<th>Name{rows}</table><button id=two>Two</button><button id=many>Many</button>
        <script>
        const take = numbers => {{
          const rows = [...document.querySelectorAll('tr')];
          for (const number of numbers) rows[number].remove();
        }};
        two.onclick = () => take([1, 3]);
        many.onclick = () => take([...Array(22).keys()].slice(1));</script>"""
    )

    two = await call_observed(browser, "click", selector="#two")
    many = await call_observed(browser, "click", selector="#many")

    assert unnumbered(two["text"]).splitlines()[1:3] == [
        '-  e row "0 Order 0" (2 inside)',
        '-  e row "2 Order 2" (2 inside)',
    ]
    names = [f'"{number} Order {number}"' for number in (1, *range(3, 22))]
    assert unnumbered(many["text"]).splitlines()[1] == f"-  21 rows: {' | '.join(names)} | … 1 more"


@pytest.mark.parametrize(("head", "column"), [("th", "column"), ("td", "below")])
async def test_changed_unnamed_field_is_named_by_row_and_column(
    browser: SessionBrowser, head: str, column: str
) -> None:
    """A table without headers may have the names of its columns in its first row, or not."""
    await browser.show(
        f"""<table role=table><tr><{head}>Product<{head}>Price<{head}>Stock
        <tr><td>Rope<td><input id=p1><td><input id=s1>
        <tr><td>Tape<td><input id=p2><td><input id=s2></table>"""
    )

    observation = await call_observed(browser, "fill", selector="#s2", value="12")

    assert unnumbered(observation["text"]) == (
        f'  e row (row "Tape")\n~  e textbox focused hint "#s2": 12 ({column} "Stock", was "")'
    )


async def test_rows_with_boxes_are_known_by_their_words_and_columns(browser: SessionBrowser) -> None:
    box = "<input type=checkbox aria-label='Select row'>"
    await browser.show(
        f"""<table><tr><td><input type=checkbox aria-label='Select all'><th scope=col>Name<th scope=col>Stock
        <tr><td>{box}<td>Rope<td><input id=s1><tr><td>{box}<td>Tape<td><input id=s2></table>
        <button onclick="document.querySelectorAll('tr')[1].remove()">Go</button>"""
    )

    filled = await call_observed(browser, "fill", selector="#s2", value="12")
    gone = await call_observed(browser, "click", selector="button")

    assert unnumbered(filled["text"]) == (
        '  e row (row "Tape")\n~  e textbox focused hint "#s2": 12 (column "Stock", was "")'
    )
    assert '-  e row "Rope" (5 inside)' in unnumbered(gone["text"])


def unnumbered(text: str) -> str:
    return re.sub(r"\be\d+", "e", text)


async def test_url_that_the_page_changed_by_itself_is_told_once(browser: SessionBrowser) -> None:
    """The text of an action leaves out only a URL that an earlier one has told."""
    await browser.show("<button>Go</button><p id=state>before</p>")
    moves = """void setTimeout(() => {
        history.pushState(null, "", "/moved"); document.querySelector("#state").textContent = "after"
    }, 300)"""
    moving = await browser.answer("evaluate", script=moves)
    while await browser.call("get_text", selector="#state") != {"text": "after"}:
        pass

    clicks = [await browser.answer("click", selector="button") for _ in range(2)]

    told = ['/moved"' in texts(answer)[0] for answer in (moving, *clicks)]
    assert told in ([False, True, False], [True, False, False])
