"""Errors on purpose: an element that is not there, and one that is covered."""

from footlight.demo.steps.stage import Stage
from footlight.demo.verdict import Check

__all__ = ["reveal_voucher"]

_PATIENCE_MS = 1000


async def reveal_voucher(stage: Stage) -> Check:
    """Miss a button, click a covered one, clear the way, and go on."""
    await stage.visit("/offers")
    missing = await stage.browser.refusal("click", selector="#reveal-the-code", timeout=_PATIENCE_MS)
    covered = await stage.browser.refusal("click", selector="#reveal", timeout=_PATIENCE_MS)
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
