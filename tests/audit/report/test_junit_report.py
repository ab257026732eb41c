"""The JUnit report."""

from dataclasses import replace
from xml.etree import ElementTree

from footlight.audit.baseline import element_key, page_path
from footlight.audit.report.junit_report import render_junit
from tests.audit.report.audits import HOSTILE, audit, element, finding, page

URL = "https://shop.test/order"


def test_finding_is_a_failed_test_case_of_its_page() -> None:
    image = finding(elements=[element("img", note="no alt")])

    root = ElementTree.fromstring(render_junit(audit(page([image], url=URL), page([], url=f"{URL}/2"))))

    [first, second] = root
    [case] = first
    failure = case.find("failure")
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    assert case.get("classname") == URL
    assert failure is not None
    assert failure.get("type") == "critical"
    assert "img: no alt" in (failure.text or "")
    assert [each.get("name") for each in second] == ["no findings"]


def test_local_page_is_named_by_its_file_path() -> None:
    local = audit(page([], url="http://127.0.0.1:39439/shop/"), sources={"http://127.0.0.1:39439/": "public"})

    [suite] = ElementTree.fromstring(render_junit(local))

    assert [suite.get("name"), suite[0].get("classname")] == ["public/shop/index.html"] * 2


def test_a_finding_of_the_baseline_is_skipped() -> None:
    image = finding(elements=[element("img")])
    known = frozenset([element_key(image.rule, page_path(URL, {}), "img", None)])

    root = ElementTree.fromstring(render_junit(replace(audit(page([image], url=URL)), known=known)))

    assert (root.get("failures"), root.get("skipped")) == ("0", "1")


def test_a_finding_of_level_aaa_is_skipped() -> None:
    contrast = finding(severity="low", wcag=["1.4.6 AAA"])

    root = ElementTree.fromstring(render_junit(audit(page([contrast], url=URL))))

    assert (root.get("failures"), root.get("skipped")) == ("0", "1")


def test_hostile_text_gives_valid_xml() -> None:
    hostile = finding(title=HOSTILE, advice=HOSTILE, elements=[element(HOSTILE, note=HOSTILE)])

    root = ElementTree.fromstring(render_junit(audit(page([hostile], url=f"https://shop.test/{HOSTILE}"))))

    assert root.get("failures") == "1"
