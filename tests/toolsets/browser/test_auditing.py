"""The tools `audit_page`, `recheck` and `web_vitals`."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from tests.conftest import ENGINE, SessionBrowser

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="the isolated world of the audit needs Chromium"),
]

PAGE = """<!doctype html><html lang=en><title>Shop</title><main><h1>Shop</h1>
<img id=logo src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' width=100 height=100>
<p id=pale style='color: #bbb; background: #fff'>Pale words on white</p>
<form><label>Name <input id=name></label><label>Password <input id=secret type=password></label>
<select id=kind aria-label=Kind><option>a<option>b</select><button>Send</button></form>
<div id=host></div></main><script>
  host.attachShadow({ mode: 'open' }).innerHTML = "<button id=inner></button>";
  window.seen = [];
  for (const type of ['focus', 'blur', 'paste', 'contextmenu', 'keydown', 'scroll', 'click', 'input',
    'change', 'resize', 'beforeunload', 'visibilitychange'])
    addEventListener(type, () => seen.push(type), true);
  secret.onpaste = () => false;
  new MutationObserver((records) => records.forEach((each) => seen.push(`mutation ${each.type}`)))
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
</script>"""


@pytest.fixture
async def shop(browser: SessionBrowser) -> SessionBrowser:
    await browser.show(PAGE)
    return browser


def find(answer: dict[str, Any], rule: str) -> dict[str, Any]:
    [finding] = [each for each in answer["findings"] if each["rule"] == rule]
    return finding


async def test_findings_have_refs_of_the_session(shop: SessionBrowser) -> None:
    answer = await shop.call("audit_page")

    image = find(answer, "axe/image-alt")
    assert image["severity"] == "critical"
    assert image["wcag"] == ["1.1.1 A"]
    [element] = image["elements"]
    assert element["selector"] == "#logo"
    assert image["id"] == f"axe/image-alt@{element['ref']}"
    attribute = await shop.call("get_attribute", selector=element["ref"], attribute="width")
    assert attribute == {"value": "100"}
    assert find(answer, "axe/color-contrast")["elements"][0]["note"].startswith("Element has insufficient")
    assert answer["total"] == len(answer["findings"]) == sum(answer["severities"].values())


async def test_audit_leaves_the_page_unchanged(shop: SessionBrowser) -> None:
    url = await shop.evaluate("location.href")
    await shop.call("fill", selector="#name", value="Ann")
    await shop.call("fill", selector="#secret", value="typed")
    await shop.call("select", selector="#kind", value="b")
    state = (
        "[scrollX, scrollY, document.activeElement.id, document.querySelector('#name').value, "
        "secret.value, kind.value, Object.keys(window).length, document.documentElement.outerHTML, "
        "performance.timeOrigin, history.length, location.href, innerWidth, typeof axe]"
    )
    before = await shop.evaluate(f"seen.length = 0, {state}")

    await shop.call("audit_page")
    await shop.call("recheck", finding="forms/paste-refused", selector="#secret")
    await shop.call("web_vitals")

    assert await shop.evaluate(state) == before
    assert await shop.evaluate("seen") == []
    assert before[3:6] == ["Ann", "typed", "b"]
    assert before[10] == url


@pytest.mark.slow
async def test_audit_answer_is_bounded_and_can_be_narrowed(browser: SessionBrowser) -> None:
    pictures = "".join(f"<img src=/none-{number}><a href=#></a>" for number in range(200))
    await browser.show(f"<title>t</title><main>{pictures}</main>")

    answer = await browser.call("audit_page", families=["axe"], limit=2)

    assert len(answer["findings"]) == 2
    assert answer["total"] > 2
    assert {each["rule"].partition("/")[0] for each in answer["findings"]} == {"axe"}
    assert all(len(each["elements"]) <= 3 for each in answer["findings"])
    assert len(json.dumps(answer)) < 6_000


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("rule", "selector", "repair"),
    [
        ("axe/image-alt", "#logo", "logo.alt = 'The shop'"),
        ("axe/color-contrast", "#pale", "pale.style.color = '#000'"),
        ("axe/button-name", "#inner", "host.shadowRoot.querySelector('button').textContent = 'Go'"),
    ],
)
async def test_recheck_tells_whether_a_finding_still_exists(
    shop: SessionBrowser, rule: str, selector: str, repair: str
) -> None:
    found = find(await shop.call("audit_page"), rule)

    before = await shop.call("recheck", finding=found["id"])
    await shop.evaluate(f"{repair}, 0")
    after = await shop.call("recheck", finding=found["id"])

    assert before["found"] is True
    assert before["finding"]["id"] == found["id"]
    assert before["finding"]["count"] == 1
    assert before["finding"]["advice"]
    assert after == {"rule": rule, "found": False}


@pytest.mark.slow
async def test_single_element_of_many_is_rechecked(browser: SessionBrowser) -> None:
    """A finding names the first ten elements of a rule, and this is the twentieth."""
    pictures = "".join(f"<img id=i{number} src=/none-{number}>" for number in range(30))
    await browser.show(f"<title>t</title><main>{pictures}</main>")

    before = await browser.call("recheck", finding="axe/image-alt", selector="#i20")
    await browser.evaluate("document.querySelector('#i20').alt = 'x', 0")
    after = await browser.call("recheck", finding="axe/image-alt", selector="#i20")

    assert [each["selector"] for each in before["finding"]["elements"]] == ["#i20"]
    assert after == {"rule": "axe/image-alt", "found": False}
    assert (await browser.call("recheck", finding="axe/image-alt"))["finding"]["count"] == 29


async def test_handler_attribute_is_found_by_recheck(browser: SessionBrowser) -> None:
    await browser.show("<title>t</title><body oncontextmenu='return false'><main><h1>Teas</h1>")

    assert (await browser.call("recheck", finding="page/no-context-menu"))["found"] is True


@pytest.mark.slow
async def test_recheck_of_a_removed_element_finds_nothing(shop: SessionBrowser) -> None:
    found = find(await shop.call("audit_page"), "axe/image-alt")
    await shop.evaluate("logo.remove(), 0")

    assert await shop.call("recheck", finding=found["id"]) == {
        "rule": "axe/image-alt",
        "found": False,
        "note": "its element is gone",
    }


async def test_page_that_was_loaded_again_is_rechecked_as_a_whole(browser: SessionBrowser) -> None:
    url = browser.site.page("<!doctype html><html lang=en><title>t</title><main><h1>x</h1><img src=/x.png>")
    await browser.call("navigate", url=url)
    found = find(await browser.call("audit_page", families=["axe"]), "axe/image-alt")

    await browser.call("reload")
    again = await browser.call("recheck", finding=found["id"])
    await browser.evaluate("document.querySelector('img').alt = 'x', 0")
    repaired = await browser.call("recheck", finding=found["id"])
    await browser.show("<title>Another page</title><p>x")
    elsewhere = await browser.refused("recheck", finding=found["id"])

    assert (again["found"], again["finding"]["elements"][0]["selector"]) == (True, "img")
    note = "the page was loaded again, so all of it was checked"
    assert (again["note"], repaired) == (note, {"rule": "axe/image-alt", "found": False, "note": note})
    assert elsewhere["code"] == "STALE_REF"


async def test_recheck_of_an_unknown_element_is_refused(shop: SessionBrowser) -> None:
    error = await shop.refused("recheck", finding="axe/image-alt", selector="#none", timeout=300)

    assert error["code"] == "ELEMENT_NOT_FOUND"


async def test_audit_does_not_find_its_own_requests(browser: SessionBrowser) -> None:
    await browser.show(
        "<title>t</title><main><h1>x</h1><a href=/no-such-page>Gone</a><img src=/x.png></main>"
    )
    families = ["console", "links"]

    first = await browser.call("audit_page", families=families)
    second = await browser.call("audit_page", families=families)
    image = find(second, "console/missing-image")
    again = await browser.call("recheck", finding=image["id"])

    assert [each["rule"] for each in first["findings"]] == ["links/broken", "console/missing-image"]
    assert [each["id"] for each in second["findings"]] == [each["id"] for each in first["findings"]]
    assert (await browser.call("console_messages"))["total"] == 1
    assert again["finding"]["id"] == image["id"]


@pytest.mark.parametrize("rule", ["speed/heavy", "focus/trap", "nothing", "axe/no-such-rule", "forms/none"])
async def test_rule_that_cannot_be_rechecked_alone_is_refused(shop: SessionBrowser, rule: str) -> None:
    error = await shop.refused("recheck", finding=rule)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(f"finding: {'the rule ' if 'axe' not in rule else ''}{rule} c")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "trap",
    [
        "Array.prototype.map = () => { throw 1 }; Element.prototype.getBoundingClientRect = () => ({})",
        "window.axe = { run() { throw 1 } }; globalThis[Symbol.for('footlight.elements')] = 1",
        "document.querySelectorAll = () => []; window.eval = () => 1; JSON.stringify = () => '[]'",
        "setInterval(() => console.error('flood'.repeat(1000)), 1)",
    ],
)
async def test_hostile_page_cannot_hide_findings(browser: SessionBrowser, trap: str) -> None:
    await browser.show(f"{PAGE}<script>{trap}</script>")

    answer = await browser.call("audit_page", families=["axe"])

    assert find(answer, "axe/image-alt")["elements"][0]["selector"] == "#logo"


@pytest.mark.slow
async def test_audit_of_a_hanging_page_ends_in_time(browser: SessionBrowser) -> None:
    await browser.show(PAGE)
    await browser.evaluate("setTimeout(() => { for (;;); }, 300), 0")

    with anyio.fail_after(20):
        result = await browser.answer("audit_page", timeout=5_000)

    content = result.structured_content
    assert content is not None
    assert content.get("error", {}).get("code") == "TIMEOUT" or content["data"]["skipped"]


async def test_page_with_strict_csp_is_audited(browser: SessionBrowser) -> None:
    await browser.show(
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"><title>t</title>"
        "<img id=a src=x>"
    )

    assert find(await browser.call("audit_page"), "axe/image-alt")["elements"][0]["selector"] == "#a"


async def test_web_vitals_belong_to_the_current_document(browser: SessionBrowser) -> None:
    await browser.show(
        """<title>t</title><h1 id=big style='font-size: 60px'>Large words of the page</h1><p id=low>below</p>
        <button id=slow onclick="for (const end = performance.now() + 250; performance.now() < end;);">
        go</button>"""
    )
    await browser.call(
        "evaluate",
        script="new Promise(done => setTimeout(() => { document.body.prepend(Object.assign("
        "document.createElement('div'), {style: 'height: 300px'})); requestAnimationFrame(() => "
        "requestAnimationFrame(() => setTimeout(done, 100))) }, 600))",
    )
    before = await browser.call("web_vitals")
    await browser.call("click", selector="#low")
    with anyio.fail_after(30):
        while "inp" not in (quick := await browser.call("web_vitals")):
            pass
        await browser.call("click", selector="#slow")
        while (after := await browser.call("web_vitals"))["inp"]["value"] < 200:
            pass

    assert before["lcp"]["elements"][0]["selector"] == "#big"
    assert before["cls"]["value"] > 0
    assert before["cls"]["elements"]
    assert {"fcp", "ttfb"} <= set(before)
    assert "inp" not in before
    assert (before["interactions"], before["note"]) == (
        0,
        "inp: no interaction was recorded yet; click or type, then call again",
    )
    # A browser rounds the duration to 8 ms, so that a quick interaction may have taken none.
    assert quick["inp"]["elements"][0]["selector"] == "#low"
    assert after["inp"]["rating"] != "good"
    assert after["inp"]["elements"][0]["selector"] == "#slow"
    assert after["interactions"] >= 1
