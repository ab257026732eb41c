"""The report of a session: one HTML file that loads nothing from the network."""
