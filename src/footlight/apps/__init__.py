"""Apps under test: browser extensions that are built, launched and observed."""
