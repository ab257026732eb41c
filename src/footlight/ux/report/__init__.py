"""An audit for its readers: as a page, for a pull request, for a code host, for programs, for a terminal."""
