"""The page that all faults are planted into: a small shop without any fault."""

from __future__ import annotations

__all__ = ["NAVIGATION", "document", "page"]

NAVIGATION = {"/": "Brook & Leaf", "/teas": "Teas", "/orders": "Your orders", "/help": "Help"}
"""The pages that every site of a fault has: their paths and titles."""

_STYLE = """
  * { box-sizing: border-box; }
  body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: #1f2a24; background: #fff; }
  header, main, footer { padding: 1rem; max-width: 60rem; margin: 0 auto; }
  nav ul { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0; margin: 0; }
  nav a { display: inline-block; padding: .75rem .25rem; }
  a { color: #0b5c45; }
  label { display: block; margin-top: 1rem; }
  input, select, textarea, button { font: inherit; min-height: 2.75rem; padding: .25rem .75rem; }
  input, select, textarea { border: 1px solid #59665f; border-radius: .25rem; max-width: 100%; }
  input[type=checkbox], input[type=radio] { width: 1.5rem; min-height: 1.5rem; vertical-align: middle; }
  button { color: #fff; background: #0b5c45; border: 0; border-radius: .25rem; min-width: 2.75rem; }
  :focus-visible { outline: 3px solid #b3541e; outline-offset: 2px; }
  img { max-width: 100%; height: auto; }
"""

_HEADER = """<header>
  <nav aria-label="Shop">
    <ul>
      <li><a href="/">Brook &amp; Leaf</a></li>
      <li><a href="/teas">Teas</a></li>
      <li><a href="/orders">Your orders</a></li>
      <li><a href="/help">Help</a></li>
    </ul>
  </nav>
</header>"""

_FOOTER = "<footer><p>Brook &amp; Leaf, 12 Mill Lane, Hebden. Open from nine to five.</p></footer>"


def page(main: str, *, title: str = "Green teas – Brook & Leaf", head: str = "", lang: str = "en") -> str:
    """Return a page of the shop: this HTML in `<main>`, between the navigation and the footer."""
    return document(f"{_HEADER}\n<main>\n{main}\n</main>\n{_FOOTER}", title=title, head=head, lang=lang)


def document(body: str, *, title: str = "Green teas – Brook & Leaf", head: str = "", lang: str = "en") -> str:
    """Return a document with the shop's style and this body, without navigation and footer."""
    return f"""<!doctype html>
<html lang="{lang}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{title.replace("&", "&amp;")}</title>
  <link rel="icon" href="data:,">
  <style>{_STYLE}</style>
  {head}
</head>
<body>
{body}
</body>
</html>"""
