"""The tables of all sessions, pooled or named, and how sessions are saved and kept."""
