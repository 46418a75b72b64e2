"""One forked, single-use child per run, and the parent's side of its pipe."""
