"""Serve one address with the browsers of many machines, on a Ray cluster.

`serving` is the composition root. The front has the face of the dispatcher and routes each call to the worker
that has its session; `fleet` knows the workers and chooses one for a new session; `worker` is the actor that
runs the calls of one machine; `defaults` is the actor that remembers where the sessions `default` are. Only
`ray_api` imports Ray.
"""

from footlight.cluster.serving import run

__all__ = ["run"]
