"""What each acting call says of its effect: 60 failures that no error tells, and 200 acts that work.

Also what the third same act without a change says.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from footlight.demo.shop.records import PASSWORD, USER
from footlight.demo.shop.site import serve_shop
from tests.conftest import Browser, connect_browser, run_in_sessions
from tests.site import Site, serve_site
from tests.toolsets.browser.effect_cases import UNSEEN, UNSEEN_PAGE, VAIN, VAIN_PAGE

pytestmark = pytest.mark.anyio

MAX_LENGTH = 40


@pytest.fixture(scope="module")
async def browser(site: Site) -> AsyncGenerator[Browser]:
    """With the defaults of observation."""

    async def answer_ok(request: Request) -> Response:
        await request.body()
        return JSONResponse({"ok": True})

    site.route(answer_ok, path="/saved")
    site.route(answer_ok, path="/token")
    site.page("<h1>Thanks</h1>", path="/thanks")
    site.page("broken", path="/broken", status=500)
    site.page("", path="/empty", status=204)
    site.page("<h1>Form</h1><form method=post action=/same><button id=it>Save</button></form>", path="/same")
    site.page("<script>close()</script>", path="/closing")
    site.never(path="/never")
    async with connect_browser(site, "--tools", "all", "--enable-script-evaluation") as browser:
        yield browser


async def act(browser: Browser, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    content = (await browser.answer(tool, **arguments)).structured_content
    assert content is not None
    return content


# Failures that no error tells


@dataclass(frozen=True)
class Silent:
    """A page on which an act has not the effect that its caller expects, and what the answer says of it.

    `effect` and `reason` are regular expressions; `error` is the code of an answer that fails. `before` are
    acts that come first.
    """

    name: str
    html: str
    effect: str = "none"
    reason: str = ""
    error: str = ""
    tool: str = "click"
    arguments: Mapping[str, Any] = field(default_factory=lambda: {"selector": "#it"})
    before: Sequence[tuple[str, Mapping[str, Any]]] = ()
    wait: str = ""
    """An expression that is true before the act."""


NOTHING_LISTENS = "nothing on the page listens"
CHANGED_NOTHING = "received it and changed nothing"
SAME = "shows the same as before"
IT: Mapping[str, Any] = {"selector": "#it"}

QUICK = (
    "<p id=box>Ad</p><script>n = 0; (function turn() { box.style.left = `${n++ % 99}px`;"
    " requestAnimationFrame(turn) })()</script>"
)

SILENT = (
    Silent("a button without a listener", "<button id=it>Save</button>", reason=NOTHING_LISTENS),
    Silent(
        "a div that looks like a button",
        "<div id=it style='cursor: pointer'>Save</div>",
        reason=NOTHING_LISTENS,
    ),
    Silent(
        "a listener that gives up",
        "<button id=it onclick='if (this.dataset.version != 2) return; this.after(1)'>Save</button>",
        reason=CHANGED_NOTHING,
    ),
    Silent(
        "a listener above that looks for another element",
        "<div id=it>Save</div><script>document.body.onclick = event => "
        "event.target.closest('button')?.after(1)</script>",
        reason=CHANGED_NOTHING,
    ),
    Silent(
        "an overlay that cannot be seen",
        "<button id=it onclick='this.after(1)'>Save</button>"
        "<div style='position: fixed; inset: 0; z-index: 9'></div>",
        error="ELEMENT_NOT_INTERACTIVE",
        arguments={**IT, "timeout": 1500},
    ),
    Silent(
        "an overlay that the press opens",
        "<button id=it onclick='this.after(1)'>Save</button><div id=over hidden "
        "style='position: fixed; inset: 0; z-index: 9'>wait</div>"
        "<script>it.onmousedown = () => { over.hidden = false }</script>",
        effect="page",
        reason="the click went to",
    ),
    Silent(
        "a submit that the page takes",
        "<form action=/thanks onsubmit='event.preventDefault()'><input name=a value=1>"
        "<button id=it>Send</button></form>",
        reason="took the submit and did nothing",
    ),
    Silent(
        "a field for files",
        "<label id=it>Picture <input type=file></label>",
        reason="opens a file chooser; use upload_file",
    ),
    Silent(
        "a button that opens a file chooser",
        "<input type=file id=files hidden><button id=it onclick='files.click()'>Choose</button>",
        reason="opens a file chooser; use upload_file",
    ),
    Silent(
        "a field that must be filled",
        "<form action=/thanks><label>Mail <input name=mail type=email required></label>"
        "<button id=it>Send</button></form>",
        reason=r'invalid form: "Mail": Please fill out this field',
    ),
    Silent(
        "a field with a wrong value",
        "<form action=/thanks><label>Mail <input name=mail type=email value=ada></label>"
        "<button id=it>Send</button></form>",
        reason=r"invalid form: \"Mail\": Please include an '@'",
    ),
    Silent(
        "a hidden field that must be filled",
        "<form action=/thanks><input name=town required hidden><button id=it>Send</button></form>",
        reason=r'invalid form: "town" \(hidden\): Please fill out',
    ),
    Silent(
        "Enter in an invalid form",
        "<form action=/thanks><label>Age <input id=age type=number min=18 value=7></label>"
        "<button>Go</button></form>",
        reason=r'invalid form: "Age"',
        tool="press",
        arguments={"key": "Enter"},
        before=[("click", {"selector": "#age"})],
    ),
    Silent(
        "an error of the server",
        "<button id=it onclick='fetch(`/broken`, {method: `POST`})'>Save</button>",
        effect="request POST /broken 500",
        reason="POST /broken answered 500",
    ),
    Silent(
        "an error of the server that XMLHttpRequest hears",
        "<button id=it onclick='const x = new XMLHttpRequest(); x.open(`PUT`, `/broken`); "
        "x.send()'>Save</button>",
        effect="request PUT /broken 500",
        reason="PUT /broken answered 500",
    ),
    Silent(
        "an address that is not there",
        "<button id=it onclick='fetch(`/api/nowhere`)'>Save</button>",
        effect="request GET /api/nowhere 404",
        reason="GET /api/nowhere answered 404",
    ),
    Silent(
        "a server that cannot be reached",
        "<button id=it onclick='fetch(`http://127.0.0.1:1/save`).catch(() => 0)'>Save</button>",
        effect="request GET /save failed",
        reason="GET /save failed: ",
    ),
    Silent(
        "an answer that the page ignores",
        "<button id=it onclick='fetch(`/saved`, {method: `POST`})'>Save</button>",
        effect="request POST /saved 200",
        reason=SAME,
    ),
    Silent(
        "a form that leads to no document",
        "<form action=/empty method=post><button id=it>Send</button></form>",
        effect="request POST /empty 204",
        reason=SAME,
    ),
    Silent(
        "a form whose hidden frame fails",
        "<iframe name=sink hidden></iframe><form action=/broken method=post target=sink>"
        "<button id=it>Send</button></form>",
        effect="request POST /broken 500",
        reason="POST /broken answered 500",
    ),
    Silent(
        "a page that fails",
        "<form action=/broken method=post><button id=it>Send</button></form>",
        effect="request POST /broken 500, navigation",
        reason="POST /broken answered 500",
    ),
    Silent(
        "a message to a counter of clicks",
        "<button id=it>Save</button><script>addEventListener('click', () => "
        "navigator.sendBeacon('/saved', '1'))</script>",
        effect="request POST /saved (200|pending)",
        reason=f"{SAME}|is not answered yet",
    ),
    Silent(
        "a listener of the window that keeps the click",
        "<button id=it onclick='this.after(1)'>Save</button><script>addEventListener('click', event => {"
        "event.stopImmediatePropagation(); event.preventDefault()}, true)</script>",
        reason="kept the click from the element",
    ),
    Silent(
        "a listener of the document that keeps the click",
        "<button id=it onclick='this.after(1)'>Save</button><script>"
        "document.addEventListener('click', event => "
        "event.stopPropagation(), true)</script>",
        reason="kept the click from the element",
    ),
    Silent(
        "a button that its own press disables",
        "<button id=it onclick='this.after(1)' onmousedown='this.disabled = true'>Save</button>",
        effect="none|page",
        reason="disabled by its own press",
    ),
    Silent(
        "a frame that the mouse reloads",
        "<iframe id=frame src=/reloading width=300 height=200></iframe>",
        effect=r"request GET /reloading 200.*",
        reason="a frame loaded its document again",
        arguments={"selector": "#frame >> button"},
    ),
    Silent(
        "a field that takes no keys",
        "<input id=it onkeydown='event.preventDefault()'>",
        reason="the field refused the text",
        tool="type",
        arguments={**IT, "text": "Ada"},
    ),
    Silent(
        "a field that refuses each input",
        "<input id=it onbeforeinput='event.preventDefault()'>",
        reason="the field refused the text",
        tool="type",
        arguments={**IT, "text": "Ada"},
    ),
    Silent(
        "a field that the page empties",
        "<input id=it oninput='this.value = ``'>",
        reason="the field refused the text",
        tool="type",
        arguments={**IT, "text": "Ada"},
    ),
    Silent(
        "a field that is full",
        "<input id=it maxlength=2>",
        effect="page",
        reason="the field took 2 of 3 characters",
        tool="type",
        arguments={**IT, "text": "Ada"},
    ),
    Silent(
        "a text with the line breaks of Windows",
        "<textarea id=it></textarea>",
        effect="page",
        reason="^ ",
        tool="fill",
        arguments={**IT, "value": "a\r\nb"},
    ),
    Silent(
        "a field for one digit of a code",
        "<input id=it maxlength=1 oninput='next.focus()'><input id=next>",
        effect="page",
        reason="after 1 of 3 characters, the page moved the focus to another field",
        tool="type",
        arguments={**IT, "text": "123"},
    ),
    Silent(
        "a number that a script sets while the page is still changing",
        "<button id=it onclick='number.stepUp()'>More</button><input type=number id=number><p id=late></p>",
        effect="script",
        reason="what has changed on the page may have another cause",
        before=[("evaluate", {"script": "late.textContent = 'late'", "settle": "none", "observe": "none"})],
    ),
    Silent(
        "a field that takes digits only",
        "<input id=it oninput='this.value = this.value.replace(/[^0-9]/g, ``)'>",
        effect="page",
        reason="the field took 2 of 4 characters",
        tool="type",
        arguments={**IT, "text": "a1b2"},
    ),
    Silent(
        "a number field that takes no letters",
        "<input id=it type=number>",
        reason="the field refused the text",
        tool="type",
        arguments={**IT, "text": "xyz"},
    ),
    Silent(
        "a filled field that the page sets back",
        "<input id=it oninput='this.value = `fixed`' value=fixed>",
        effect="none|page",
        reason="the field holds another",
        tool="fill",
        arguments={**IT, "value": "Ada"},
    ),
    Silent(
        "a filled form whose field is set back",
        "<input id=it oninput='this.value = `fixed`' value=fixed>",
        effect="none|page",
        reason="the field holds another",
        tool="fill_form",
        arguments={"fields": {"#it": "Ada"}},
    ),
    Silent(
        "a box that the page puts back",
        "<input type=checkbox id=it onclick='event.preventDefault()'>",
        reason="put the box back",
    ),
    Silent(
        "a box whose label is pressed for nothing",
        "<input type=checkbox id=box onclick='event.preventDefault()'><label id=it for=box>Agree</label>",
        reason="put the box back",
    ),
    Silent("a radio button that is chosen", "<input type=radio id=it checked>", reason="chosen already"),
    Silent("a label of nothing", "<label id=it for=nowhere>Agree</label>", reason=NOTHING_LISTENS),
    Silent(
        "a list that the page sets back",
        "<select id=it onchange='this.value = `a`'><option>a<option>b</select>",
        reason="",
        tool="select",
        arguments={**IT, "value": "b"},
    ),
    Silent(
        "a link that the page keeps",
        "<a id=it href=/thanks onclick='event.preventDefault()'>More</a>",
        reason="kept the link from opening",
    ),
    Silent("a link to nowhere", "<a id=it href='#'>More</a>", "none|navigation", "leads to the top"),
    Silent(
        "a link to a place that is not there",
        "<a id=it href='#gone'>More</a>",
        "navigation",
        'has the id "gone"',
    ),
    Silent("a link that runs nothing", "<a id=it href='javascript:void(0)'>More</a>", reason="runs a script"),
    Silent("a link without an address", "<a id=it>More</a>", reason=NOTHING_LISTENS),
    Silent("a link to mail", "<a id=it href='mailto:a@b.example'>Write</a>", reason="link to mailto:"),
    Silent(
        "a button inside a disabled part",
        "<div aria-disabled=true><button id=it onclick='this.after(1)'>Save</button></div>",
        error="ELEMENT_NOT_INTERACTIVE",
        arguments={**IT, "timeout": 1500},
    ),
    Silent(
        "a button of a disabled fieldset",
        "<fieldset disabled><button id=it onclick='this.after(1)'>Save</button></fieldset>",
        error="ELEMENT_NOT_INTERACTIVE",
        arguments={**IT, "timeout": 1500},
    ),
    Silent(
        "a point in a disabled part",
        "<button disabled style='position: fixed; left: 0; top: 0; width: 200px; "
        "height: 100px'>Save</button>",
        reason="it is disabled",
        tool="mouse_click",
        arguments={"x": 50, "y": 50},
    ),
    Silent(
        "a submit button of no form",
        "<form id=real action=/thanks></form><button id=it type=submit form=other>Send</button>",
        reason=NOTHING_LISTENS,
    ),
    Silent(
        "a button that submits nothing",
        "<form action=/thanks><button id=it type=button>Send</button></form>",
        reason=NOTHING_LISTENS,
    ),
    Silent(
        "a listener that fails",
        "<button id=it onclick='missing.save()'>Save</button>",
        reason="a script failed: .*missing is not defined",
    ),
    Silent(
        "a listener that fails after a message",
        "<button id=it onclick='console.error(`saving`); null.x'>Save</button>",
        effect="none|script",
        reason="a script failed: Uncaught TypeError",
    ),
    Silent(
        "a key that the page keeps",
        "<button id=it onclick='this.after(1)' onkeydown='event.preventDefault()'>Save</button>",
        reason="kept the key",
        tool="press",
        arguments={"key": "Enter"},
        before=[("evaluate", {"script": "document.querySelector('button').focus()"})],
    ),
    Silent(
        "a button beside a clock",
        "<button id=it>Save</button><p id=clock>0</p><script>let n = 0; "
        "setInterval(() => { clock.textContent = ++n }, 350)</script>",
        reason=NOTHING_LISTENS,
        wait="n >= 5",
    ),
    Silent(
        "a button beside a poll",
        "<button id=it>Save</button><script>let n = 0; "
        "setInterval(() => fetch('/saved').then(() => { n++ }), 200)</script>",
        reason=NOTHING_LISTENS,
        wait="n >= 4",
    ),
    Silent(
        "a button on a page whose content came late",
        "<button id=it>Save</button><script>let n = 0; "
        "setTimeout(() => { document.body.append('late'); n = 1 }, 700)</script>",
        reason=NOTHING_LISTENS,
        wait="n === 1",
    ),
    Silent(
        "a download that is not there",
        "<a id=it href=/broken download=report.txt>Report</a>",
        effect="download.*",
        reason="the download failed|/broken answered 500",
    ),
    Silent(
        "an element that is dropped where nothing takes it",
        "<div id=it draggable=true style='width: 60px'>Drag me</div><div id=to>Here</div>",
        reason="nothing took what was dragged",
        tool="drag_and_drop",
        arguments={"source": "#it", "target": "#to"},
    ),
    Silent(
        "a drop that the page takes and forgets",
        "<div id=it draggable=true style='width: 60px'>Drag me</div><div id=to>Here</div><script>"
        "to.ondragover = event => event.preventDefault(); to.ondrop = () => {}</script>",
        reason="took the drop and changed nothing",
        tool="drag_and_drop",
        arguments={"source": "#it", "target": "#to"},
    ),
    Silent(
        "a counter that the page sets back after a conflict",
        "<button id=it onclick='n.value = 1; fetch(`/broken`).then(() => { n.value = 0 })'>Like</button>"
        "<output id=n>0</output>",
        effect="request GET /broken 500.*",
        reason="/broken answered 500",
    ),
    Silent(
        "an editor that refuses each input",
        "<div id=it contenteditable role=textbox aria-label=Note></div>"
        "<script>it.onbeforeinput = event => event.preventDefault()</script>",
        reason="refused the text",
        tool="fill",
        arguments={**IT, "value": "Hello"},
    ),
    Silent(
        "a pattern that the value does not match",
        "<form action=/thanks><input pattern=[0-9]+ value=abc aria-label=Number>"
        "<button id=it>Go</button></form>",
        reason='invalid form: "Number"',
    ),
    Silent(
        "a combobox that the press opens and the click closes",
        "<div id=it role=combobox tabindex=0 aria-expanded=false aria-controls=list>Pick</div>"
        "<ul id=list role=listbox hidden><li role=option>a</ul><script>"
        "const show = is => { list.hidden = !is; it.setAttribute('aria-expanded', is) };"
        "it.onmousedown = () => show(true); it.onclick = () => show(false)</script>",
        reason="opened, and closed again at once",
    ),
    Silent(
        "a disclosure that a timer closes",
        "<button id=it aria-expanded=false>More</button><p id=text hidden>text</p><script>"
        "const show = is => { text.hidden = !is; it.setAttribute('aria-expanded', is) };"
        "it.onclick = () => { show(true); setTimeout(show, 10, false) }</script>",
        reason="opened, and closed again at once",
    ),
    Silent(
        "a disclosure that opens again",
        "<button id=it aria-expanded=true>Less</button><script>it.onclick = () => {"
        "it.ariaExpanded = 'false'; it.ariaExpanded = 'true' }</script>",
        reason="closed, and opened again at once",
    ),
    Silent(
        "details that the page closes",
        "<details id=d ontoggle='this.open = false'><summary id=it>More</summary>text</details>",
        reason="opened, and closed again at once",
    ),
    Silent(
        "a dialog that closes itself",
        "<button id=it>Open</button><dialog id=d>Hello</dialog>"
        "<script>it.onclick = () => { d.showModal(); setTimeout(() => d.close()) }</script>",
        reason="opened, and closed again at once",
    ),
    Silent(
        "a popover that closes itself",
        "<button id=it>Open</button><div popover id=pop>Hello</div>"
        "<script>it.onclick = () => { pop.showPopover(); pop.hidePopover() }</script>",
        effect="none|script",
    ),
    Silent(
        "a text that is written and taken back",
        "<button id=it>Save</button><p id=text></p>"
        "<script>it.onclick = () => { text.append('Saved'); text.textContent = '' }</script>",
        effect="none|script",
    ),
    Silent(
        "a reset of a form that nobody has filled",
        "<form><input name=q value=a><input type=reset id=it value=Reset></form>",
        reason="its form has its initial values already",
    ),
    Silent(
        "a button that is drawn anew when it is pressed",
        "<p><button id=it onmousedown='this.outerHTML = this.outerHTML'>Save</button></p>",
        reason="^the page replaced the element when it was pressed: no click followed",
    ),
    Silent(
        "a list that is drawn anew after a message",
        "<button id=it>Save</button><ul id=list><li>a</li><li>b</li></ul><script>"
        "const html = list.innerHTML; it.onmousedown = () => { list.textContent = 'Loading' };"
        "it.onclick = () => { list.innerHTML = html }</script>",
        effect="none|script",
    ),
    Silent(
        "a form that leads to the same page",
        "<h1>Form</h1><form method=post action=/same><button id=it>Save</button></form>",
        effect="request POST /same 200, navigation",
        reason=SAME,
    ),
    Silent(
        "a label of a box in a disabled fieldset",
        "<fieldset disabled><label id=it>Agree <input type=checkbox></label></fieldset>",
        error="ELEMENT_NOT_INTERACTIVE",
        arguments={**IT, "timeout": 1500},
    ),
    Silent(
        "a label for a disabled box",
        "<label id=it for=box>Agree</label><input id=box type=checkbox disabled>",
        error="ELEMENT_NOT_INTERACTIVE",
        arguments={**IT, "timeout": 1500},
    ),
    Silent(
        "a popup that closes itself",
        "<button id=it onclick='window.open(`/closing`)'>Open</button>",
        effect="popup.*",
        reason="the popup was closed again",
    ),
    Silent(
        "a popup that its opener closes",
        "<button id=it onclick='window.open(`/thanks`).close()'>Open</button>",
        effect="popup.*",
        reason="the popup was closed again",
    ),
    Silent(
        "a listener of React that does nothing",
        "<div id=root><button id=it>Save</button></div><script>"
        "for (let n = 0; n < 30; n++) root.addEventListener('type' + n, () => { window.last = n });"
        "root.addEventListener('click', () => { window.last = 'click' });"
        "it.__reactProps$x1 = {onClick: () => {}}</script>",
        reason=CHANGED_NOTHING,
    ),
    Silent(
        "Enter on a button whose listener does nothing",
        "<button id=it onclick='void 0' autofocus>Save</button>",
        reason=CHANGED_NOTHING,
        tool="press",
        arguments={"key": "Enter"},
        before=[("click", {"selector": "#it"})],
    ),
    Silent(
        "a form whose listener refuses it",
        "<form action=/thanks onsubmit='return false'><button id=it>Send</button></form>",
        reason="took the submit and did nothing",
    ),
    Silent(
        "a button in a frame",
        "<iframe srcdoc='<button id=it>Save</button>'></iframe>",
        reason=NOTHING_LISTENS,
        arguments={"selector": "iframe >> #it"},
    ),
    Silent(
        "a listener in a frame in a frame that gives up",
        "<p style='height: 2000px'>far</p>"
        """<iframe srcdoc="<iframe srcdoc='<p id=it onclick=void(0)>Save</p>'></iframe>"></iframe>""",
        reason=CHANGED_NOTHING,
        arguments={"selector": "iframe >> iframe >> #it"},
    ),
    Silent(
        "a key that nothing hears",
        "<p>Text</p>",
        reason="nothing on the page listens for keys there",
        tool="press",
        arguments={"key": "F9"},
    ),
    Silent(
        "a key in a frame whose listener waits for another one",
        '<iframe id=in srcdoc=\'<button autofocus onkeydown="if (event.key === `x`) this.remove()">'
        "Save</button>'></iframe>",
        reason=CHANGED_NOTHING,
        tool="press",
        arguments={"key": "F9"},
        before=[("click", {"selector": "#in >> button"})],
    ),
    Silent(
        "a listener of the document that matches another element",
        "<button id=it class=edit>Save</button><script>document.addEventListener('click', event => {"
        "if (event.target.matches('.save')) event.target.after(1) })</script>",
        reason=CHANGED_NOTHING,
    ),
    Silent(
        "a listener of a list that looks for another element",
        "<ul onclick='event.target.closest(`.delete`)?.remove()'><li id=it>Delete</ul>",
        reason=CHANGED_NOTHING,
    ),
    Silent(
        "a field that must be filled in a shadow tree",
        "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = "
        "`<form><label>Mail <input required></label><button id=it>Send</button></form>`</script>",
        reason='invalid form: "Mail"',
    ),
    Silent(
        "an editor that gets its text back",
        "<div id=it contenteditable role=textbox aria-label=Note>Old</div>"
        "<script>it.oninput = () => { it.textContent = 'Old' }</script>",
        reason="refused the text",
        tool="type",
        arguments={**IT, "text": "New"},
        before=[("click", IT)],
    ),
    Silent(
        "a field that had the value",
        "<input id=it value=Ada>",
        reason="had this value already",
        tool="fill",
        arguments={**IT, "value": "Ada"},
    ),
    Silent("a canvas that nothing hears", "<canvas id=it></canvas>", reason=NOTHING_LISTENS),
    Silent(
        "submit of a form whose filled field is invalid",
        "<form><input id=zip pattern=[0-9]+ aria-label=Zip><button id=it>Send</button></form>",
        reason="invalid form: .*Zip",
        before=[("type", {"selector": "#zip", "text": "abc"})],
    ),
    Silent(
        "a class that is taken away again by the listener above",
        """<div id=above><button id=it>Favour</button></div><script>let on = false;
        above.onclick = it.onclick = () => { on = !on; document.body.className = on ? 'on' : '' }</script>""",
        effect="none|script",
        reason="does not show|shows nothing",
    ),
    Silent(
        "a link to the route that is shown",
        "<a id=it href=/any onclick='history.pushState(0, ``, location.href); return false'>Any</a>",
        effect="navigation",
        reason=SAME,
    ),
    Silent(
        "a class by which nothing is drawn",
        "<style>.other { color: red }</style>"
        "<button id=it onclick='this.classList.toggle(`on`)'>Save</button>",
        effect="script",
        reason="does not show",
    ),
    Silent(
        "a form that only the page checks",
        """<main><form id=f novalidate><label>Mail <input name=mail required></label>
        <button id=it>Send</button></form></main><div id=toasts></div><script>f.onsubmit = event => {
        event.preventDefault(); if (!f.mail.value) toasts.append('Something is missing') }</script>""",
        effect="page",
        reason='did not send the form: "Mail": Please fill out',
    ),
    Silent(
        "a form whose listener calls a field invalid",
        """<form id=f novalidate><label>Mail <input name=mail value=ada></label>
        <button id=it>Send</button></form>
        <script>f.onsubmit = event => { event.preventDefault(); f.mail.ariaInvalid = 'true' }</script>""",
        effect="page",
        reason='did not send the form: "Mail"',
    ),
    Silent(
        "a form whose listener wants a tick",
        """<form id=f><label><input type=checkbox name=terms> I agree</label>
        <button id=it>Send</button></form>
        <script>f.onsubmit = event => { if (!f.terms.checked) event.preventDefault() }</script>""",
        reason='did nothing; empty or unticked: "I agree"',
    ),
    Silent(
        "a request that is never answered",
        "<button id=it onclick='fetch(`/never`, {method: `POST`})'>Save</button>",
        effect="request POST /never pending",
        reason="not answered yet",
    ),
    Silent(
        "a request that the page cancels",
        "<button id=it onclick='const end = new AbortController(); fetch(`/never`, {method: `POST`, signal: "
        "end.signal}).catch(() => 0); setTimeout(() => end.abort(), 100)'>Save</button>",
        effect="request POST /never failed",
        reason="POST /never was cancelled before it was answered",
    ),
    Silent(
        "a form that a script checks before it sends it",
        "<form id=f action=/thanks><input required aria-label=Mail></form>"
        "<button id=it onclick='if (f.reportValidity()) f.submit()'>Send</button>",
        reason='invalid form: "Mail": Please fill out this field',
    ),
    Silent(
        "a form that a script checks without a message",
        "<form id=f action=/thanks><input required aria-label=Mail></form>"
        "<button id=it onclick='if (f.checkValidity()) f.submit()'>Send</button>",
        reason='invalid form: "Mail": Please fill out this field',
    ),
    Silent(
        "a form that a link sends",
        "<form id=f action=/thanks><input required aria-label=Mail></form>"
        "<a id=it href='#' onclick='f.requestSubmit(); return false'>Send</a>",
        effect="page",
        reason='invalid form: "Mail": Please fill out this field',
    ),
    Silent(
        "a box that is ticked beside an invalid field",
        "<form id=f><input required aria-label=Mail><input type=checkbox id=it></form>"
        "<script>it.onchange = () => f.checkValidity()</script>",
        effect="page",
        reason="^ ",
    ),
    Silent(
        "a button that works beside an invalid field",
        "<input required id=mail aria-label=Mail><button id=it>Add</button>"
        "<script>it.onclick = () => it.after(mail.checkValidity())</script>",
        effect="page",
        reason="^ ",
    ),
    Silent(
        "an invalid element of the page's own",
        """<form action=/thanks><own-field name=plan>Plan</own-field><button id=it>Send</button></form>
        <script>customElements.define("own-field", class extends HTMLElement { static formAssociated = true;
        constructor() { super(); this.attachInternals().setValidity({valueMissing: true}, "Pick a plan") } })
        </script>""",
        reason='invalid form: "plan"',
    ),
    Silent(
        "Enter in a form whose button is disabled",
        "<form action=/thanks><input id=it autofocus><button disabled>Send</button></form>",
        reason="Enter sends no form whose button is disabled",
        tool="press",
        arguments={"key": "Enter"},
    ),
    Silent(
        "a link with a scheme of another program",
        "<a id=it href='chat+app:room'>Chat</a>",
        reason=r"link to chat\+app:, which opens no page",
    ),
    Silent(
        "a download that its frame forbids",
        "<iframe id=frame sandbox srcdoc='<a id=it download href=data:,text>Save</a>'></iframe>",
        reason="its link opened nothing",
        arguments={"selector": "#frame >> #it"},
    ),
    Silent(
        "a form that its frame forbids",
        "<iframe id=frame sandbox srcdoc='<form action=/thanks><button id=it>Send</button></form>'></iframe>",
        reason="console error: Blocked form submission",
        arguments={"selector": "#frame >> #it"},
    ),
    Silent(
        "a list that is drawn again as it was",
        "<div id=list><button id=it>Save</button></div>"
        "<script>list.onclick = () => { list.innerHTML = list.innerHTML }</script>",
        reason=SAME,
    ),
    Silent(
        "a menu that the mouse opens and the click does not",
        "<div id=it>Menu</div><div id=menu hidden>Entries</div>"
        "<script>it.onmouseenter = () => { menu.hidden = false }</script>",
        effect="page",
        reason=f"the page changed when the mouse moved there; {NOTHING_LISTENS}",
    ),
    Silent(
        "a field that was empty",
        "<input id=it>",
        reason="was empty already",
        tool="fill",
        arguments={**IT, "value": ""},
    ),
    Silent(
        "a field whose text is put back when it is cleared",
        "<input id=it value=Ada oninput='this.value = `Ada`'>",
        reason="the page put the text back",
        tool="fill",
        arguments={**IT, "value": ""},
    ),
    Silent(
        "a timer that fails",
        "<button id=it onclick='setTimeout(() => missing.save(), 200)'>Save</button>",
        effect="script",
        reason="a script failed: .*missing is not defined",
    ),
    Silent(
        "a timer that shows the result",
        "<button id=it onclick='setTimeout(() => this.after(1), 400)'>Save</button>",
        effect="page",
        reason="^ ",
    ),
    Silent(
        "a view that gets its URL first and then fails to load",
        "<a id=it href=/orders>Orders</a><script>it.onclick = event => { event.preventDefault();"
        " history.pushState(0, '', '/orders'); fetch('/broken') }</script>",
        effect="request GET /broken 500, navigation",
        reason="GET /broken answered 500",
    ),
    Silent(
        "a view that gets its URL first and whose script fails",
        "<a id=it href=/orders>Orders</a><script>it.onclick = event => { event.preventDefault();"
        " history.pushState(0, '', '/orders'); import('/missing.js') }</script>",
        effect="navigation",
        reason="a script failed: Uncaught TypeError: Failed to fetch dynamically imported module",
    ),
    Silent(
        "a script that fails after its request",
        "<button id=it onclick='fetch(`/saved`).then(answer => answer.json()).then(json =>"
        " json.items.map(each => each.after(1)))'>Save</button>",
        effect="request GET /saved 200",
        reason="a script failed: Uncaught TypeError",
    ),
    Silent(
        "a script that expects JSON and gets the page of the login",
        "<button id=it onclick='fetch(`/expired`).then(answer => answer.json())'>Save</button>",
        effect="request GET /expired 302",
        reason="a script failed: Uncaught \\(in promise\\) SyntaxError|a script failed: Uncaught SyntaxError",
    ),
    Silent(
        "a request that leads to the login",
        "<button id=it onclick='fetch(`/expired`, {method: `POST`})'>Save</button>",
        effect="request POST /expired 302",
        reason="POST /expired was redirected to /thanks; the page shows the same as before",
    ),
    Silent(
        "a message in an element that is not shown",
        "<button id=it onclick='this.disabled = true; fetch(`/saved`).then(answer => answer.text())"
        ".then(text => { toast.textContent = text; this.disabled = false })'>Save</button>"
        "<div id=toast hidden></div>",
        effect="request GET /saved 200",
        reason=SAME,
    ),
    Silent(
        "text in an element that is not shown",
        "<div style='display: none'><p id=text></p></div>"
        "<button id=it onclick='text.append(1)'>Save</button>",
        effect="script",
        reason="does not show what it did",
    ),
    Silent(
        "a button that only draws a ripple",
        "<button id=it>Save<span class=MuiTouchRipple-root></span></button><script>"
        "const ripples = it.lastChild; it.onmousedown = () => {"
        " ripples.innerHTML = '<span class=MuiTouchRipple-ripple><span></span></span>' };"
        "it.onmouseup = () => setTimeout(() => ripples.replaceChildren(), 550)</script>",
        reason=NOTHING_LISTENS,
    ),
    Silent(
        "a button that only has the class of a ripple",
        "<style>.mdc-ripple--active { opacity: .8 }</style><button id=it class=mdc-button>Save</button>"
        "<script>it.onpointerdown = () => it.classList.add('mdc-ripple--active');"
        "it.onpointerup = () => setTimeout(() => it.classList.remove('mdc-ripple--active'), 225)</script>",
        reason=NOTHING_LISTENS,
    ),
    Silent(
        "an element for double clicks",
        "<div id=it ondblclick='this.after(1)'>Cell</div>",
        reason="listens only for double clicks",
    ),
    Silent(
        "a double click that changes nothing",
        "<div id=it ondblclick='if (this.id == 2) this.after(1)'>Cell</div>",
        arguments={**IT, "clickCount": 2},
        reason=CHANGED_NOTHING,
    ),
    Silent(
        "an element for fingers",
        "<button id=it>Save</button><script>it.addEventListener('touchstart', () => it.after(1))</script>",
        reason=NOTHING_LISTENS,
    ),
    *(
        Silent(
            f"a menu that its own click closes, by its {by}",
            "<style>#menu:not(.open, [style], [data-no]) { display: none }</style><button id=it>Menu</button>"
            f"<p id=menu {attribute}>Edit</p><script>it.onclick = () => {{ {opens} }};"
            f"document.onclick = () => {{ {closes} }}</script>",
            reason="it opened, and closed again at once",
        )
        for by, attribute, opens, closes in (
            ("class", "", "menu.classList.add('open')", "menu.classList.remove('open')"),
            ("style", "style='display:none'", "menu.style.display = 'block'", "menu.style.display = 'none'"),
            ("hidden state", "hidden data-no", "menu.hidden = false", "menu.hidden = true"),
        )
    ),
    Silent(
        "a button beside a quick animation",
        f"<button id=it>Save</button>{QUICK}",
        reason=NOTHING_LISTENS,
        wait="() => n > 30",
    ),
    Silent(
        "a button beside a box that scrolls by itself",
        "<button id=it>Save</button><div id=strip style='width: 99px; overflow: auto'>"
        "<p style='width: 9999px'>Ads</div>"
        "<script>n = 0; (function turn() { strip.scrollLeft = n++ % 900; requestAnimationFrame(turn) })()"
        "</script>",
        reason=NOTHING_LISTENS,
        wait="() => n > 30",
    ),
    Silent(
        "a late result beside a quick animation",
        f"<button id=it onclick='setTimeout(() => this.after(1), 400)'>Save</button>{QUICK}",
        effect="page",
        reason="^ ",
        wait="() => n > 30",
    ),
    Silent(
        "a page that only counts clicks",
        "<button id=it>Save</button><script>document.onclick = () => { it.dataset.counted = 1;"
        " const image = new Image(); image.hidden = true; document.body.append(image) }</script>",
        effect="none|script",
        reason="^(?! )",
    ),
    Silent(
        "a field in closed details",
        "<form><details><summary>More</summary><label>Street <input name=s required></label></details>"
        "<button id=it>Save</button></form>",
        reason='invalid form: "Street" \\(hidden\\): Please fill out this field',
    ),
    Silent(
        "a request after which a timer shows the result",
        "<button id=it onclick='fetch(`/saved`).then("
        "() => setTimeout(() => this.after(1), 400))'>Save</button>",
        effect="request GET /saved 200, page",
        reason="^ ",
    ),
)


async def reloading(_: Request) -> Response:
    return Response(
        "<button onclick='parent.document.body.append(`clicked`)'>Save</button>"
        "<script>onmousemove = () => { onmousemove = null; location.reload() }</script>",
        media_type="text/html",
    )


@pytest.mark.sampled(24)
@pytest.mark.parametrize("silent", SILENT, ids=lambda each: each.name)
async def test_silent_failure_is_reported_in_the_first_answer(browser: Browser, silent: Silent) -> None:
    browser.site.route(reloading, path="/reloading")
    browser.site.redirect("/thanks", path="/expired")
    await browser.show(silent.html)
    for tool, arguments in silent.before:
        assert (await act(browser, tool, arguments))["success"]
    if silent.wait:
        await browser.call("wait_for", function=silent.wait)

    content = await act(browser, silent.tool, silent.arguments)

    if silent.error:
        assert content["error"]["code"] == silent.error
        return
    assert content["success"], content
    said = f"{content.get('reason', '')} {json.dumps(content['data'])}"
    assert re.fullmatch(silent.effect, content["effect"]), content
    assert re.search(silent.reason, said), content
    assert len(content["effect"]) <= MAX_LENGTH


async def test_listener_that_changes_nothing_is_reported(browser: Browser) -> None:
    await browser.show(VAIN_PAGE)

    said = {
        name: (await act(browser, "click", {"selector": f"#b{number}"})) for number, name in enumerate(VAIN)
    }

    assert {name: (each["effect"], each.get("reason")) for name, each in said.items()} == dict.fromkeys(
        VAIN, ("none", "listeners of the page received it and changed nothing")
    )


LOOP = "<script>(function turn() { requestAnimationFrame(turn) })()</script>"


async def test_vain_clicks_on_a_page_with_an_endless_loop_of_frames_are_answered_at_once(
    browser: Browser,
) -> None:
    await browser.show(f"<button id=it onclick='void 0'>Save</button>{LOOP}")
    began = time.monotonic()

    effects = {(await act(browser, "click", IT))["effect"] for _ in range(10)}

    assert effects == {"none"}
    assert time.monotonic() - began < 5  # Waiting for each would take 10 s.


@pytest.mark.parametrize("event", ["mousedown", "click"])
async def test_late_effect_of_a_click_beside_an_endless_loop_of_frames_is_reported(
    browser: Browser, event: str
) -> None:
    await browser.show(
        f"<button id=it on{event}='setTimeout(() => it.after(`Saved`), 400)'>Save</button>{LOOP}"
    )

    assert (await act(browser, "click", IT))["effect"] == "page"


@pytest.mark.parametrize(
    "call",
    [
        "window.scrollTo({top: 900, behavior: 'smooth'})",
        "box.scrollBy({left: 150, behavior: 'smooth'})",
        "list.innerHTML = ''; list.innerHTML = '<li>b</li><li>a</li>'",
        "line.innerHTML = ''; line.innerHTML = '<input>'",
    ],
)
async def test_change_that_the_document_hardly_shows_is_reported(browser: Browser, call: str) -> None:
    await browser.show(
        f"""<button id=it onclick="{call}">Go</button><ul id=list><li>a</li><li>b</li></ul>
        <p id=line><input></p>
        <div id=box style="width: 99px; overflow: auto"><p style="width: 900px">wide</p></div>
        <p style="height: 3000px"></p>"""
    )
    await browser.call("fill", selector="input", value="text")

    assert (await act(browser, "click", IT))["effect"] == "page"


@pytest.mark.slow
async def test_invisible_change_is_not_reported_as_no_effect(shared_browser: Browser) -> None:
    said: dict[str, str] = {}

    async def click_some(browser: Browser, share: list[tuple[int, str]]) -> None:
        await browser.show(UNSEEN_PAGE)
        for number, name in share:
            said[name] = (await act(browser, "click", {"selector": f"#b{number}"}))["effect"]

    buttons = list(enumerate(UNSEEN))
    await run_in_sessions(shared_browser, click_some, [buttons[start::4] for start in range(4)])

    assert len(said) == len(UNSEEN)
    assert [name for name, effect in said.items() if effect == "none"] == []


@pytest.mark.parametrize(
    "html",
    [
        "<form onsubmit='event.preventDefault(); localStorage.sent = 1'><button id=it>Send</button></form>",
        "<a id=it href='#' onclick='navigator.sendBeacon; localStorage.kept = 1; return false'>Copy</a>",
        "<a id=it href='javascript:void(localStorage.run = 1)' onclick='localStorage.clicked = 1'>Run</a>",
        "<div id=root><button id=it>Copy</button></div><script>it.__reactProps$x1 = "
        "{onClick: () => navigator.clipboard.writeText('x')}</script>",
        "<button id=it class=keep>Keep</button><script>document.addEventListener('click', event => {"
        "if (event.target.closest('.keep')) localStorage.kept = 1 })</script>",
        "<p id=it></p><script>const inner = it.attachShadow({mode: 'closed'});"
        "inner.innerHTML = '<b>Keep</b>'; const bold = inner.firstChild;"
        "bold.onclick = () => { bold.textContent = 'Kept' }</script>",
        "<div id=up><p id=it>Full</p></div><script>it.onclick = () => up.requestFullscreen()</script>",
        "<canvas id=it></canvas><script>it.onclick = () => it.getContext('2d').fillRect(0, 0, 9, 9)</script>",
        "<ul id=one><li id=it>Move</ul><ul id=two></ul><script>it.onclick = () => two.append(it)</script>",
    ],
    ids=[
        *("a submit", "a link", "a link with a script", "a listener of React", "a listener of the document"),
        *("a closed shadow tree", "a full screen", "a canvas", "an element that moves"),
    ],
)
async def test_page_handled_action_is_not_reported_as_no_effect(browser: Browser, html: str) -> None:
    await browser.show(html)

    assert (await act(browser, "click", IT))["effect"] != "none"


@pytest.mark.parametrize(
    ("tool", "arguments", "html"),
    [
        (
            "click",
            {"selector": "iframe >> #it"},
            "<button id=it onclick='localStorage.kept = 1'>Keep</button>",
        ),
        ("press", {"key": "j"}, "<p>Text</p><script>onkeyup = () => { localStorage.kept = 1 }</script>"),
        ("press", {"key": "b", "modifiers": ["Control"]}, "<p autofocus tabindex=0 contenteditable>Text</p>"),
        ("press", {"key": "PageDown"}, "<p style='height: 3000px'>Text</p>"),
    ],
    ids=["a frame", "a key that a listener hears", "a format of an editor", "a key that scrolls"],
)
async def test_effect_without_any_visible_trace_is_not_reported_as_none(
    browser: Browser, tool: str, arguments: Mapping[str, Any], html: str
) -> None:
    is_in_frame = "iframe" in str(arguments)
    await browser.show(f'<iframe srcdoc="{html}"></iframe>' if is_in_frame else html)

    assert (await act(browser, tool, arguments))["effect"] != "none"


@pytest.mark.slow
async def test_frame_that_the_page_hides_by_replaced_functions_gives_no_reason(browser: Browser) -> None:
    """The page has our script look for the listeners in another frame."""
    await browser.show(
        """<iframe id=one srcdoc="<button id=it>Keep</button>"></iframe>
        <iframe id=two srcdoc="<button id=it onclick='localStorage.kept = 1'>Keep</button>"></iframe>
        <script>
        const one = document.getElementById("one");
        const next = Object.getOwnPropertyDescriptor(Node.prototype, "nextSibling").get;
        const get = function () { const at = next.call(this); return at && at.id === "two" ? one : at; };
        Object.defineProperty(Node.prototype, "nextSibling", { get });
        </script>"""
    )

    answer = await act(browser, "click", {"selector": "#two >> #it"})

    assert "listen" not in answer.get("reason", "")


@pytest.mark.slow
async def test_many_classes_are_compared_with_many_style_rules_in_bounded_time(browser: Browser) -> None:
    await browser.show(
        "<style id=sheet></style><button onclick='it.className = this.className = names'>Go</button>"
        "<p id=it>x</p><script>"
        "const count = (size, text) => Array.from({length: size}, (_, i) => text + i).join(' ');"
        "sheet.textContent = count(19000, '{color: red} .rule'); const names = count(100000, 'name');"
        "document.querySelector('button').className = count(100000, 'other')</script>"
    )

    assert (await act(browser, "click", {"selector": "button", "timeout": 30_000}))["effect"] == "page"


async def test_reload_of_an_unchanged_page_gives_no_reason(browser: Browser) -> None:
    await browser.show("<p>Text</p>")

    assert "reason" not in await act(browser, "reload", {})


async def test_invisible_keyboard_shortcut_is_reported_as_script_effect(browser: Browser) -> None:
    await browser.show(
        "<p>Text</p><script>addEventListener('keydown', event => { if (event.key === 's') {"
        "event.preventDefault(); localStorage.saved = 1 } })</script>"
    )

    content = await act(browser, "press", {"key": "s", "modifiers": ["Control"]})

    assert content["effect"] == "script"


# Acts that work

Act = tuple[str, Mapping[str, Any]]


def click(*selectors: str, **more: Any) -> list[Act]:
    return [("click", {"selector": selector, **more}) for selector in selectors]


def fill(selector: str, *values: str) -> list[Act]:
    return [("fill", {"selector": selector, "value": value}) for value in values]


def type_(selector: str, *texts: str) -> list[Act]:
    return [("type", {"selector": selector, "text": text}) for text in texts]


def press(*keys: str) -> list[Act]:
    return [("press", {"key": key}) for key in keys]


def select(selector: str, *values: str) -> list[Act]:
    return [("select", {"selector": selector, "value": value}) for value in values]


@dataclass(frozen=True)
class Working:
    """A page on which each of these acts works."""

    name: str
    html: str
    acts: Sequence[Act]


WORKING = (
    Working(
        "content in boxes that are not drawn themselves",
        """<div style='display: contents'><b id=text>0</b></div><select id=list><option>A</select>
        <svg width=50 height=50><defs><circle id=dot r=5></circle></defs><use href=#dot x=20 y=20></use></svg>
        <button id=a onclick='text.parentNode.append(1)'>A</button>
        <button id=b onclick='list.innerHTML = `<option>B`'>B</button>
        <button id=c onclick='dot.parentNode.innerHTML = `<rect id=dot width=9 height=9 />`'>C</button>
        <button id=d onclick='document.body.insertAdjacentHTML("beforeend", "<style>p { color: red }")'
        >D</button>
        <button id=e onmousedown='this.className = "on"'>E</button><style>.on { color: red }</style>
        <button id=f class=ripple onclick='this.innerHTML = `<svg width=9 height=9></svg>`'>F</button>
        <button id=g onclick='this.dataset.on = 1'>G</button><style>[data-on] { color: red }</style>
        <button id=h data-count=1 onclick='this.dataset.count = 2'>H</button>
        <style>#h::after { content: attr(data-count) }</style>""",
        click("#a", "#b", "#c", "#d", "#e", "#f", "#g", "#h"),
    ),
    Working(
        "a list of tasks",
        """<h1>Tasks</h1><form id=add><input id=task aria-label=Task><button id=go>Add</button></form>
        <ul id=list></ul>
        <p>Left: <output id=left>0</output></p><script>
        const show = () => { left.value = document.querySelectorAll('li input:not(:checked)').length };
        add.onsubmit = event => {
          event.preventDefault();
          const item = document.createElement('li');
          const name = task.value;
          item.innerHTML = '<label><input type=checkbox> <span></span></label> <button>Delete</button>';
          item.querySelector('span').textContent = name;
          item.querySelector('button').onclick = () => { item.remove(); show(); };
          item.querySelector('input').onchange = show;
          list.append(item);
          task.value = '';
          show();
        };</script>""",
        [
            *fill("#task", "Bread"),
            *click("#go"),
            *fill("#task", "Butter"),
            *press("Enter"),
            *type_("#task", "Jam"),
            *click("#go"),
            *click("li:nth-child(1) input", "li:nth-child(2) span", "li:nth-child(1) input"),
            ("check", {"selector": "li:nth-child(3) input"}),
            ("uncheck", {"selector": "li:nth-child(3) input"}),
            *click("li:nth-child(1) button", "li:nth-child(1) button", "li:nth-child(1) button"),
        ],
    ),
    Working(
        "tabs, details and menus",
        """<div role=tablist><button role=tab aria-selected=true id=t1>One</button>
        <button role=tab aria-selected=false id=t2>Two</button></div><div id=p1>First</div>
        <div id=p2 hidden>Second</div>
        <details id=d><summary>More</summary>All of it</details>
        <button id=menu aria-expanded=false>Menu</button><ul id=items hidden><li>
        <a href="#a">A</a></li></ul>
        <p id=a style="margin-top: 1500px">Place A</p><a id=up href="#">Up</a>
        <button popovertarget=pop id=popper>Pop</button>
        <div popover id=pop>Popped <button id=inner>Ok</button></div>
        <button id=launch>Open</button><dialog id=dlg>Sure? <form method=dialog><button id=yes>Yes</button>
        </form></dialog>
        <script>
        for (const [tab, on, off, other] of [[t1, p1, p2, t2], [t2, p2, p1, t1]]) tab.onclick = () => {
          on.hidden = false; off.hidden = true;
          tab.setAttribute('aria-selected', true); other.setAttribute('aria-selected', false);
        };
        menu.onclick = () => { items.hidden = !items.hidden;
        menu.setAttribute('aria-expanded', !items.hidden) };
        launch.onclick = () => dlg.showModal();
        inner.onclick = () => pop.hidePopover();
        </script>""",
        [
            *click(
                "#t2",
                "#t1",
                "#t2",
                "summary",
                "summary",
                "#menu",
                "#items a",
                "#up",
                "#menu",
                "#popper",
                "#inner",
            ),
            *click("#popper"),
            *press("Escape"),
            *click("#launch", "#yes", "#launch"),
            *press("Escape"),
        ],
    ),
    Working(
        "a form that is sent by a script",
        """<form id=f><label>Name <input name=name required></label>
        <label>Mail <input name=mail type=email></label>
        <label>Age <input name=age type=number></label><label>Day <input name=day type=date></label>
        <label>Word <input name=word type=password></label>
        <label>Text <textarea name=text></textarea></label>
        <select name=land><option>AT<option>DE<option>CH</select>
        <input type=radio name=way value=1 aria-label=Post>
        <input type=radio name=way value=2 aria-label=Van>
        <label><input type=checkbox name=ok> Agree</label><input type=range name=level min=0 max=10 value=3>
        <button>Send</button><button type=reset>Empty</button></form><p role=status id=said></p>
        <script>f.onsubmit = async event => {
          event.preventDefault();
          const answer = await fetch('/saved', {method: 'POST', body: new FormData(f)});
          said.textContent = (await answer.json()).ok ? 'Saved ' + f.elements.name.value : 'Failed';
        }</script>""",
        [
            *fill("[name=name]", "Ada", "Bob"),
            *fill("[name=mail]", "ada@example.org"),
            *fill("[name=age]", "36"),
            *fill("[name=day]", "2024-02-29"),
            *fill("[name=word]", "secret", "secrets"),
            *fill("[name=text]", "Two\nlines"),
            *type_("[name=text]", " and more"),
            *select("[name=land]", "DE", "CH"),
            *click("[value='1']", "[value='2']", "[name=ok]"),
            ("check", {"selector": "[value='1']"}),
            ("uncheck", {"selector": "[name=ok]"}),
            *fill("[name=level]", "7"),
            *click("button:has-text('Send')"),
            *fill("[name=name]", "Cleo"),
            *press("Enter"),
            *click("[type=reset]"),
            ("fill_form", {"fields": {"[name=name]": "Dora", "[name=ok]": True}}),
        ],
    ),
    Working(
        "an application with routes",
        """<nav><a href=/r/one>One</a> <a href=/r/two>Two</a> <a href=/r/three>Three</a></nav>
        <main id=view>Start</main>
        <script>
        const show = () => { view.innerHTML = `<h1>${location.pathname}</h1>
        <button id=like>Like 0</button>`;
          let n = 0; like.onclick = () => { like.textContent = 'Like ' + ++n } };
        document.addEventListener('click', event => {
          const link = event.target.closest('a');
          if (!link) return;
          event.preventDefault();
          history.pushState(null, '', link.href);
          show();
        });
        addEventListener('popstate', show);</script>""",
        [
            *click("text=One", "#like", "#like", "#like", "text=Two", "#like", "text=Three", "#like"),
            ("go_back", {}),
            ("go_back", {}),
            ("go_forward", {}),
            *click("#like", "text=One", "#like"),
        ],
    ),
    Working(
        "lists from a server",
        """<button id=more>More</button> <button id=again>Again</button><ol id=rows></ol>
        <input id=search aria-label=Search><ul id=hits></ul><script>
        let n = 0;
        const load = async () => { await fetch('/saved?' + n);
        rows.append(Object.assign(document.createElement('li'),
          {textContent: 'row ' + ++n})) };
        more.onclick = load;
        again.onclick = () => { rows.textContent = ''; load() };
        let waiting;
        search.oninput = () => { clearTimeout(waiting); waiting = setTimeout(async () => {
          const answer = await fetch('/saved', {method: 'POST', body: search.value});
          await answer.json();
          hits.innerHTML = '<li>' + search.value + '</li>';
        }, 5) };</script>""",
        [
            *click("#more", "#more", "#more", "#more", "#again", "#more", "#more"),
            *fill("#search", "a", "ab"),
            *type_("#search", "c", "d"),
            *press("Backspace", "Backspace"),
            *click("#again"),
        ],
    ),
    Working(
        "looks that the tree does not show",
        """<style>.dark { background: black; color: white } #strip { width: 200px; overflow: auto;
        white-space: nowrap }
        </style><button id=theme>Theme</button><button id=next>Next</button><button id=down>Down</button>
        <button id=big>Bigger</button><div id=strip><span style="display: inline-block;
        width: 900px">wide</span></div>
        <img id=pic alt=Picture src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=20 height=20>
        <canvas id=board width=50 height=50 style="background: grey"></canvas>
        <p style="height: 2000px">far</p><script>
        theme.onclick = () => document.body.classList.toggle('dark');
        next.onclick = () => { strip.scrollLeft += 100 };
        down.onclick = () => scrollBy(0, 200);
        big.onclick = () => { pic.width += 10 };
        board.onclick = event => board.getContext('2d').fillRect(event.offsetX, event.offsetY, 5, 5);
        </script>""",
        [
            *click("#theme", "#theme", "#next", "#next", "#big", "#big", "#board", "#board", "#down"),
            ("scroll", {"y": 100}),
            ("scroll", {"y": -300}),
            *click("#theme"),
        ],
    ),
    Working(
        "parts in shadow trees",
        """<my-counter></my-counter><my-counter></my-counter><script>
        customElements.define('my-counter', class extends HTMLElement {
          connectedCallback() {
            const root = this.attachShadow({mode: 'open'});
            root.innerHTML = `<button>Add</button><b>0</b><input aria-label=n><label>
            <input type=checkbox>on</label>`;
            root.querySelector('button').onclick = () => { root.querySelector('b').textContent++ };
          }
        });</script>""",
        [
            *click("button", "button", "button", "my-counter:nth-of-type(2) button", "button"),
            *fill("[aria-label=n]", "1", "2"),
            *type_("[aria-label=n]", "3"),
            *click(
                "label",
                "label",
                "my-counter:nth-of-type(2) button",
                "my-counter:nth-of-type(2) [type=checkbox]",
            ),
        ],
    ),
    Working(
        "a frame inside",
        """<iframe width=400 height=200 srcdoc="<button onclick='b.textContent++'>Add</button><b id=b>0</b>
        <input aria-label=n><input type=checkbox><a href='#x'>X</a><p id=x>x</p>
        <button id=par onclick='parent.document.getElementById(`out`).append(1)'>Out</button>"></iframe>
        <p id=out></p>""",
        [
            *click("iframe >> button", "iframe >> button"),
            *fill("iframe >> [aria-label=n]", "1", "2"),
            *type_("iframe >> [aria-label=n]", "3"),
            *click("iframe >> [type=checkbox]", "iframe >> #par", "iframe >> #par", "iframe >> button"),
        ],
    ),
    Working(
        "an editor and keys",
        """<div contenteditable id=edit role=textbox aria-label=Note>Hello</div><input id=line value=word>
        <p id=key>none</p><button id=a>A</button><button id=b>B</button><script>
        addEventListener('keydown', event => { if (event.key === 'F2') key.textContent += '!' });
        edit.addEventListener('keydown', event => { if (event.ctrlKey && event.key === 'b') {
          event.preventDefault(); edit.innerHTML = '<b>' + edit.textContent + '</b>' } });
        </script>""",
        [
            *fill("#edit", "Bye", "Again"),
            *type_("#edit", " and"),
            ("press", {"key": "b", "modifiers": ["Control"]}),
            *press("F2", "F2"),
            *click("#line"),
            *press("ArrowLeft", "ArrowLeft", "End", "x", "Backspace", "Home", "Tab", "Tab", "F2"),
            ("press", {"key": "Tab", "modifiers": ["Shift"]}),
        ],
    ),
    Working(
        "ways out of the page",
        """<a id=tab href=/thanks target=_blank>Tab</a>
        <a id=file href="data:text/plain,x" download=x.txt>File</a>
        <button id=alert onclick="alert('Hi')">Alert</button>
        <button id=win onclick="window.open('/thanks')">Window</button>
        <button id=ask onclick="document.title = confirm('Sure?')">Ask</button>
        <form action=/thanks><input name=q><button id=go>Go</button></form>
        <a id=link href=/thanks>Link</a>""",
        [
            *click("#tab", "#file", "#alert", "#win", "#ask"),
            *fill("[name=q]", "x"),
            *click("#go"),
            ("go_back", {}),
            *click("#link"),
            ("go_back", {}),
            ("reload", {}),
            *fill("[name=q]", "y"),
            *press("Enter"),
        ],
    ),
    Working(
        "forms that the page handles itself",
        """<style>.done { text-decoration: line-through }</style>
        <form id=todo novalidate><input name=what required aria-label=What><button id=add>Add</button></form>
        <ul id=list></ul><form id=steps novalidate><div id=one><input required aria-label=Coupon></div>
        <button id=next>Next</button></form><script>
        todo.onsubmit = event => {
          event.preventDefault();
          list.append(Object.assign(document.createElement('li'), {textContent: todo.what.value}));
          todo.reset();
        };
        list.onclick = event => event.target.classList.toggle('done');
        steps.onsubmit = event => { event.preventDefault(); one.innerHTML = '<p>Thanks</p>' };</script>""",
        [
            *fill("[name=what]", "Rope"),
            *click("#add", "li", "li"),
            *fill("[name=what]", "Tape"),
            *press("Enter"),
            *click("#next"),
        ],
    ),
    Working(
        "hovering and dragging",
        """<style>#sub { display: none } #top:hover #sub { display: block } </style>
        <div id=top>Products<div id=sub><a href="#x" id=x>Ropes</a></div></div><button id=tip>Help</button>
        <div id=from draggable=true style="width: 60px">Drag me</div><div id=to style="width: 200px;
        height: 80px">Here</div>
        <table><tr><td id=cell>Old</td></tr></table><div id=slide style="width: 100px; height: 20px;
        background: red"></div><script>
        tip.onmouseenter = () => tip.after('A tip'); tip.onmouseleave = () => tip.nextSibling.remove();
        to.ondragover = event => event.preventDefault(); to.ondrop = () => to.append(from);
        cell.ondblclick = () => { cell.textContent = 'New' };
        cell.oncontextmenu = event => { event.preventDefault(); cell.textContent = 'Menu' };
        slide.onpointerdown = () => { slide.textContent = 'down' };
        slide.onpointerup = () => { slide.textContent = 'up' };
        </script>""",
        [
            ("hover", {"selector": "#top"}),
            *click("#x"),
            ("hover", {"selector": "#tip"}),
            ("hover", {"selector": "#top"}),
            ("drag_and_drop", {"source": "#from", "target": "#to"}),
            ("click", {"selector": "#cell", "clickCount": 2}),
            ("click", {"selector": "#cell", "button": "right"}),
            *click("#slide"),
        ],
    ),
    Working(
        "a page that is never still",
        """<p id=clock>0</p><button id=add>Add</button><b id=n>0</b><input id=name aria-label=Name><script>
        setInterval(() => { clock.textContent++ }, 200); setInterval(() => fetch('/saved'), 300);
        add.onclick = () => { n.textContent++ };</script>""",
        [
            *click("#add", "#add", "#add", "#add"),
            *fill("#name", "a", "b"),
            *click("#add", "#add"),
            *type_("#name", "c"),
            *click("#add", "#add", "#add"),
        ],
    ),
)


