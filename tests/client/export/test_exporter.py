"""Exporting a call log as a test."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footlight.client.export.exporter import export_test, name_of_test
from footlight.client.replay.calls import LoggedCall, LoggedOutcome, read_calls
from footlight.client.replay.logged_results import Sidecars
from footlight.protocol.errors import MCPError
from tests.client.codegen.checking import errors_in
from tests.client.export.test_python_source import format_source, values
from tests.processor_time import limit_processor_time


def make_call(
    name: str, arguments: dict[str, Any] | None = None, result: Any = None, **more: Any
) -> dict[str, Any]:
    return {"name": name, "arguments": arguments or {}, "result": result, **more}


def body(*calls: dict[str, Any], **variables: str) -> list[str]:
    """Return the lines in the test's function."""
    logged = [
        LoggedCall(
            2 * at + 1,
            call["name"],
            call["arguments"],
            LoggedOutcome(not call.get("error"), call["result"], call.get("error", ""), call.get("locator")),
            raw=call.get("raw", True),
            redacted=call.get("redacted", False),
        )
        for at, call in enumerate(calls)
    ]
    text = export_test(logged, name="log.jsonl", test="test_it", variables=variables)
    assert format_source(text) == text
    head, _, lines = text.partition("async def test_it(mcp: DynamicHandle) -> None:\n")
    for module in ("json", "os", "re"):
        assert (f"import {module}\n" in head) == (f"{module}." in lines)
    return [line.removeprefix("    ") for line in lines.splitlines()]


def test_whole_exported_file_matches_the_expected_text() -> None:
    log = (
        '{"name":"session.open","arguments":{"sessionName":"p4n"},"_phase":"before","_seq":1}\n'
        '{"name":"session.open","arguments":{"sessionName":"p4n"},"_phase":"after","_result":{"opened":true},"_ok":true,"_ms":84,"_seq":1}\n'
        '{"name":"nav.goto","arguments":{"sessionName":"p4n","url":"https://park4night.com/en"},"_phase":"before","_seq":2}\n'
        '{"name":"nav.goto","arguments":{"sessionName":"p4n","url":"https://park4night.com/en"},"_phase":"after","_result":{"title":"Park"},"_ok":true,"_ms":312,"_seq":2}\n'
        '{"name":"nav.goto","arguments":{"sessionName":"p4n","url":"https://no.example"},"_phase":"before","_seq":3}\n'
        '{"name":"nav.goto","arguments":{"sessionName":"p4n","url":"https://no.example"},"_phase":"after","_ok":false,"_ms":18,"_error":"net::ERR_NAME_NOT_RESOLVED","_seq":3}\n'
        '{"name":"session.close","arguments":{"sessionName":"p4n"},"_phase":"before","_seq":4}\n'
    )

    text = export_test(
        read_calls(log.encode(), name="x"), name="p4n.jsonl", test="test_p4n", server="footlight serve"
    )

    assert text == (
        '"""Exported by `footlight export` from p4n.jsonl."""\n'
        "\n"
        '# Run it with pytest --mcp-server "footlight serve"\n'
        "\n"
        "import pytest\n"
        "\n"
        "from footlight import MCPError\n"
        "from footlight.client.handles.dynamic import DynamicHandle\n"
        "\n"
        "pytestmark = pytest.mark.anyio\n"
        "\n"
        "\n"
        "@pytest.fixture\n"
        "def anyio_backend() -> str:\n"
        '    return "asyncio"\n'
        "\n"
        "\n"
        "async def test_p4n(mcp: DynamicHandle) -> None:\n"
        '    result = await mcp.nav.goto(url="https://park4night.com/en")\n'
        '    assert result == {"title": "Park"}\n'
        '    with pytest.raises(MCPError, match="net::ERR_NAME_NOT_RESOLVED"):\n'
        '        await mcp.nav.goto(url="https://no.example")\n'
    )
    assert format_source(text) == text


def test_tool_names_invalid_in_python_are_handled() -> None:
    assert body(
        make_call("health"),
        make_call("browser.run.file", {"path": "x"}),
        make_call("nav.class", {"class": 1}),
        make_call("a-b.c", {"x-y": 1}),
        make_call("root.x"),
        make_call("_x"),
        make_call(".x"),
        make_call("x."),
        make_call("nav.goto", {"self": 1, "parallel": True, "timeout_ms": 5, "__debug__": 2}),
    ) == [
        "await mcp.root.health()",
        'await mcp.browser["run.file"](path="x")',
        'await mcp.nav["class"]({"class": 1})',
        'value_of(await mcp.call("a-b.c", {"x-y": 1}))',
        'value_of(await mcp.call("root.x", {}))',
        'await mcp.root["_x"]()',
        'value_of(await mcp.call(".x", {}))',
        'value_of(await mcp.call("x.", {}))',
        'await mcp.nav.goto({"self": 1, "parallel": True, "timeout_ms": 5, "__debug__": 2})',
    ]


