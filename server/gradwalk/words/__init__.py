"""How things are said: one catalogue per language, read by the page and by Python."""
