"""The watch page, on which people watch the sessions of a server, take them over, and save reports.

`journal` keeps the latest calls, `pictures` captures the pages, and `control` lets a person act. `site`
serves the page that uses all three, and `report` renders a session as one HTML file.
"""
