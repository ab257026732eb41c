"""The command line, with one module or package for each command, which is imported when the command runs."""
