"""The same paths without a browser."""
