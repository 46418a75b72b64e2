"""Who runs a trace: the local pool, or workers on other machines; and the runs that are under way."""
