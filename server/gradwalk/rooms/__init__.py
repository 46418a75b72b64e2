"""Live lectures: a presenter, who follows, what they predict."""
