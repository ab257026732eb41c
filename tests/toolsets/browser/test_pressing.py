"""A press of the mouse reaches the element that it is meant for, or the answer says that it did not."""

from __future__ import annotations

import asyncio

import pytest

from tests.conftest import Browser, SessionBrowser, run_in_sessions

pytestmark = pytest.mark.anyio


async def test_element_that_collapses_under_the_mouse_is_still_clicked(
    browser: SessionBrowser,
) -> None:
    """Whatever its picture does, a click that is told as done has arrived, and arrived once."""
    await browser.show(
        """<style>.away { width: 0; height: 0 }</style><p>above</p>
        <span id=it style="display: inline-block; width: 40px; height: 40px; overflow: hidden"></span>
        <p>below</p><script>
        window.clicks = [];
        document.addEventListener('click', event => clicks.push(event.target.id), true);
        document.addEventListener('mousedown', event => clicks.push('down ' + event.target.id), true);
        // As a picture does that is loaded for `:hover`: gone when the mouse is there, back a little later.
        it.addEventListener('mousemove', () => {
          it.style.display = 'none';
          setTimeout(() => { it.style.display = 'inline-block'; }, 60);
        }, {once: true});
        </script>"""
    )

    assert "notice" not in await browser.call("click", selector="#it")
    assert await browser.evaluate("clicks") == ["down it", "it"]


@pytest.mark.slow
async def test_element_that_evades_the_mouse_is_reported_and_not_clicked(
    browser: SessionBrowser,
) -> None:
    await browser.show(
        """<p id=below style="position: absolute; top: 0; width: 300px; height: 200px">below</p>
        <button id=shy style="position: absolute; top: 50px">Catch me</button><script>
        window.pressed = [];
        for (const type of ['pointerdown', 'mousedown', 'click'])
          document.addEventListener(type, event => pressed.push(type));
        shy.addEventListener('mousemove', () => { shy.style.top = '400px'; });
        addEventListener('pointerup', () => setTimeout(() => { shy.style.top = '50px'; }, 30), true);
        </script>"""
    )

    for _ in range(3):
        error = await browser.refused("click", selector="#shy", timeout=4_000)
        # If the time limit falls into a press, nobody knows whether it was done.
        if not error["details"].get("dispatched"):
            break

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"].startswith('"#shy" cannot be used: at each try, the mouse was over <p id="below"')
    assert error["message"].endswith("; nothing was done")
    assert await browser.evaluate("pressed") == []
    await browser.call("mouse_click", x=20, y=150)
    assert await browser.evaluate("pressed") == ["pointerdown", "mousedown", "click"]


async def test_element_behind_a_vanished_one_is_not_clicked(
    browser: SessionBrowser,
) -> None:
    await browser.show(
        """<button id=behind style="position: absolute; top: 0; width: 200px; height: 100px">Delete</button>
        <button id=shy style="position: absolute; top: 40px">Keep</button><script>
        window.clicks = 0;
        behind.onclick = () => clicks++;
        shy.onmouseover = () => shy.remove();
        </script>"""
    )

    error = await browser.refused("click", selector="#shy", timeout=1500)

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"].endswith("; nothing was done")
    assert await browser.evaluate("clicks") == 0


async def test_element_redrawn_on_mouse_move_is_clicked_once(
    browser: SessionBrowser,
) -> None:
    await browser.show(
        """<div id=place></div><script>
        window.clicks = 0;
        const draw = () => { place.innerHTML = '<button id=it onclick=clicks++>Save</button>'; };
        place.addEventListener('mousemove', draw);
        draw();
        </script>"""
    )

    assert "notice" not in await browser.call("click", selector="#it")
    assert await browser.evaluate("clicks") == 1


async def test_element_that_moves_during_the_press_has_a_notice(browser: SessionBrowser) -> None:
    """As where a field that loses the focus tells what is wrong, and moves the button away from the mouse."""
    await browser.show(
        """<input id=mail autofocus><div id=wrong></div><button id=send>Send</button><script>
        window.sent = 0;
        send.onclick = () => sent++;
        mail.onblur = () => { wrong.style.height = '200px'; };
        mail.focus();
        </script>"""
    )

    moved = await browser.call("click", selector="#send")
    again = await browser.call("click", selector="#send")

    assert moved["notice"].startswith("the element moved while the button was down: it was pressed, ")
    assert "notice" not in again
    assert await browser.evaluate("sent") == 1


