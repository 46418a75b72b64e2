"""What ties several machines together: connections to the shared Redis or Valkey."""