async def silent_acts(browser: Browser, acts: Sequence[Act]) -> list[str]:
    """Return the acts whose answers say that nothing happened, with what they say."""
    found: list[str] = []
    for tool, arguments in acts:
        content = await act(browser, tool, arguments)
        assert content["success"], (tool, arguments, content)
        if content["effect"] == "none" or "reason" in content:
            found.append(f"{tool} {dict(arguments)}: {content}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("working", WORKING, ids=lambda each: each.name)
async def test_working_action_is_never_reported_as_no_effect(browser: Browser, working: Working) -> None:
    await browser.show(working.html)

    assert await silent_acts(browser, working.acts) == []


SHOPPING: Sequence[Act] = (
    *click("text=See the catalogue", "tbody tr:nth-child(2) a", "text=Order this"),
    ("go_back", {}),
    ("go_back", {}),
    *fill("#q", "rope", "lamp"),
    *press("Enter"),
    *fill("#q", "tape"),
    *click(".search button", ".brand", "text=Place an order"),
    *fill("#user", USER),
    *fill("#password", PASSWORD),
    *click("form.panel button"),
    *fill("#product", "SC-401"),
    *fill("#quantity", "3", "4"),
    *fill("#gel", "#3366cc"),
    *fill("#level", "75", "50"),
    *select("#extras", "Spare lamps"),
    *fill("#production", "Macbeth"),
    *fill("#opening", "2031-05-17T19:30"),
    *fill("#delivery_date", "2031-05-09"),
    *fill("#delivery_time", "08:30"),
    *click("[name=method][value='Our van']", "[name=method][value=Courier]"),
    *select("#country", "Austria", "Belgium"),
    *fill("#contact", "Props"),
    *fill("#email", "props@example.org"),
    *fill("#notes", "One"),
    *type_("#notes", " and two"),
    *click(
        "[type=reset]",
        "nav >> text=Offers",
        "#accept-cookies",
        "#reveal",
        "nav >> text=Products",
        "#price-list",
    ),
)


@pytest.mark.slow
async def test_no_shop_action_is_reported_as_no_effect(browser: Browser) -> None:
    async with serve_shop() as shop:
        await browser.call("navigate", url=shop.url)

        assert await silent_acts(browser, SHOPPING) == []


def test_tables_contain_200_working_and_40_silent_actions() -> None:
    assert len(SHOPPING) + sum(len(each.acts) for each in WORKING) >= 200
    assert len(SILENT) >= 40


# The same act again


async def reasons(browser: Browser, acts: Sequence[Act]) -> list[str]:
    return [(await act(browser, tool, arguments)).get("reason", "") for tool, arguments in acts]


async def test_third_identical_action_without_change_suggests_alternatives(browser: Browser) -> None:
    await browser.show("<button id=it>Save</button><p id=other>Other</p>")

    said = await reasons(browser, [*click("#it", "#it"), ("click", {"selector": "#it", "timeout": 9000})])

    assert [f"{n} times in a row" in each for n, each in enumerate(said, 1)] == [False, False, True]
    assert said[2].startswith("nothing on the page listens for clicks there; done 3 times in a row without")
    assert "; try screenshot" in said[2]
    assert "4 times in a row" in (await reasons(browser, click("#it")))[0]


async def test_third_identical_failure_suggests_alternatives(browser: Browser) -> None:
    await browser.show("<button id=it disabled>Save</button>")
    acts = [*click("#it", "#it", "#it"), *click("#none")]

    errors = [await browser.refused(tool, timeout=200, **arguments) for tool, arguments in acts]

    advice = [re.findall("It has failed (\\d) times in a row", each["suggestion"]) for each in errors]
    assert advice == [[], [], ["3"], []]


async def test_request_without_change_counts_as_repetition(browser: Browser) -> None:
    await browser.show("<button id=it onclick='fetch(`/broken`, {method: `POST`})'>Save</button>")

    said = await reasons(browser, click("#it", "#it", "#it"))

    assert said[:2] == ["POST /broken answered 500"] * 2
    assert said[2].startswith("POST /broken answered 500; done 3 times in a row")


async def test_script_may_be_evaluated_again_without_notice(browser: Browser) -> None:
    await browser.show("")

    assert await reasons(browser, [("evaluate", {"script": "document.title"})] * 4) == [""] * 4


async def test_selected_and_closed_tabs_are_an_effect(browser: Browser) -> None:
    await browser.show("<p>First</p>")
    first = (await browser.call("tabs", action="list"))["active"]
    second = (await browser.call("tabs", action="new"))["active"]

    assert (await act(browser, "tabs", {"action": "select", "pageId": first}))["effect"] == "page"
    assert (await act(browser, "tabs", {"action": "select", "pageId": first}))["effect"] == "none"
    assert (await act(browser, "tabs", {"action": "close", "pageId": second}))["effect"] == "page"


@pytest.mark.parametrize(
    "between",
    [click("#other"), click("#add"), [("reload", {})]],
    ids=["another act", "a change", "another document"],
)
async def test_action_in_between_resets_the_repetition_count(
    browser: Browser, between: Sequence[Act]
) -> None:
    await browser.show(
        "<button id=it>Save</button><p id=other>Other</p><button id=add onclick='this.after(1)'>Add</button>"
    )

    said = await reasons(browser, [*click("#it", "#it"), *between, *click("#it", "#it")])

    assert not any("in a row" in each for each in said)


async def test_working_action_may_be_repeated_without_notice(browser: Browser) -> None:
    await browser.show("<button id=it onclick='this.after(1)'>Add</button>")

    assert await reasons(browser, click(*["#it"] * 4)) == [""] * 4


ELSEWHERE = "fetch('https://stats.invalid/collect', {method: 'POST', body: 'click'}).catch(() => 0)"
FAILED_ELSEWHERE = r"POST /collect failed: net::ERR_\w+ \(at stats\.invalid\)"


@pytest.mark.parametrize(
    ("script", "effect", "reason"),
    [
        (f"{ELSEWHERE}; post('/saved').then(() => it.after(1))", "request POST /saved 200, page", None),
        ("navigator.sendBeacon('https://stats.invalid/collect', 1); it.after(1)", "page", None),
        (f"{ELSEWHERE}; it.after(1)", "request POST /collect failed, page", FAILED_ELSEWHERE),
        (f"{ELSEWHERE}; post('/saved')", "request POST /saved 200", FAILED_ELSEWHERE),
        (
            f"{ELSEWHERE}; post('/broken').then(() => it.after(1))",
            "request POST /broken 500, page",
            "POST /broken",
        ),
    ],
)
async def test_statistics_that_reach_no_other_host_do_not_hide_the_own_request(
    browser: Browser, script: str, effect: str, reason: str | None
) -> None:
    await browser.show(
        "<button id=it>Save</button><script>const post = path => fetch(path, {method: 'POST', body: 'tea'});"
        f"it.onclick = () => {{ {script} }}</script>"
    )

    content = await act(browser, "click", IT)

    assert content["effect"] == effect
    assert re.match(reason or "$", content.get("reason", ""))


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ("/refused", ("request POST /refused 200, page", None)),
        ("/saved", ("request POST /refused 401, page", "POST /refused answered 401")),
    ],
)
async def test_request_that_succeeds_when_it_is_repeated_has_not_failed(
    browser: Browser, again: str, said: tuple[str, str | None]
) -> None:
    answers = iter((401, 200))

    async def refuse_once(_: Request) -> Response:
        return Response(status_code=next(answers))

    browser.site.route(refuse_once, path="/refused")
    await browser.show(
        "<button id=it>Save</button><script>const post = path => fetch(path, {method: 'POST', body: 'tea'});"
        "it.onclick = () => post('/refused').then(() => post('/token'))"
        f".then(() => post('{again}')).then(() => it.after(1))</script>"
    )

    content = await act(browser, "click", IT)

    assert (content["effect"], content.get("reason")) == said