async def test_press_that_opens_a_modal_menu_has_no_notice(browser: SessionBrowser) -> None:
    """The menu takes the mouse from the rest of the page at once, so the click goes to the page itself."""
    await browser.show(
        """<button id=it aria-expanded=false onpointerdown="this.ariaExpanded = 'true';
        document.body.style.pointerEvents = 'none'; menu.hidden = false">Actions</button>
        <div id=menu role=menu style="pointer-events: auto" hidden><div role=menuitem>Delete</div></div>"""
    )

    assert "notice" not in await browser.call("click", selector="#it")
    assert await browser.evaluate("menu.hidden") is False


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "html",
    [
        "<button id=it onmousedown='this.outerHTML = `<b id=done>x</b>`'>replaced by its press</button>",
        "<button id=it onclick='this.remove(); done()'>removed by its click</button>",
        "<label id=it>A label <input type=checkbox onchange=done()></label>",
        "<button id=outer onclick=done()><span id=it>inside a button</span></button>",
        "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML ="
        " '<button id=it onclick=done()>in a shadow tree</button>'</script>",
        "<x-y><span id=it onclick=done() slot=s>in a slot</span></x-y><script>document.querySelector('x-y')"
        ".attachShadow({mode: 'open'}).innerHTML = '<p><slot name=s></slot></p>'</script>",
        "<div id=it onclick=done() style='display: contents'>without a box</div>",
        "<svg width=50 height=50><rect id=it width=50 height=50 onclick=done() /></svg>",
        "<select size=3 onchange=done()><option>one<option id=it>two</select>",
    ],
)
async def test_indirectly_received_click_has_no_notice(browser: SessionBrowser, html: str) -> None:
    await browser.show(
        "<script>window.done = () => document.body.append(Object.assign(document.createElement('i'),"
        f" {{id: 'done'}}))</script>{html}"
    )

    assert "notice" not in await browser.call("click", selector="#it")
    assert await browser.evaluate("document.querySelectorAll('#done').length") == 1


async def test_click_in_a_frame_is_verified_there(browser: SessionBrowser) -> None:
    inner = browser.site.page(
        """<p>above</p><button id=it style="position: absolute; top: 60px"
        onclick="document.title = 'clicked'">x</button><script>it.addEventListener('mousemove', () => {
          it.style.top = '100px';
        }, {once: true})</script>"""
    )
    await browser.show(f"<iframe src={inner} height=200></iframe>")

    await browser.call("click", selector="iframe >> #it")

    script = "document.querySelector('iframe').contentDocument.title"
    assert await browser.evaluate(script) == "clicked"


TRACK = "display: inline-block; width: 52px; height: 24px; background: grey"
HIDDEN = "position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip: rect(0 0 0 0)"


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "toggle",
    [
        f"<label><div style='{TRACK}'><input type=checkbox style='{HIDDEN}'></div></label>",
        "<label><input type=checkbox style='opacity: 0; width: 0; height: 0'>"
        f"<span style='{TRACK}'></span></label>",
        "<input type=checkbox id=c style='display: none'><label for=c>Dark mode</label>",
        "<input type=checkbox id=c style='visibility: hidden'><label for=c>Dark mode</label>",
        "<label><input type=checkbox hidden><a href=/terms>The terms of it</a> <b>I agree</b></label>",
        f"<label style='display: block; margin-top: 3e3px'><input type=checkbox style='{HIDDEN}'>low</label>",
    ],
)
@pytest.mark.parametrize("tool", ["click", "check", "fill_form"])
async def test_styled_toggle_is_clicked_through_its_label(
    browser: SessionBrowser, toggle: str, tool: str
) -> None:
    url = (await browser.show(toggle))["url"]
    arguments = {"fields": {"input": True}} if tool == "fill_form" else {"selector": "input"}

    answer = await browser.call(tool, timeout=4000, **arguments)

    assert answer["url"] == url
    assert await browser.evaluate("document.querySelector('input').checked") is True


async def test_visible_checkbox_is_clicked_directly(browser: SessionBrowser) -> None:
    await browser.show(
        "<label>All of it <input type=checkbox onmousedown=\"document.title = 'itself'\"></label>"
    )

    await browser.call("click", selector="input")

    assert await browser.evaluate("document.title") == "itself"


