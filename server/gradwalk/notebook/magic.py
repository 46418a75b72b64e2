"""`%load_ext gradwalk`, then `%%gradwalk` on top of a cell: it runs as without, and its backward passes are shown."""

from contextlib import suppress
from functools import partial
from typing import Any

from gradwalk.notebook.document import View
from gradwalk.notebook.recording import Recording


def load_ipython_extension(shell: Any) -> None:
    """Gives IPython the cell magic; `%load_ext gradwalk` calls this."""
    shell.register_magic_function(partial(_run_recorded, shell), "cell", "gradwalk")


def _run_recorded(shell: Any, line: str, cell: str) -> View:
    """Runs the cell in the notebook's own namespace; `line` is where the player opens, `7.3` for step 7, phase 3."""
    # The name under which IPython is going to compile the cell.
    file = shell.compile.cache(shell.transform_cell(cell), shell.execution_count, raw_code=cell)
    # IPython shows an error itself; the recording only has to know of it.
    with suppress(Exception), Recording(file, shell.user_ns) as trace:
        shell.run_cell(cell).raise_error()
    return trace.show(line.strip() or "1.3")
