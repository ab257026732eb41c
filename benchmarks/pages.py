"""The pages that are measured: so many elements, of the kinds that a shop's list has."""

from __future__ import annotations

__all__ = ["SIZES", "page_of"]

SIZES = (10, 1_500, 10_000)
"""Elements."""

_HEAD = """<!doctype html><title>Measured</title><h1>Orders</h1>
<button id=b onclick="document.querySelector('#t').textContent = 'Pressed ' + ++window.count">Press</button>
<input id=i aria-label=Name><p id=t>Not pressed</p><script>count = 0</script>"""
_HEAD_ELEMENTS = 4
_ROW = """<li><a href="/orders/{0}">Order {0}</a> <span>{0} pieces</span>
<button>Cancel order {0}</button> <label>Quantity <input value="{0}"></label></li>"""
_ROW_ELEMENTS = 6


def page_of(elements: int) -> str:
    """HTML with a button `#b` that changes the text `#t`, a field `#i`, and rows to make up the number."""
    rows = (elements - _HEAD_ELEMENTS) // _ROW_ELEMENTS
    return f"{_HEAD}<ul>{''.join(_ROW.format(row) for row in range(rows))}</ul>"
