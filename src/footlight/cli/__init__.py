"""The command line: one module or package for each command, imported when the command runs."""
