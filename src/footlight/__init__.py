"""A real browser for language models and test suites, over the Model Context Protocol."""

__version__ = "0.1.0"

__all__ = ["__version__"]
