"""The protocol's serving side: a tool is declared, a call is dispatched, an answer goes out."""
