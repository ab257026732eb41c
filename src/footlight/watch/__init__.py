"""Let a person see what happens in the sessions of a server, act in them, and read it afterwards.

`journal` keeps the latest calls, `pictures` shows the pages, `control` lets a person act, `site` serves the
page that uses all three, and `report` writes a session as one HTML file.
"""