async def test_request_to_a_polled_path_is_an_effect_if_it_says_something_else(browser: Browser) -> None:
    """The ids and times in what is polled change. With tokens that change, only the path is compared."""
    await browser.show("""<button id=save onclick="send('save Tea')">Save</button>
      <button id=poll onclick="send('poll')">Poll now</button>
      <button id=query onclick="fetch('/saved?do=save')">Query</button>
      <button id=token onclick="fetch('/token', {method: 'POST', body: btoa(Math.random())})">Token</button>
      <script>
        let n = 0
        function send(method) {
          return fetch('/saved', {method: 'POST', body: JSON.stringify({id: Date.now(), method})})
        }
        setInterval(async () => {
          await Promise.all([
            send('poll'), fetch('/saved?since=' + n),
            fetch('/token', {method: 'POST', body: btoa(Math.random())}),
          ])
          n++
        }, 100)
      </script>""")
    await browser.call("wait_for", function="n >= 4")

    effects = [(await act(browser, "click", {"selector": f"#{id}"}))["effect"] for id in EFFECTS_BESIDE_POLLS]

    # A request to a polled path is not awaited. On a busy machine, it may be unanswered.
    answered = [each.replace(" pending", " 200") for each in effects]
    assert answered == list(EFFECTS_BESIDE_POLLS.values())


