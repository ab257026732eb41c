"""A page whose forms, images and frames shadow members of the DOM by their names (DOM clobbering)."""

from __future__ import annotations

__all__ = ["CLOBBERING", "MEMBERS"]

MEMBERS = tuple(
    """
    action activeElement addEventListener after append ariaLabel assignedSlot attributes baseURI before
    blur body checkVisibility childElementCount childNodes children classList className click
    clientHeight clientLeft clientTop clientWidth cloneNode closest compareDocumentPosition contains
    contentType createElement createElementNS createRange createTreeWalker dataset defaultView dir
    dispatchEvent documentElement elementFromPoint elements elementsFromPoint firstChild
    firstElementChild focus forms getAnimations getAttribute getAttributeNames getBoundingClientRect
    getClientRects getElementById getElementsByName getElementsByTagName getRootNode hasAttribute
    hasAttributes hasChildNodes head hidden host id images innerHTML innerText insertBefore isConnected
    isContentEditable labels lang lastChild lastElementChild length links localName matches name
    namespaceURI nextElementSibling nextSibling nodeName nodeType nodeValue offsetHeight offsetParent
    offsetWidth onclick outerHTML ownerDocument parentElement parentNode previousElementSibling
    previousSibling querySelector querySelectorAll readyState referrer relList remove
    removeEventListener role rootNode scrollHeight scrollIntoView scrollingElement scrollLeft scrollTop
    scrollWidth setAttribute shadowRoot slot style styleSheets submit tabIndex tagName target
    textContent timeline title type value visibilityState
    """.split()  # noqa: SIM905 - the words are easier to read
)

_IMAGES = "".join(f"<img name={name} alt=''>" for name in MEMBERS)
_FIELDS = "".join(f"<input name={name} aria-label='The {name}'>" for name in MEMBERS)
CLOBBERING = f"""<!doctype html><html lang=en><title>Teas</title><main><h1>Teas</h1>
<p>Green <a href='/green'>tea</a>
<div onclick="this.dataset.done = 1" style="cursor:pointer">Order</div>
<form onclick="this.dataset.done = 1" onsubmit="return false">{_FIELDS}
<table><tr><th>Tea<th>Price<tr><td>Green<td>3</table>
<select aria-label=Kind><option>White<option>Black</select><button>Send</button></form>{_IMAGES}</main>"""
