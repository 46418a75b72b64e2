"""Content-addressed traces, and the small rows that permalinks resolve to."""
