"""Build the documentation as a site."""
