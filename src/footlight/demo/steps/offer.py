"""Provoke two errors: an element that does not exist, and one that is covered."""

from footlight.demo.steps.stage import DemoStage
from footlight.demo.verdict import Check

__all__ = ["reveal_voucher"]

_TIMEOUT_MS = 1000


async def reveal_voucher(stage: DemoStage) -> Check:
    """Click a missing button, then a covered one, close what covers it, and click again."""
    await stage.visit("/offers")
    missing = await stage.browser.call_refused("click", selector="#reveal-the-code", timeout=_TIMEOUT_MS)
    covered = await stage.browser.call_refused("click", selector="#reveal", timeout=_TIMEOUT_MS)
    issued_too_early = list(stage.site.shop.vouchers)
    await stage.browser.call("click", selector="#accept-cookies")
    await stage.browser.call("click", selector="#reveal")
    await stage.browser.call("wait_for_selector", selector="#voucher:not(:empty)")
    voucher = await stage.browser.call("get_text", selector="#voucher")
    return Check(
        holds=["ELEMENT_NOT_FOUND", "ELEMENT_NOT_INTERACTIVE", *stage.site.shop.vouchers],
        got=[missing.code, covered.code, *issued_too_early, voucher.text("text")],
        describe=lambda value: f"two errors, then {value[-1]}",
    )
