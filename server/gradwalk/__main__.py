"""`python -m gradwalk`, and `python -m gradwalk script.py …`, which records a script."""

import sys
from importlib import import_module

if len(sys.argv) > 1 and sys.argv[1].endswith(".py"):
    # Nothing of the server is imported for a script.
    import_module("gradwalk.notebook.script").main(sys.argv[1], sys.argv[2:])
else:
    import_module("gradwalk.cli.main").main(prog_name="gradwalk")
