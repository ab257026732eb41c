"""Wait until a page shows or does one thing, or report what it shows instead.

A wait for a text, a URL or a response ends with the patience of its deadline.
"""
