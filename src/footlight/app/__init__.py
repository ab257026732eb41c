"""Make a running server from settings.

`wiring` is the composition root, `network` how clients come in over a network, `process` the lifetime of the
process, and `local_endpoint` the entrance for this user's own commands.
"""

from footlight.app.wiring import run

__all__ = ["run"]
