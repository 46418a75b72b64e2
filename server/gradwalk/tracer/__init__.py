"""The only place that touches autograd: source to events."""