async def test_picture_is_clicked_where_its_map_has_an_area(browser: SessionBrowser) -> None:
    await browser.show(
        """<img id=it usemap=#m width=200 height=100><map name=m>
        <area shape=default href=# onclick="document.title += '+'"></map>"""
    )

    assert "notice" not in await browser.call("click", selector="#it", timeout=3_000)
    assert "notice" not in await browser.call("click", selector="#it", clickCount=2, timeout=3_000)
    assert await browser.evaluate("document.title") == "+++"


BEHIND = "<button id=pay onclick=\"document.title = 'paid'\">Pay</button>"


COVERS = [
    (
        "<div style='position: fixed; inset: 0; background: #0008'><p>Cookies</p><button>More</button>"
        "<button id=all>Accept all</button></div>",
        'button "Accept all" (#all)',
    ),
    (
        "<div style='position: fixed; inset: 0; background: #0008'></div>"
        "<div role=dialog style='position: fixed; top: 50%; left: 40%'>"
        "<a href=#>Terms</a><button id=x aria-label=Close>×</button></div>",
        'button "Close" (#x)',
    ),
    (
        "<dialog id=d>Sure?<button id=no>Cancel</button></dialog><script>d.showModal()</script>",
        'button "Cancel" (#no)',
    ),
    (
        "<div style='position: fixed; inset: 0; background: #fff'><p>News? See the <a href=/about>details</a>"
        "</p><button>Yes, tell me</button><button id=not>No, do not tell me</button></div>",
        'button "No, do not tell me" (#not)',
    ),
]
"""Covers that stay, and the element that closes each."""


async def test_lasting_cover_is_reported_long_before_the_time_limit(shared_browser: Browser) -> None:
    async def press(browser: SessionBrowser, case: tuple[str, str]) -> None:
        await browser.show(BEHIND + case[0])
        error = await browser.refused("click", selector="#pay", timeout=120_000)
        assert error["message"].endswith(f"; {case[1]} may close it")

    async with asyncio.timeout(60):
        await run_in_sessions(shared_browser, press, COVERS[:2])


@pytest.mark.slow
async def test_cover_is_reported_with_the_element_that_closes_it(shared_browser: Browser) -> None:
    await run_in_sessions(shared_browser, press_below_cover, COVERS)


async def press_below_cover(browser: SessionBrowser, case: tuple[str, str]) -> None:
    cover, closer = case
    await browser.show(BEHIND + cover)

    error = await browser.refused("click", selector="#pay")

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"].endswith(f"; {closer} may close it")
    await browser.call("click", selector=closer.partition("(")[2].removesuffix(")"))


@pytest.mark.slow
async def test_open_menu_over_an_element_suggests_the_escape_key(browser: SessionBrowser) -> None:
    await browser.show(
        "<a href=#main>Skip to main</a><my-button id=host></my-button>"
        "<div id=menu style='position: fixed; inset: 0'><ul role=menu><li role=menuitem>New</ul></div>"
        "<script>host.attachShadow({mode: 'open'}).innerHTML = '<button>Upload</button>';"
        "onkeydown = event => event.key === 'Escape' && menu.remove()</script>"
    )

    error = await browser.refused("click", selector="role=button[name=Upload]", timeout=1_000)

    assert error["message"].endswith("; the key Escape may close it")
    await browser.call("press", key="Escape")
    await browser.call("click", selector="role=button[name=Upload]")


@pytest.mark.slow
async def test_temporary_cover_is_waited_for(browser: SessionBrowser) -> None:
    await browser.show(
        f"""{BEHIND}<div id=busy style="position: fixed; inset: 0; background: #0008">Loading …</div><script>
        setTimeout(() => busy.remove(), 3500);</script>"""
    )

    await browser.call("click", selector="#pay")

    assert await browser.evaluate("document.title") == "paid"


@pytest.mark.parametrize("tool", ["type", "fill"])
async def test_wrapper_error_names_the_field_inside(browser: SessionBrowser, tool: str) -> None:
    await browser.show("<div id=wrapper><label for=amount>Amount</label><input id=amount></div>")
    what = {"text": "5"} if tool == "type" else {"value": "5"}

    error = await browser.refused(tool, selector="#wrapper", **what)

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"].endswith('. Use the field inside it: textbox "Amount" (#amount)')


