"""The mathematics of autograd nodes: an entry per op, and torch's own derivatives table as data."""
