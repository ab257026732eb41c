"""Tests that `browser.run_test` runs, in the session of whoever calls it."""

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_accept_cookies(attached_page: Page, record_result: Callable[[object], None]) -> None:
    attached_page.locator(".cc-btn.cc-btn-accept").click()

    expect(attached_page.get_by_role("dialog", name="Cookies")).to_be_hidden()
    record_result({"consent": attached_page.locator("#consent").text_content()})