@pytest.mark.parametrize("empty", [[], {}, ""])
def test_empty_result_is_asserted(empty: object) -> None:
    assert body(make_call("a", result=empty))[1:] == [f"assert result == {json.dumps(empty)}"]


def test_only_stable_values_are_asserted() -> None:
    page = {
        "url": "http://127.0.0.1:8080/a",
        "title": "A",
        "timing": {"load": 3},
        "count": 2,
        "more": None,
        "ok": True,
    }

    assert body(
        make_call("a", result={"success": True, "data": {"text": "Place an order"}}),
        make_call("a", result=page),
        make_call(
            "a",
            result={"success": True, "observation": {"text": "~ e21 textbox"}, "data": {"said": "[e4] e5 x"}},
        ),
        make_call("a", result="[text 3847 chars → .mcp-log/4-a.txt]"),
        make_call("a", result="one\nthree"),
        make_call("a", result="plain"),
        make_call("a", result=7),
        make_call("a", result={"long": "x" * 300, "rows": [["a"], []]}),
    ) == [
        "result = await mcp.root.a()",
        'assert result == {"success": True, "data": {"text": "Place an order"}}',
        "result = await mcp.root.a()",
        'assert "http://127.0.0.1:" in result["url"]',
        'assert result["title"] == "A"',
        'assert result["count"] == 2',
        'assert result["more"] is None',
        'assert result["ok"] is True',
        "await mcp.root.a()",
        "await mcp.root.a()",
        "result = await mcp.root.a()",
        'assert "three" in result',
        "result = await mcp.root.a()",
        'assert result == "plain"',
        "result = await mcp.root.a()",
        "assert json.loads(result) == 7",
        "result = await mcp.root.a()",
        f'assert result["long"].startswith("{"x" * 60}")',
        'assert result["rows"][0][0] == "a"',
    ]


def test_refs_are_replaced_by_logged_locators() -> None:
    steps = [{"tool": "click", "arguments": {"selector": "e7"}}, {"tool": "back"}, "no step"]

    assert body(
        make_call("click", {"selector": "e5"}, locator="testid=save"),
        make_call(
            "fill", {"value": "e5", "selector": "[ref=e5] >> input"}, locator='role=group[name="A"] >> input'
        ),
        make_call("drag", {"source": "e5", "target": "e6"}, locator={"e5": "#a", "e6": "#b"}),
        make_call("fill_form", {"fields": {"e7": "Ada"}, "submit": "e8"}, locator={"e7": "#c", "e8": "#d"}),
        make_call("run_steps", {"steps": steps}, locator=["#c", None]),
        make_call("click", {"selector": "#given"}, locator="#other"),
        make_call("click", {"selector": "e9"}),
        make_call("click", {"selector": "e9"}, locator=7),
    ) == [
        'await mcp.root.click(selector="testid=save")',
        """await mcp.root.fill(value="e5", selector='role=group[name="A"] >> input')""",
        'await mcp.root.drag(source="#a", target="#b")',
        'await mcp.root.fill_form(fields={"#c": "Ada"}, submit="#d")',
        "await mcp.root.run_steps(",
        '    steps=[{"tool": "click", "arguments": {"selector": "#c"}}, {"tool": "back"}, "no step"],',
        ")",
        'await mcp.root.click(selector="#given")',
        "# e9 was a ref, and the log does not say of what.",
        'await mcp.root.click(selector="e9")',
        "# e9 was a ref, and the log does not say of what.",
        'await mcp.root.click(selector="e9")',
    ]


def test_secrets_are_read_from_the_environment() -> None:
    assert body(
        make_call("fill", {"selector": "#p", "value": "${my.password}"}, redacted=True),
        make_call("fill", {"selector": "#p", "value": "***"}, redacted=True),
        make_call("login", {"user": "ada", "password": "?"}, redacted=True),
        make_call("fill", {"value": "a ${x} $${y}"}, raw=False),
        make_call("fill", {"value": "`${x}`"}),
    ) == [
        'await mcp.root.fill(selector="#p", value=os.environ["MY_PASSWORD"])',
        'await mcp.root.fill(selector="#p", value=os.environ["VALUE_3"])',
        'await mcp.root.login(user="ada", password=os.environ["PASSWORD_5"])',
        'await mcp.root.fill(value="".join(["a ", os.environ["X"], " ${y}"]))',
        'await mcp.root.fill(value="`${x}`")',
    ]
    with pytest.raises(MCPError, match=r"log\.jsonl, line 1: fill was redacted when it was logged"):
        body(make_call("fill", {"value": "blue"}, redacted=True))


