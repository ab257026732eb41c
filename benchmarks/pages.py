"""The measured pages: a list of orders with a given number of elements."""

from __future__ import annotations

__all__ = ["SIZES", "page_of"]

SIZES = (10, 1_500, 10_000)
"""Numbers of elements."""

_HEAD = """<!doctype html><title>Measured</title><h1>Orders</h1>
<button id=b onclick="document.querySelector('#t').textContent = 'Pressed ' + ++window.count">Press</button>
<input id=i aria-label=Name><p id=t>Not pressed</p><button id=more onclick="addRows()">More</button>
<script>
count = 0
function addRows() {
  const list = document.querySelector('#added')
  for (let row = 0; row < 10; row++) {
    const item = document.createElement('li')
    item.textContent = `Added row ${list.childElementCount + 1}`
    list.append(item)
  }
}
</script><ul id=added></ul>"""
_HEAD_ELEMENTS = 6
_ROW = """<li><a href="/orders/{0}">Order {0}</a> <span>{0} pieces</span>
<button>Cancel order {0}</button> <label>Quantity <input value="{0}"></label></li>"""
_ROW_ELEMENTS = 6


def page_of(elements: int) -> str:
    """Return HTML with a button `#b` that changes the text `#t`, a field `#i`, a button `#more` that adds ten
    rows, and rows up to the number."""
    rows = (elements - _HEAD_ELEMENTS) // _ROW_ELEMENTS
    return f"{_HEAD}<ul>{''.join(_ROW.format(row) for row in range(rows))}</ul>"
