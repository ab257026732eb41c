"""The ways to a server, from the client's side."""