EDITOR = """<div class=editor style="height: 60px">
  <div style="overflow: hidden; position: relative; width: 3px; height: 0">
  <textarea id=keys style="position: absolute; width: 1000px; height: 1em; padding: 0"></textarea></div>
  <pre id=shown>old text</pre></div><script>
  // As CodeMirror 5 does: the field hears the keys, and the text is elsewhere.
  let all = false;
  keys.onkeydown = event => {
    if (event.ctrlKey && event.key === 'a') { all = true; keys.value = shown.textContent; }
    if (event.key === 'Delete' && all) { shown.textContent = ''; all = false; }
  };
  keys.oninput = () => {
    shown.textContent = all ? keys.value : keys.value + shown.textContent;
    all = false;
    keys.value = '';
  };</script>"""


async def test_filling_an_editor_replaces_its_text(browser: SessionBrowser) -> None:
    await browser.show(EDITOR)
    for text in ("new\ntext that is longer", "again", ""):
        content = (
            await browser.answer("fill", selector="#keys", value=text, observe="diff")
        ).structured_content
        assert content is not None
        assert content["success"]
        assert "reason" not in content
        assert await browser.evaluate("shown.textContent") == text


async def test_hidden_field_of_a_terminal_receives_only_the_typed_keys(browser: SessionBrowser) -> None:
    await browser.show(
        """<textarea id=keys style="position: absolute; opacity: 0; width: 2px; padding: 0"></textarea>
        <pre id=shown></pre><script>keys.onkeydown = event => { shown.textContent += event.key; };</script>"""
    )

    await browser.call("type", selector="#keys", text="ls")

    assert await browser.evaluate("shown.textContent") == "ls"


async def test_code_that_is_typed_into_several_fields_has_no_notice(browser: SessionBrowser) -> None:
    await browser.show("""<input id=one><input id=two><script>one.oninput = () => two.focus();</script>""")

    answer = await browser.call("type", selector="#one", text="12")

    assert "notice" not in answer
    assert await browser.evaluate("[one.value, two.value]") == ["1", "2"]


async def test_filling_an_editor_that_completes_what_is_typed_pastes(browser: SessionBrowser) -> None:
    """As Monaco does, it closes typed brackets and indents typed lines, and does not change pasted text."""
    await browser.show(
        EDITOR
        + """<script>
        keys.addEventListener('input', () => { shown.textContent += '}'; });
        keys.onpaste = event => {
          shown.textContent = event.clipboardData.getData('text/plain');
          event.preventDefault();
        };</script>"""
    )

    await browser.call("fill", selector="#keys", value="if (a) {\n  b();\n}")

    assert await browser.evaluate("shown.textContent") == "if (a) {\n  b();\n}"


@pytest.mark.slow
async def test_hidden_toggle_without_label_error_names_what_to_click(browser: SessionBrowser) -> None:
    await browser.show(
        f"<div id=dark class=toggle><input type=checkbox style='display: none'><i style='{TRACK}'></i></div>"
    )

    error = await browser.refused("click", selector="input", timeout=1_000)

    assert error["message"] == (
        '"input" cannot be used: hidden: display: none; click what is drawn in its place: div (#dark)'
    )


async def test_element_replaced_during_the_press_has_a_notice(browser: SessionBrowser) -> None:
    await browser.show(
        """<div id=place><button id=it onmousedown="place.innerHTML = place.innerHTML" onclick="done = 1">
        Save</button></div><script>var done = 0</script>"""
    )

    clicked = await browser.call("click", selector="#it")

    assert clicked["notice"] == "the page replaced the element when it was pressed: no click followed"
    assert await browser.evaluate("done") == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "outer",
    [
        "<a id=it href=#x style='display: block; border: 9px solid'>Ticket 7 {}</a>",
        "<div id=it role=button tabindex=0 style='transform: scale(0.8)'>Ticket 7 {}</div>",
        "<div id=it onclick=''>Ticket 7 {}</div>",
        "<div style='height: 1500px'></div><div id=it tabindex=0>Ticket 7 {}</div>",
        "<ul><li id=it role=treeitem aria-expanded=true>Folder<ul role=group>"
        "<li role=treeitem id=inner>One<li role=treeitem>Two<li role=treeitem>Three</ul></ul>",
    ],
)
async def test_click_avoids_nested_controls(browser: SessionBrowser, outer: str) -> None:
    inner = "<button id=inner style='display: block; margin: auto; width: 80%; height: 60px'>Delete</button>"
    await browser.show(
        outer.format(inner) + "<script>var at; onclick = event => { at = event.target.id }</script>"
    )

    assert "notice" not in await browser.call("click", selector="#it")
    assert await browser.evaluate("at") == "it"


