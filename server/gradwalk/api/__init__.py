"""HTTP: one module per resource, thin."""
