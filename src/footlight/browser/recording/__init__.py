"""Recordings of a session: traces, HAR files, videos and stored artifacts."""
