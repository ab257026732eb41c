"""Validation of the typed Playwright client's parameters: URLs, selectors, scripts, time limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser_client.css_selectors import problem_of
from footlight.browser_client.validation import (
    validate_fields,
    validate_host,
    validate_script,
    validate_selector,
    validate_timeout,
    validate_url,
)
from footlight.protocol.errors import ToolInvocationError
from tests.conftest import ENGINE, Browser

GOOD_SELECTORS = """\
*|a|#id|.c|a.b#c|a b|a > b|a+b|a ~ b|a, b|  a  |e12|f1e2|my-element|A.B|[x]|[x=y]|[x='y z']|[x~=y]
[x^="http://"]|[x$=".pdf" i]|[x*=y]|[ x = "y" ]|[data-x="a]b"]|[data-x="a\\"b"]|[data-x="//"]|[data-π]
:hover|:focus-visible|:checked|:disabled|:required|:invalid|:user-invalid|:placeholder-shown|:modal|:open
:popover-open|:autofill|:-webkit-autofill|:defined|:root|:empty|:scope|:first-child|:only-of-type|:NOT(b)
:nth-child(2)|:nth-child( 2n + 1 )|:nth-child(odd)|:nth-child(-n+3)|:nth-child(2N+1)|:nth-child(2n+1 of .x)
:nth-child(even of li, .y)|:nth-last-of-type(n)|:is(a,b)|:is()|:where(a, b > c)|:not(a, .b)|:not(a > b)
:has(a)|:has(> a)|:has(+ a, ~ b)|:not(:has(a))|:is(:has(a))|:lang(de)|:dir(ltr)|:host(.x)|:state(x)
a:has(> img:not([alt]))|form > label + input ~ button|tr:nth-child(2) td:last-child
#\\31 23|.a\\:b|.sm\\:hover\\:bg\\[1\\]|#a\\.b|.w-1\\/2|.\\,|.é|.日本|.😀|.-a|.--x|button/**/.x|/* c */ a"""

BAD_SELECTORS = """\
a,|,a|a,,b|a >|> a|a > > b|#|.|#1|.1|a..b|a*|**|[|[x==y]|[=y]|[x=y z]|[x=1]|[x=y q]|a[1]|a(b)|a)|a]|a}|a{b}
a;b|a!b|a$b|@a|50%|1|"a"|a:|a::|a:nope|:nope(x)|:not()|:has()|:has(> )|:has(:has(a))|:nth-child()
:nth-child(x)|:nth-child(2 of)|:nth-child(n + )|:nth-of-type(2 of a)|:lang()|:is|:not|:has|:focus()|:hover(a)
a:has-text("x")|:visible|a:contains('x')|:first|:eq(1)|a >> b|a >>> b|text=Go|role=button|css=a|ns:a(b)
//a|//div[@id='x']|/html/body|(//a)[1]|( //a )[1]|./a|../a|xpath=//a|XPATH = //a"""


def refusal(check: Callable[..., Any], value: object) -> dict[str, Any]:
    with pytest.raises(ToolInvocationError) as caught:
        check(value, tool="browser_x")
    error = caught.value
    return {
        "message": error.message,
        "reason": error.reason,
        "tool": error.tool_name,
        "args": error.tool_args,
    }


def parts(corpus: str) -> list[str]:
    return [part for line in corpus.split("\n") for part in line.split("|")]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "https://example.com:8443/a?b=c#d",
        "HTTP://EXAMPLE.COM/",
        "http://[::1]:80/",
        "http://127.0.0.1:0/",
        "http://user:secret@example.com/",
        "https://例え.jp/ä b",
        "http://a_b/",
    ],
)
def test_valid_web_url_is_unchanged(url: str) -> None:
    assert validate_url(url, tool="browser_navigate") == url


@pytest.mark.parametrize(
    ("url", "way_out"),
    [
        *[
            (url, "must start with http:// or https://")
            for url in (
                *("", " http://example.com", "example.com", "//example.com", "http:example.com"),
                *("file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "about:blank"),
                *("ftp://example.com", "https:/example.com", "view-source:http://example.com", None, 7),
            )
        ],
        ("http://example.com/\n", "has a line break, a tab or another control character; remove it"),
        ("http://exam\tple.com/", "has a line break, a tab or another control character; remove it"),
        *[
            (url, "is not valid by the URL Standard; check its host and its port")
            for url in (
                *("http://", "http://a b/", "http://[::1", "http://x:99999", "http://a%/", "http://a<b/"),
                *("http://1.2.3.256/", "http://:80/", "https://?x", "http://x:y/", "http://\ud800/"),
            )
        ],
    ],
)
def test_invalid_web_url_is_refused_with_a_remedy(url: object, way_out: str) -> None:
    assert refusal(validate_url, url) == {
        "message": f"browser_x: url {way_out}",
        "reason": "invalid",
        "tool": "browser_x",
        "args": {"url": url},
    }


@pytest.mark.anyio
@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://[::1]/", "http://localhost/"])
async def test_resolvable_host_is_accepted(url: str) -> None:
    await validate_host(url, tool="browser_navigate")


@pytest.mark.anyio
@pytest.mark.parametrize("host", ["no-such-host.invalid", "xn--a.invalid"])
async def test_unresolvable_host_is_refused(host: str) -> None:
    with pytest.raises(ToolInvocationError) as caught:
        await validate_host(f"http://{host}/", tool="browser_navigate")

    assert caught.value.message == f"browser_navigate: url leads to a host that has no address: {host}"


@pytest.mark.parametrize("selector", parts(GOOD_SELECTORS))
def test_modern_selectors_are_accepted(selector: str) -> None:
    """An earlier implementation knew the selectors of 1998."""
    assert validate_selector(selector, tool="browser_click") == selector


@pytest.mark.parametrize("selector", parts(BAD_SELECTORS))
def test_invalid_selector_is_refused(selector: str) -> None:
    assert problem_of(selector) is not None


@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        ("", "must not be empty"),
        (" \n", "must not be empty"),
        ("//a", "must be CSS, not XPath; name the element by its id, class, attributes or ref"),
        (
            "a::before",
            "names a pseudo-element, which is not an element; name the element that it belongs to",
        ),
        ("a:nope", "is not valid CSS: there is no pseudo-class :nope"),
        (":nth-child(x)", "is not valid CSS: :nth-child() takes numbers such as 2, odd or 2n+1"),
        ("a..b", "is not valid CSS: Expected a class name, got <LiteralToken .>"),
        (7, "must be a string"),
    ],
)
def test_invalid_selector_error_names_the_problem(selector: object, problem: str) -> None:
    assert refusal(validate_selector, selector) == {
        "message": f"browser_x: selector {problem}",
        "reason": "invalid",
        "tool": "browser_x",
        "args": {"selector": selector},
    }


