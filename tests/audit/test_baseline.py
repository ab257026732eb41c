"""Recognising findings of an earlier run, and the paths of pages for code hosts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from footlight.audit.baseline import is_known, load_baseline, new_findings, page_path
from footlight.audit.report.json_report import render_json
from footlight.audit.thresholds import Thresholds
from footlight.errors import ConfigurationError
from tests.audit.report.audits import audit, element, finding, page

URL = "http://127.0.0.1:8000/order"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://shop.test", "shop.test/index.html"),
        ("https://shop.test/", "shop.test/index.html"),
        ("https://user:word@shop.test:8443/a/b.html#c", "shop.test%3A8443/a/b.html"),
        ("https://shop.test/list?page=2", "shop.test/list%3Fpage=2"),
        ("https://shop.test/../../etc/%2e%2e/passwd", "shop.test/etc/%2e%2e/passwd"),
        ("https://shop.test/100%/ä b", "shop.test/100%25/%C3%A4%20b"),
        ("http://127.0.0.1:8000/", "public/index.html"),
        ("http://127.0.0.1:8000/order/?x=1#y", "public/order/index.html"),
        ("http://127.0.0.1:8000/../../etc/passwd", "public/etc/passwd"),
    ],
)
def test_the_path_of_a_page_is_relative(url: str, path: str) -> None:
    assert page_path(url, {"http://127.0.0.1:8000/": "public"}) == path


def test_only_findings_missing_from_the_baseline_are_new(tmp_path: Path) -> None:
    """Also where the local server has another port in each run."""
    old, new = finding(elements=[element("#a")]), finding(elements=[element("#a"), element("#b")])
    file = tmp_path / "baseline.json"
    file.write_text(
        render_json(replace(audit(page([old], url=URL)), sources={"http://127.0.0.1:8000/": "site"}))
    )
    sources = {"http://127.0.0.1:9000/": "site"}

    known = load_baseline(file, sources)
    again = page([old, new], url="http://127.0.0.1:9000/order")
    result = replace(audit(again), sources=sources, known=known)
    verdict = Thresholds(critical=0).judge(result)

    assert [is_known(result, again, each) for each in (old, new)] == [True, False]
    assert new_findings(result) == [new]
    assert verdict is not None
    assert "1 new critical finding, at most 0 allowed" in verdict.text


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"findings": 3}', '{"findings": [{"rule": 1}]}', "[" * 9_999]
)
def test_invalid_report_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(text)

    with pytest.raises(ConfigurationError, match="it is not a JSON report of footlight audit"):
        load_baseline(file, {})


def test_report_is_its_own_baseline(tmp_path: Path) -> None:
    result = audit(page([finding(), finding("judged/wording", persona="Ana")], url=URL))
    file = tmp_path / "baseline.json"
    file.write_text(render_json(result))

    assert new_findings(replace(result, known=load_baseline(file, {}))) == []
    assert json.loads(file.read_text())["findings"]