def test_variable_replaces_its_logged_value() -> None:
    assert body(
        make_call("goto", {"url": "http://a:1/x"}, {"url": "http://a:1/x", "title": "X"}), SHOP="http://a:1"
    ) == [
        'result = await mcp.root.goto(url="".join([os.environ["SHOP"], "/x"]))',
        'assert result["title"] == "X"',
    ]


def test_generated_ids_are_taken_from_earlier_results() -> None:
    assert body(
        make_call("add", {"text": "words"}, {"note": "note-1234abcd", "text": "words"}),
        make_call("read", {"id": "note-1234abcd"}, {"text": "words"}),
    ) == [
        'made_1 = await mcp.root.add(text="words")',
        'assert made_1["text"] == "words"',
        'result = await mcp.root.read(id=made_1["note"])',
        'assert result == {"text": "words"}',
    ]


def test_text_that_mentions_os_environ_imports_no_module() -> None:
    calls = (LoggedCall(1, "nav.goto", {"url": "os.html", "text": "os.environ[]"}),)

    text = export_test(calls, name="log.jsonl", test="test_it")

    assert "import os" not in text


@pytest.mark.slow
@limit_processor_time(20)
def test_twenty_thousand_chained_calls_are_exported() -> None:
    calls = [
        LoggedCall(n + 1, "use", {"id": f"note-{n:08}"}, LoggedOutcome(True, {"id": f"note-{n + 1:08}"}))
        for n in range(20_000)
    ]

    lines = export_test(calls, name="log.jsonl", test="test_it").splitlines()

    assert lines[-2:] == [
        '    made_19999 = await mcp.root.use(id=made_19998["id"])',
        '    await mcp.root.use(id=made_19999["id"])',
    ]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ('{"success": false, "error": {"code": "STALE_REF", "message": "e5 …"}}', ', match="STALE_REF"'),
        ("STALE_REF: e5 is gone", ', match="STALE_REF"'),
        ("There is no note (yet) 7", ', match=re.escape("There is no note (yet)")'),
        ("12 things went wrong", ', match="things went wrong"'),
        ("", ""),
        ("### Error\n\n7 8", ""),
        ('"""\nimport os', ', match="import os"'),
        ("Größer als möglich: 7", ', match="Größer als möglich:"'),
        ("失敗しました（3）", ', match="失敗しました"'),
    ],
)
def test_failure_is_matched_by_its_stable_part(error: str, line: str) -> None:
    note = ["# The log does not say how it failed, so any failure passes."] * (not line)
    assert body({**make_call("a"), "error": error or "7"}) == [
        *note,
        f"with pytest.raises(MCPError{line}):",
        "    await mcp.root.a()",
    ]


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (
            '### Error\nError: "#none" does not match any elements.',
            [
                'with pytest.raises(MCPError, match=re.escape("does not match any elements.")) as failure:',
                "    await mcp.root.a()",
                'assert "#none" in failure.value.message',
            ],
        ),
        (
            "### Error\nTimeoutError: page.goto: Timeout 5000ms exceeded.\nCall log:\n\x1b[2m  - go\x1b[22m",
            [
                'with pytest.raises(MCPError, match=re.escape("TimeoutError: page.goto: Timeout")) '
                "as failure:",
                "    await mcp.root.a()",
                'assert "ms exceeded." in failure.value.message',
                'assert "Call log:" in failure.value.message',
            ],
        ),
        (
            f"{'.' * 59}x\nsecond\n",
            [
                f'with pytest.raises(MCPError, match=re.escape("{"." * 45}")) as failure:',
                "    await mcp.root.a()",
                'assert "second" in failure.value.message',
            ],
        ),
        (
            f"Error\n{'x' * 80}… [1234 chars]",
            [f'with pytest.raises(MCPError, match="{"x" * 60}"):', "    await mcp.root.a()"],
        ),
    ],
    ids=["a selector", "a time", "long", "cut"],
)
def test_generic_error_prefix_is_not_matched(error: str, lines: list[str]) -> None:
    assert body({**make_call("a"), "error": error}) == lines


def test_stable_parts_of_a_text_are_asserted() -> None:
    """Names of files with the time, refs and variables change; the rest is what the call gave."""
    reported = (
        "### Result\n- [Screenshot of viewport](.playwright-mcp/page-2026-11-23T06-31-47-204Z.png)\n"
        "### Page\n- Page URL: http://shop:1/cart\n- Page Title: Cart (2)\n- button [ref=e12]\n"
    )

    assert body(make_call("a", result=reported), SHOP="http://shop:1") == [
        "result = await mcp.root.a()",
        'assert "- [Screenshot of viewport](.playwright-mcp/page-" in result',
        'assert ".png)" in result',
        'assert "- Page URL:" in result',
        'assert "/cart" in result',
    ]