EFFECTS_BESIDE_POLLS = {
    "save": "request POST /saved 200",
    "poll": "script",
    "query": "request GET /saved 200",
    "token": "script",
}


@pytest.mark.slow
async def test_request_of_a_much_earlier_action_is_not_polling(browser: Browser) -> None:
    """The server knows the times of the last hundred actions only."""
    await browser.show("<button id=it onclick='fetch(`/saved`)'>Save</button>")
    await reasons(browser, click("#it", "#it", "#it"))
    for _ in range(101):
        await act(browser, "mouse_move", {"x": 5, "y": 5, "observe": "none", "settle": "none"})

    content = await act(browser, "click", {"selector": "#it"})

    assert content["effect"] == "request GET /saved 200"


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "sandbox"])
async def test_listeners_in_cross_origin_frames_are_checked(browser: Browser, host: str) -> None:
    """A frame of another site has a process of its own, and one of another port of the same host has not."""
    inside = (
        "<div><p>Text</p><button id=dead>Dead</button><button id=vain onclick='void 0'>Vain</button></div>"
    )
    inside += "<button id=kept onclick='window.kept = 1'>Kept</button>"
    async with serve_site() as other:
        address = other.page(inside).replace("127.0.0.1", host)
        frame = f"<iframe src={address}></iframe>"
        if host == "sandbox":
            frame = f'<iframe sandbox="allow-scripts" srcdoc="{inside}"></iframe>'
        await browser.show(f"<p>Above</p><div>{frame}</div>")

        acts = [
            await act(browser, "click", {"selector": f"iframe >> #{id}"}) for id in ("dead", "vain", "kept")
        ]

    assert [(each["effect"], each["reason"]) for each in acts] == [
        ("none", "nothing on the page listens for clicks there"),
        ("none", "listeners of the page received it and changed nothing"),
        ("script", "a script of the page ran, and the page does not show what it did"),
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("select", {"selector": "select", "value": "B"}, "this option was selected already"),
        ("check", {"selector": "#on"}, "it was checked already"),
        ("uncheck", {"selector": "#off"}, "it was unchecked already"),
    ],
)
async def test_field_already_in_the_requested_state_is_reported(
    browser: Browser, tool: str, arguments: Mapping[str, Any], reason: str
) -> None:
    await browser.show(
        "<select><option value=a>A<option value=b selected>B</select>"
        "<input type=checkbox id=on checked aria-label=On><input type=checkbox id=off aria-label=Off>"
    )

    answer = await act(browser, tool, arguments)

    assert (answer["effect"], answer["reason"]) == ("none", reason)


