"""What code can say of a page without a model: measured through a server's tools, the same each time."""
