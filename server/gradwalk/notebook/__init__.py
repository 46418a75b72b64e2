"""In the caller's own process: trace a program or live tensors, keep the document."""
