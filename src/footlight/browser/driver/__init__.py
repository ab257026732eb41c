"""The lowest layer of the browser package: Playwright, deadlines, threads and output folders."""