async def test_field_in_the_requested_state_has_no_effect_on_a_page_that_has_changed(
    browser: Browser,
) -> None:
    await browser.show("<label><input type=checkbox id=on checked>On</label><p id=late></p>")
    await browser.call("evaluate", script="late.textContent = 'late'", observe="none", settle="none")

    answer = await act(browser, "check", {"selector": "#on"})

    assert (answer["effect"], answer["reason"]) == ("none", "it was checked already")
    assert "late" in answer["observation"]["text"]


async def test_ping_of_a_followed_link_is_not_reported_as_failed(browser: Browser) -> None:
    await browser.show("<a id=it href=/thanks ping=/saved>Go</a>")

    answer = await act(browser, "click", {"selector": "#it"})

    assert re.fullmatch(r"request POST /saved (200|pending), navigation", answer["effect"])
    assert "reason" not in answer


async def test_choice_that_the_page_takes_back_has_a_reason(browser: Browser) -> None:
    await browser.show("<select onchange='this.value = `A`'><option>A<option>B</select>")

    answer = await act(browser, "select", {"selector": "select", "value": "B"})

    assert (answer["effect"], answer["reason"]) == ("none", "the page kept the same choice")


@pytest.mark.parametrize(
    ("script", "effect", "reason"),
    [
        (
            "const sent = new XMLHttpRequest(); sent.open('POST', '/broken', false); sent.send();"
            " it.checked = false",
            "request POST /broken 500",
            "POST /broken answered 500",
        ),
        ("it.checked = false", "none", "the page put the box back"),
    ],
)
async def test_error_of_a_box_that_the_page_puts_back_names_the_reason(
    browser: Browser, script: str, effect: str, reason: str
) -> None:
    await browser.show(f'<input type=checkbox id=it aria-label=News onchange="{script}">')

    content = await act(browser, "check", {**IT, "timeout": 1_500})

    assert content["error"]["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert (content["effect"], content["reason"]) == (effect, reason)


async def test_changes_at_the_time_of_a_click_on_nothing_have_another_cause(browser: Browser) -> None:
    """Here another element changes each time, so none is a clock."""
    await browser.show(
        """<button id=it>Dead</button><div id=log></div>
        <script>at = log; setInterval(() => at = at.appendChild(document.createElement('p')), 40)</script>"""
    )

    async with asyncio.timeout(30):
        while (answer := await act(browser, "click", IT))["effect"] != "none":
            pass
        while "has another cause" not in answer["reason"]:
            answer = await act(browser, "click", IT)

    assert answer["reason"].startswith("nothing on the page listens for clicks there")


@pytest.mark.parametrize(
    "html",
    [
        "<button id=it>Go</button><script>it.addEventListener('click', LATE, {once: true})</script>",
        "<button id=it>Go</button><script>document.addEventListener('click', LATE)</script>",
        "<button id=it>Go</button><script>it.onmouseup = LATE</script>",
        "<button id=it>Go</button><script>it.onfocus = LATE</script>",
        "<button id=it>Go</button><script>it.onclick = () => queue.postMessage(0)</script>",
        "<button id=it>Go</button><script>it.onclick = async () => { await 0; LATE() }</script>",
        "<label id=it>Go<input type=checkbox onchange='LATE()' hidden></label>",
        "<input id=box onblur='LATE()'><p id=it>beside</p><script>box.focus()</script>",
        "<details id=box ontoggle='LATE()'><summary id=it>More</summary>words</details>",
        "<a id=it href='#there'>Go</a><p id=there>there</p><script>onhashchange = LATE</script>",
    ],
)
async def test_late_change_by_a_click_is_its_effect(browser: Browser, html: str) -> None:
    await browser.show(
        f"""<p id=out></p><script>
        const show = () => out.textContent = 'done';
        const LATE = () => setTimeout(show, 20);
        const {{port1: queue, port2}} = new MessageChannel();
        port2.onmessage = show;
        </script>{html}"""
    )

    answer = await act(browser, "click", IT)

    assert answer["effect"] in ("page", "navigation"), answer
    assert "another cause" not in answer.get("reason", "")


async def test_choice_that_no_snapshot_shows_has_an_effect(browser: Browser) -> None:
    await browser.show("<div aria-hidden=true><select><option>A<option>B</select></div>")

    first = await act(browser, "select", {"selector": "select", "value": "B"})
    second = await act(browser, "select", {"selector": "select", "value": "B"})

    assert (first["effect"], "reason" in first) == ("page", False)
    assert (second["effect"], second["reason"]) == ("none", "this option was selected already")


async def test_key_that_moves_the_focus_out_of_the_page_has_an_effect(browser: Browser) -> None:
    inside = browser.site.page("<button>Inside</button>").replace("127.0.0.1", "localhost")
    for html, keys in (
        ("<button>Only</button>", ("Tab", "Tab")),
        ("<input autofocus onkeydown='event.key === `Escape` && this.blur()'>", ("Escape",)),
        (f"<iframe src={inside}></iframe>", ("Tab", "Tab")),
    ):
        await browser.show(html)
        assert [(await act(browser, "press", {"key": key}))["effect"] for key in keys] == ["page"] * len(keys)


# The mouse over an element

HOVERED = """<style>
    .card { overflow: hidden } .card p { position: absolute; left: -9999px } #moved:hover p { left: 0 }
    #faded p { opacity: 0; transition: opacity 0.2s } #faded:hover p { opacity: 1 }
    #grown p { max-height: 0; overflow: hidden } #grown:hover p { max-height: 20px }
    #tip::after { content: attr(data-tip); opacity: 0 } #tip:hover::after { opacity: 1 }
    #red:hover { background: red; opacity: 0.9 } html:hover p { color: blue }
    </style>
    <div id=moved class=card>Moved <p>A</p></div> <div id=faded>Faded <p>B</p></div>
    <div id=grown>Grown <p>C</p></div> <button id=tip data-tip=Delete>Tip</button>
    <button id=red>Red</button> <button id=heard>Heard</button> <button id=deaf>Deaf</button>
    <script>heard.onpointerenter = () => {}; Map = Set = Array = Element.prototype.matches = null</script>
"""
SHOWN = ("page", "styles for :hover show something that the page had before, but out of sight")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("#moved", SHOWN),
        ("#faded", SHOWN),
        ("#grown", SHOWN),
        ("#tip", SHOWN),
        ("#red", ("none", "styles for :hover changed only the look")),
        (
            "#heard",
            ("none", "listeners of the page received it, and the page shows nothing of what they did"),
        ),
        ("#deaf", ("none", "nothing on the page reacts to the mouse there")),
    ],
)
async def test_hover_effect_is_reported(browser: Browser, selector: str, said: tuple[str, str]) -> None:
    await browser.show(HOVERED)

    content = await act(browser, "hover", {"selector": selector})

    assert (content["effect"], content.get("reason")) == said
