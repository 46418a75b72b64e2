"""A whole script, run as Python runs it, recorded and shown: `python -m gradwalk train.py --epochs 2`."""

import sys
import tempfile
import traceback
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from gradwalk.notebook.document import Trace
from gradwalk.notebook.recording import Recording
from gradwalk.words.catalogue import say


def main(script: str, arguments: Sequence[str]) -> None:
    """Ends with the script's own exit status. The page is a file, which is opened where a person is looking."""
    path = Path(script)
    if not path.is_file():
        sys.exit(say("cli-no-script", file=script))
    trace, status = run_script(path, arguments)
    with tempfile.NamedTemporaryFile(prefix=f"{path.stem}-", suffix=".html", delete=False) as page:
        trace.save(page.name)
    print(say("cli-recorded", count=len(trace.passes), file=page.name), file=sys.stderr)  # noqa: T201
    if sys.stderr.isatty():
        webbrowser.open(Path(page.name).as_uri())
    sys.exit(status)


def run_script(path: Path, arguments: Sequence[str]) -> tuple[Trace, int]:
    """Runs a script as the module `__main__`, with its arguments and its folder on the path; gives trace and status.

    An error that ends it is printed as Python prints it, with the script's own frames alone, and makes the status 1.
    """
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(__file__=str(path), __builtins__=__builtins__)
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(path.parent.resolve())
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    recording = Recording(str(path), vars(main))
    try:
        with recording as trace:
            exec(code, vars(main))  # noqa: S102 (running the script is what this is for)
    except SystemExit as end:
        return trace, _status_of(end)
    except BaseException as error:  # noqa: BLE001 (whatever ends a script)
        frames = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(error.with_traceback(frames))
        return trace, 1
    return trace, 0


def _status_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)  # noqa: T201 (as Python does)
    return 1