@given(st.text(alphabet="a1#.[]()=:*|>+~,'\"\\ -n/_é\n", max_size=30))
def test_any_selector_text_is_accepted_or_refused(selector: str) -> None:
    """No text makes the judge itself fail."""
    problem = problem_of(selector)

    assert problem is None or problem.startswith(("is", "must", "names"))


@pytest.mark.anyio
@pytest.mark.skipif(ENGINE != "chromium", reason="each engine has pseudo-classes of its own; Chromium judges")
async def test_selector_validation_matches_the_browser(shared_browser: Browser) -> None:
    selectors = [*parts(GOOD_SELECTORS), *parts(BAD_SELECTORS)]
    script = """selectors => selectors.filter(selector => {
        try { document.querySelector(selector); return true } catch { return false }
    })"""

    data = await shared_browser.call("evaluate", script=script, args=[selectors])

    accepted = set(data["result"])
    assert {selector for selector in selectors if problem_of(selector) is None} == accepted


@pytest.mark.parametrize(
    "script",
    [
        "document.title",
        "() => 1 + 1",
        "function important() { return 'retrieval' }",
        'x => x["evaluation"]',
        "document.importNode(a)",
        "el.required = true",
        "page.$eval",
        "_eval + evals + éval + $import",
        "x" * 10_000,
    ],
)
def test_harmless_lookalike_scripts_are_accepted(script: str) -> None:
    assert validate_script(script, tool="browser_evaluate") == script


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("eval('1')", "eval"),
        ("window.eval('1')", "eval"),
        ("(0,eval)('1')", "eval"),
        ("window['eval']('1')", "eval"),
        ("import('x')", "import"),
        ("import x from 'y'", "import"),
        ("import.meta", "import"),
        ("const fs = require('fs')", "require"),
        ("\\u0065val('1')", "eval"),
        ("ev\\u{61}l('1')", "eval"),
        ("r\\u{000065}quire('x')", "require"),
    ],
)
def test_script_that_loads_or_generates_code_is_refused(script: str, word: str) -> None:
    assert refusal(validate_script, script) == {
        "message": f"browser_x: script must not use {word}; write what it does in the script itself",
        "reason": "invalid",
        "tool": "browser_x",
        "args": {"script": script},
    }


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("", "must not be empty"),
        (" \n\t", "must not be empty"),
        (None, "must not be empty"),
        ("x" * 10_001, "has 10001 characters; the limit is 10000"),
        ("\\u{110000}" + "eval(1)", "must not use eval; write what it does in the script itself"),
    ],
)
def test_a_script_of_the_wrong_length_is_refused(script: object, problem: str) -> None:
    assert refusal(validate_script, script)["message"] == f"browser_x: script {problem}"


@pytest.mark.parametrize("timeout_ms", [1_000, 30_000, 300_000])
def test_timeouts_within_the_limits_are_accepted(timeout_ms: int) -> None:
    assert validate_timeout(timeout_ms, tool="browser_click") == timeout_ms


@pytest.mark.parametrize("timeout_ms", [999, 300_001, 0, -1, True, 1_000.0, float("nan"), "30000", None])
def test_timeouts_beyond_the_limits_are_refused(timeout_ms: object) -> None:
    assert refusal(validate_timeout, timeout_ms)["message"] == (
        "browser_x: timeout_ms must be a whole number from 1000 to 300000"
    )


def test_fields_map_selectors_to_strings() -> None:
    fields = {"#name": "Ada", "e12": "true"}

    assert validate_fields(fields, tool="browser_fill_form") == fields


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "must map at least one selector to its value"),
        ([("#a", "b")], "must map at least one selector to its value"),
        ({"//a": "b"}, "must be CSS, not XPath; name the element by its id, class, attributes or ref"),
        ({"#a": "b", "": "c"}, "must not be empty"),
        ({"#a": True}, "must have a string for #a; write true as 'true'"),
    ],
)
def test_malformed_fields_are_refused(fields: object, problem: str) -> None:
    assert refusal(validate_fields, fields)["message"] == f"browser_x: fields {problem}"
