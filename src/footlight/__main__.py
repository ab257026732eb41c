"""`python -m footlight`."""

from footlight.cli.main import main

main()