def test_large_result_is_asserted_from_its_sidecar_file(tmp_path: Path) -> None:
    (tmp_path / "1-a.txt").write_text("### Page\n- Page Title: Cart\n" + "x" * 300)
    (tmp_path / "3-b.txt").write_text('{"structured": "otherwise"} maybe')
    log = "".join(
        json.dumps({"name": name, "arguments": {}, "_phase": phase, "_seq": seq, **more}) + "\n"
        for seq, name in ((1, "a"), (3, "b"), (5, "c"))
        for phase, more in (
            ("before", {}),
            ("after", {"_ok": True, "_result": f"[text 999 chars → side/{seq}-{name}.txt]"}),
        )
    )

    text = export_test(
        read_calls(log.encode(), name="log"), name="log", test="test_it", sidecars=Sidecars(tmp_path / "log")
    )

    assert text.partition("(mcp: DynamicHandle) -> None:\n    ")[2].splitlines() == [
        'result = await mcp.call("a", {})',
        '    assert "- Page Title: Cart" in result.text',
        f'    assert "{"x" * 60}" in result.text',
        "    await mcp.root.b()",
        "    await mcp.root.c()",
    ]


@pytest.mark.slow
def test_exported_test_has_no_type_errors(tmp_path: Path) -> None:
    """Strict, as those are who commit it."""
    calls = [
        LoggedCall(
            1,
            "nav.goto",
            {"url": "https://a.test", "word": "${WORD}"},
            LoggedOutcome(True, {"note": "note-12345678"}),
            redacted=True,
        ),
        LoggedCall(3, "read", {"id": "note-12345678"}, LoggedOutcome(True, "one\nthree")),
        LoggedCall(5, "a-b.c", {"x-y": 1}, LoggedOutcome(True, 42)),
        LoggedCall(
            7, "read", {}, LoggedOutcome(False, error="### Error\nThere is no note (yet)\nof that name")
        ),
    ]
    (tmp_path / "test_it.py").write_text(export_test(calls, name="log", test="test_it"), "utf-8")

    assert errors_in(tmp_path) == []


def test_log_without_calls_is_refused() -> None:
    with pytest.raises(MCPError, match=r"log\.jsonl: it has no calls that a test could make"):
        body(make_call("create_session"), make_call("close_session", {"sessionId": "x"}))


def test_log_of_two_sessions_is_refused() -> None:
    with pytest.raises(MCPError, match=r"log\.jsonl: its calls belong to 2 sessions \(a, b\)"):
        body(
            make_call("create_session"),
            make_call("x", {"sessionId": "a"}),
            make_call("x", {"sessionId": "b"}),
        )


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("order", "test_order"),
        ("Été 24.log", "test_t_24_log"),
        ("test_x", "test_x"),
        ("", "test_calls"),
        ("1", "test_1"),
    ],
)
def test_test_name_is_derived_from_the_file_name(given: str, name: str) -> None:
    assert name_of_test(given) == name


names = st.sampled_from(["a.b", "click", "x.y.z", "class.if"]) | st.text(min_size=1, max_size=12)
hostile = st.fixed_dictionaries(
    {"name": names, "arguments": st.dictionaries(st.text(max_size=8), values, max_size=3)},
    optional={
        "_result": values,
        "_error": st.text(max_size=60),
        "_locator": values,
        "_redacted": st.booleans(),
        "_phase": st.sampled_from(["before", "after"]),
        "_ok": st.booleans(),
        "_seq": st.integers(1, 2),
    },
)


@given(st.lists(hostile, max_size=6), st.text(max_size=20), st.text(max_size=20))
@settings(suppress_health_check=list(HealthCheck))
def test_exported_test_contains_only_logged_calls(
    lines: list[dict[str, Any]], name: str, server: str
) -> None:
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    try:
        text = export_test(read_calls(data, name="log"), name=name, test=name_of_test(name), server=server)
    except MCPError:
        return

    tree = ast.parse(text)
    statements = [type(each).__name__ for each in tree.body]
    assert statements[-3:] == ["Assign", "FunctionDef", "AsyncFunctionDef"]
    assert set(statements[:-3]) <= {"Expr", "Import", "ImportFrom"}
    assert {type(each).__name__ for each in tree.body[-1].body} <= {"Assign", "Expr", "Assert", "With"}  # pyright: ignore
    called = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    assert {each for each in called if not each.startswith("made_")} <= {
        *("pytest", "pytestmark", "mcp", "result", "MCPError", "os", "re", "value_of", "float"),
        *("DynamicHandle", "failure", "json", "str"),
    }
