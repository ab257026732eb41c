"""The tools that act on the open page, one module per family."""