async def test_click_that_hits_a_nested_control_has_a_notice(browser: SessionBrowser) -> None:
    await browser.show(
        """<div id=it onclick="" style="display: flex"><button style="flex: 1; height: 40px">Delete</button>
        <button style="flex: 9; height: 40px" id=more class=wide>More</button></div>"""
    )

    clicked = await browser.call("click", selector="#it")

    assert clicked["notice"] == 'the click went to <button id="more" class="wide"> inside the element'


@pytest.mark.parametrize("leaves", ["remove()", "style.marginLeft = '400px'"])
async def test_second_press_of_a_double_click_hits_no_other_element(
    browser: SessionBrowser, leaves: str
) -> None:
    await browser.show(
        f"""<div><button id=it onclick="this.{leaves}">Open</button></div>
        <div id=below style="position: absolute; inset: 0; z-index: -1"></div>
        <script>var pressed = []; onmousedown = event => pressed.push(event.target.id)</script>"""
    )

    answer = await browser.answer("click", selector="#it", clickCount=2, observe="diff")

    clicked = answer.structured_content
    assert clicked
    assert (clicked["effect"], clicked.get("reason")) == ("page", None)
    assert clicked["data"]["notice"] == (
        "only 1 of 2 clicks reached the element, which moved or vanished; the page got no other click"
    )
    assert await browser.evaluate("pressed") == ["it"]


async def test_successful_double_click_has_no_notice(browser: SessionBrowser) -> None:
    await browser.show("<button ondblclick='done = 1'>Open</button><script>var done = 0</script>")

    assert "notice" not in await browser.call("click", selector="button", clickCount=2)
    assert await browser.evaluate("done") == 1


