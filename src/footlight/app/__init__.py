"""Make a running server from settings.

`wiring` is the composition root, `network` serves clients over a network, `process` handles signals and
limits the time of the shutdown, and `local_endpoint` serves commands of the user who started the server.
"""

from footlight.app.wiring import run

__all__ = ["run"]
