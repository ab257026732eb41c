"""Find, start and pool browsers, with profiles and with extensions."""
