"""What pytest's fixtures of ours are made of; `footlight.pytest_plugin` is the way in."""
