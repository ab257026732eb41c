"""The demo: a small shop on loopback, and a browser that works in it over the Model Context Protocol."""
