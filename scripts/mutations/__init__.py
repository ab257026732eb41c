"""Parts of scripts/mutation.py: the changes, copies of the project, and which test runs which line."""
