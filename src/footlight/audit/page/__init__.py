"""The page under audit, controlled through the tools of a supported server."""
