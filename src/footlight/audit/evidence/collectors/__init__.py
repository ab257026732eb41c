"""The collectors of evidence: each measures one side of an open page."""
