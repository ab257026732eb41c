"""Reports of an audit: HTML, Markdown, SARIF, JSON and terminal text."""