DRAGGED = """<div id=it draggable=true style="width: 60px; height: 60px">Card</div>
<div id=goal style="width: 160px; height: 60px">Done</div><script>var dropped = 0;
goal.ondrop = () => { dropped += 1 };"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("script", "taken"),
    [
        ("", False),
        (
            "goal.ondragover = e => { e.preventDefault(); goal.style.marginTop = '400px'; }",
            False,
        ),
        (
            "ondragstart = () => goal.style.marginTop = '300px'; goal.ondragover = e => e.preventDefault()",
            True,
        ),
        ("goal.ondragover = e => e.preventDefault()", True),
        ("it.draggable = false; goal.onmouseup = goal.ondrop", True),
    ],
    ids=["refused", "moves away", "moves at the start", "taken", "by mouse"],
)
async def test_drop_that_the_page_rejects_has_a_notice(
    browser: SessionBrowser, script: str, taken: bool
) -> None:
    await browser.show(f"{DRAGGED}{script}</script>")

    dragged = await browser.call("drag_and_drop", source="#it", target="#goal")

    notice = "the page did not take the drop: it refused it there, or the target moved away"
    assert dragged.get("notice") == (None if taken else notice)
    assert await browser.evaluate("dropped") == int(taken)


async def test_dragged_element_is_pressed_before_the_page_scrolls_to_a_far_target(
    browser: SessionBrowser,
) -> None:
    """The others get to the place of the mouse when the target is scrolled into view."""
    others = "".join(f"<div draggable=true id=other{number}>other</div>" for number in range(80))
    await browser.show(
        f"""<style>div {{ width: 60px; height: 60px }}</style><div draggable=true id=it>Card</div>{others}
        <div id=goal ondragover="event.preventDefault()">Done</div><script>
        var events = [];
        for (const type of ['mousedown', 'dragstart', 'drop'])
          document.addEventListener(type, event => events.push(`${{type}} ${{event.target.id}}`));
        </script>"""
    )

    assert "notice" not in await browser.call("drag_and_drop", source="#it", target="#goal")
    assert await browser.evaluate("events") == ["mousedown it", "dragstart it", "drop goal"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_by_mouse", [False, True], ids=["drag events", "mouse events"])
async def test_dragged_entry_gets_to_its_target_past_others(
    browser: SessionBrowser, is_by_mouse: bool
) -> None:
    """Sortable lists move the entry while the mouse is over another one, but not during an animation."""
    await browser.show(
        """<style>li { height: 30px; width: 200px }</style><ul id=list><li>A<li>B<li>C<li>D</ul><script>
        let held = null, isBusy = false, last = null;
        const place = () => {
          const over = last && document.elementFromPoint(...last)?.closest('li');
          if (!held || isBusy || !over || over === held) return;
          isBusy = true;
          setTimeout(() => { isBusy = false; }, 120);
          const isAfter = held.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
          isAfter ? over.after(held) : over.before(held);
        };
        const note = event => { last = [event.clientX, event.clientY]; };
        if (BY_MOUSE) {
          list.onmousedown = event => { held = event.target; event.preventDefault(); };
          onmousemove = note;
          setInterval(place, 50);
          onmouseup = () => { held = null; };
        } else {
          for (const each of list.children) each.draggable = true;
          ondragstart = event => { held = event.target; };
          ondragover = event => { event.preventDefault(); note(event); place(); };
        }
        </script>""".replace("BY_MOUSE", str(is_by_mouse).lower())
    )

    await browser.call("drag_and_drop", source="li >> nth=0", target="li >> nth=2")

    assert await browser.evaluate("list.innerText.replace(/\\s+/g, '')") == "BCAD"


@pytest.mark.slow
async def test_clipped_element_is_not_reported_as_its_own_closer(browser: SessionBrowser) -> None:
    await browser.show(
        "<button id=it style='clip-path: circle(9px at 9px 9px); width: 200px; height: 99px'>OK</button>"
    )

    error = await browser.refused("click", selector="#it", timeout=1_000)

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert "may close it" not in error["message"]


PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("style", "shape"),
    [
        ("", "shape=rect coords='100,0,200,100'"),
        ("margin: 2000px 0 2000px 300px; border: 7px solid; padding: 9px", "shape=circle coords='150,50,30'"),
        ("", "shape=poly coords='100,0,200,0,200,100,190,100,190,10,100,10'"),
        ("", "shape=default"),
    ],
    ids=["rectangle", "circle below the viewport", "polygon around its middle", "default"],
)
async def test_image_map_area_is_clicked_where_its_image_shows_it(
    browser: SessionBrowser, style: str, shape: str
) -> None:
    await browser.show(
        f"<img usemap=#shop width=200 height=100 style='{style}' src='{PIXEL}'><map name=shop>"
        "<area shape=rect coords='0,0,100,100' href=#tea alt=Tea onclick='pressed = this.alt'>"
        f"<area {shape} href=#cake alt=Cake onclick='pressed = this.alt'></map>"
    )

    for name in ("Cake", "Tea", "Cake"):
        await browser.call("click", selector=f"area[alt={name}]")
        assert await browser.evaluate("pressed") == name


@pytest.mark.slow
async def test_area_without_visible_image_is_reported(browser: SessionBrowser) -> None:
    await browser.show("<map name=shop><area shape=default href=#tea alt=Tea></map>")

    error = await browser.refused("click", selector="area", timeout=3000)

    assert (error["code"], error["message"]) == (
        "ELEMENT_NOT_INTERACTIVE",
        '"area" cannot be used: hidden: no visible image has its map',
    )


PRESS_EVENTS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("event", ["pointerdown", "mousedown"])
async def test_release_that_a_dialog_swallows_is_sent_again(
    browser: SessionBrowser, event: str, count: int
) -> None:
    """The press and the release are sent together, and Chromium drops what arrives during a dialog."""
    await browser.show(
        f"""<button id=b>Go</button><script>
        seen = []
        for (const type of {PRESS_EVENTS}) document.addEventListener(type, ({{type}}) => seen.push(type))
        b.addEventListener("{event}", () => alert("pressed"))
        </script>"""
    )

    for _ in range(3):
        data = await browser.call("click", selector="#b", clickCount=count)

        assert [each["handled"] for each in data["dialogs"]] == ["accepted"] * count
        assert await browser.evaluate("seen.splice(0)") == PRESS_EVENTS * count
