"""The words both languages speak. Imports nothing of ours, no torch, no web framework."""
