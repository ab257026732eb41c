"""A demonstration: a small shop on loopback, and a client that uses it through a Footlight server."""
