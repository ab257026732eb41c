"""Apps under test: browser extensions, built, launched and read."""
