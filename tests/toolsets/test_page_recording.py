"""Recording the steps in ordinary pages."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.knowledge.records import step_schema
from footlight.toolsets.page_recording import screen_name
from tests.conftest import connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio

PAGE = """<!doctype html><title>Log in</title><h1>Log in</h1>
<form onsubmit="event.preventDefault(); document.querySelector('p').textContent = 'Welcome back'">
<label>Name <input data-testid=name name=name></label>
<label>Word <input data-testid=word type=password></label>
<button data-testid=go>Log in</button></form><p role=status></p>"""
NAME, WORD, OTHER = "ada-lovelace-77", "analytical-engine-1843", "difference-engine-1822"


def steps_in(root: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(root.rglob("steps/*.json"))]


@pytest.mark.slow
async def test_page_steps_are_recorded_without_typed_text(site: Site, tmp_path: Path) -> None:
    root = tmp_path / "knowledge"
    async with connect_browser(site, "--knowledge", str(root), cwd=tmp_path) as browser:
        await browser.call("navigate", url=site.page(PAGE, path="/login/4711"))
        await browser.call("fill", selector="testid=name", value=NAME)
        await browser.call("type", selector="[type=password]", text=WORD)
        await browser.call("fill_form", fields={"[type=password]": OTHER})
        await browser.call("click", selector="testid=go")
        await browser.refused("click", selector="#nothing", timeout=300)
        await browser.call(
            "run_steps", steps=[{"tool": "get_text", "arguments": {"selector": "p"}}, {"tool": "go_back"}]
        )
        await browser.call("list_sessions")

    steps = steps_in(root)
    for step in steps:
        jsonschema.validate(step, step_schema(()), format_checker=jsonschema.FormatChecker())
    assert [(step["tool"]["name"], step["outcome"]["ok"]) for step in steps] == [
        ("navigate", True),
        ("fill", True),
        ("type", True),
        ("fill_form", True),
        ("click", True),
        ("click", False),
        ("get_text", True),
        ("go_back", True),
    ]
    assert {step["observation"]["state"]["currentScreen"] for step in steps[:-1]} == {
        f"{site.url.split('//')[1].rstrip('/')}/login/:id"
    }
    assert steps[1]["tool"] == {
        "name": "fill",
        "input": {"selector": "testid=name"},
        "target": {"testId": "name"},
        "textRedacted": True,
        "textLength": len(NAME),
    }
    assert steps[2]["tool"] == {
        "name": "type",
        "input": {"selector": "[type=password]"},
        "target": {"selector": "[type=password]"},
        "textRedacted": True,
    }
    assert steps[3]["tool"]["input"] == {"fields": ["[type=password]"]}
    assert [each["testId"] for each in steps[0]["observation"]["testIds"]] == ["name", "word", "go"]
    kept = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert not [text for text in (WORD, OTHER) if text.encode() in kept]


WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"
ECHO = """<!doctype html><title>t</title><input data-testid=word type=password><input data-testid=name>
<p data-testid=said></p><p id=alone></p><script>
const said = document.querySelector('p');
addEventListener('input', ({target: {value}}) => {
  document.title = said.textContent = said.ariaLabel = value;
  alone.innerHTML = value.split(' ').map((word, at) => `<b data-testid=b${at}>${word}</b>, `).join('');
  said.dataset.testid = 'said ' + value;
  history.replaceState(null, '', '?q=' + encodeURIComponent(value) + '#' + btoa(value));
  console.error(value);
});
</script>"""


async def test_no_record_contains_a_secret_echoed_by_the_page(site: Site, tmp_path: Path) -> None:
    root, secrets = tmp_path / "knowledge", tmp_path / "secrets"
    root.mkdir(mode=0o755)
    secrets.write_text(f"WORD={WORD}\nPHRASE='{WORDS}'\n", "utf-8")
    secrets.chmod(0o600)
    flags = ("--knowledge", str(root), "--secrets", str(secrets), "--enable-script-evaluation")
    async with connect_browser(site, *flags, cwd=tmp_path) as browser:
        await browser.call("navigate", url=site.page(ECHO))
        for test_id, name in (("word", "WORD"), ("name", "WORD"), ("name", "PHRASE")):
            await browser.call("fill", selector=f"testid={test_id}", value=f"secret:{name}")
            await browser.call("type", selector=f"testid={test_id}", text=f"secret:{name}")
            await browser.call("get_text", selector="body")
        await browser.refused("click", selector=f"text={WORD}x", timeout=300)
        await browser.refused("evaluate", script="throw new Error(document.title)")

    written = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert len(written) > 10
    assert b"[secret WORD]" in b"".join(written.values())
    base64_of_word = base64.b64encode(WORD.encode()).rstrip(b"=")
    for path, data in written.items():
        for leak in (WORD.encode(), base64_of_word, b"analytical", b"absurd", b"abandon"):
            assert leak not in data.lower(), path
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*/"))} == {0o700}


async def test_no_screen_name_contains_a_part_of_a_secret(site: Site, tmp_path: Path) -> None:
    """The name is a part of the path, with ids replaced, and either could divide the secret."""
    root, secrets = tmp_path / "knowledge", tmp_path / "secrets"
    secrets.write_text("WORD=battery-staple/18431843\n", "utf-8")
    secrets.chmod(0o600)
    async with connect_browser(
        site, "--knowledge", str(root), "--secrets", str(secrets), cwd=tmp_path
    ) as browser:
        for before in ("/", f"/{'a/' * 45}"):
            await browser.call("navigate", url=site.page("<p>x</p>", path=f"{before}battery-staple/18431843"))

    screens = [step["observation"]["state"]["currentScreen"] for step in steps_in(root)]
    assert [screen.partition("/")[2].lstrip("a/") for screen in screens] == ["[secret WORD]", "[secret W"]
    assert not [path for path in root.rglob("*") if path.is_file() and b"battery" in path.read_bytes()]


FORM = """<!doctype html><title>Form</title><input data-testid=word type=password><input data-testid=name>
<p data-testid=said></p><script>addEventListener('input', ({target: {value}}) => {
  document.querySelector('p').textContent = value;
});</script>"""


async def test_texts_typed_without_a_text_parameter_are_not_recorded(site: Site, tmp_path: Path) -> None:
    root = tmp_path / "knowledge"
    flags = ("--knowledge", str(root), "--tools", "default,expect,clipboard", "--enable-script-evaluation")
    async with connect_browser(site, *flags, cwd=tmp_path) as browser:
        await browser.call("navigate", url=site.page(FORM))
        await browser.call("drop", selector="testid=name", data={"text/plain": OTHER})
        await browser.call("evaluate", script="word => word.length", args=[OTHER])
        await browser.call("clipboard", action="write", text="plain", html=f"<b>{OTHER}</b>")
        await browser.call("click", selector="testid=name")
        for key in ("Shift+A", "d", "a", "Enter"):
            await browser.call("press", key=key)
        await browser.call("press", key="a", modifiers=["Control"])
        await browser.call("fill", selector="testid=name", value="")
        await browser.refused("expect", value={"testid=name": OTHER}, timeout=300)
        wrong = {"value": {"testid=name": "x"}, "text": "Form"}
        await browser.refused("fill", selector="testid=name", value=NAME, expect=wrong, timeout=1_000)
        await browser.call("fill_form", fields={"testid=word": WORD})

    steps = steps_in(root)
    pressed = [step["tool"]["input"] for step in steps if step["tool"]["name"] == "press"]
    assert pressed == [{}, {}, {}, {"key": "Enter"}, {"key": "a", "modifiers": ["Control"]}]
    assert steps[-1]["tool"] == {
        "name": "fill_form",
        "input": {"fields": ["testid=word"]},
        "textRedacted": True,
    }
    assert steps[-1]["observation"]["testIds"][-1]["text"] == "[REDACTED]"
    calls = json.dumps([(step["tool"], step["outcome"]) for step in steps])
    assert [text for text in (NAME, WORD, OTHER) if text in calls] == []


@pytest.mark.slow
async def test_nothing_is_recorded_by_default(site: Site, tmp_path: Path) -> None:
    async with connect_browser(site, cwd=tmp_path) as browser:
        await browser.call("navigate", url=site.page(PAGE))

    assert steps_in(tmp_path) == []


@pytest.mark.parametrize(
    ("url", "screen"),
    [
        ("https://shop.example/orders/1234?token=a#b", "shop.example/orders/:id"),
        ("https://shop.example/", "shop.example"),
        ("http://ada:word@localhost:8080/a/b/", "localhost:8080/a/b"),
        ("https://x.example/f/123e4567-e89b-12d3-a456-426614174000/edit", "x.example/f/:id/edit"),
        ("https://x.example/blog/how-to-knit", "x.example/blog/how-to-knit"),
        ("about:blank", "about"),
        ("http://[", "unknown"),
    ],
)
def test_screen_name_consists_of_site_and_path(url: str, screen: str) -> None:
    assert screen_name(url) == screen


@given(st.text())
def test_any_text_has_a_screen_name(text: str) -> None:
    assert screen_name(text)
