"""Serve one address with the browsers of many machines, on a Ray cluster.

`serving` is the composition root. The front has the interface of the dispatcher and routes each call to the
worker that has its session; `fleet` starts, asks and ends the workers, which `worker_table` knows, and
`place_queue` chooses one for a new session; `worker` is the actor that runs the calls of one machine,
and `worker_actors` finds it by its name; `registry` is the actor that remembers which worker has a session
`default`; `commands` serves the command `footlight cluster`. Only `ray_api` imports Ray.
"""

from footlight.cluster.serving import run

__all__ = ["run"]
