"""The parts of the pytest plugin; `footlight.pytest_plugin` is the entry point."""
