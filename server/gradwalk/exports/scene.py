"""What the page's own script says and draws of a trace: frontend/src/embed/bake.ts, run by V8 in a process of its own.

That process reads text made from strangers' programs, and must not be able to take this one down with it. It is started
when it is first needed and stays: starting takes half a second, drawing one more picture some milliseconds.
"""

import atexit
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Timer
from typing import TypedDict

from gradwalk.exports.exporter import ExportUnavailable, Look
from gradwalk.protocol.facts import Fact, fact
from gradwalk.recent import Recent
from gradwalk.words.catalogue import FOLDER, LANGUAGE, read_catalogue

log = logging.getLogger(__name__)

KIT = Path(__file__).parents[1] / "static" / "kit"
SCRIPTS = (KIT / "layout.js", KIT / "bake.js")
HAS_ENGINE = find_spec("py_mini_racer") is not None
SECONDS_MAX = 60.0
OPEN_BYTES_MAX, BAKED_BYTES_MAX = 32 << 20, 32 << 20
"""Of documents that the process keeps open, as they are encoded; of what `bake` gave."""
_CHILD = [sys.executable, "-P", "-m", "gradwalk.exports.scene_child"]
_SECRETS = "GRADWALK_"


class StopWords(TypedDict):
    """A phase at which a step stops, from 1, and what is said there."""

    phase: int
    said: str


class StepWords(TypedDict):
    """What is said of one step of a walk."""

    name: str
    """Of the leaf, else of the node: `MulBackward0`."""
    whole: str
    """The sentence of the whole step."""
    stops: list[StopWords]


class Walks(TypedDict):
    """What is said of a trace."""

    start: dict[str, str]
    """Before the first step, by direction."""
    backward: list[StepWords]
    forward: list[StepWords]


@dataclass(frozen=True)
class Script:
    """An encoded document, read in a language."""

    document: bytes
    language: str

    @cached_property
    def key(self) -> str:
        """The same for the same bytes and language."""
        return sha256(self.language.encode() + b"\n" + self.document).hexdigest()


class Engine:
    """One such process, with what it has open and the language that it speaks."""

    def __init__(self, open_bytes_max: int, seconds_max: float) -> None:
        """
        Raises:
            ExportUnavailable: there is no V8 here, or nothing for it to run.
        """
        if not HAS_ENGINE:
            raise ExportUnavailable(fact("extra-missing", name="mini-racer", extra="files"))
        if not all(script.is_file() for script in SCRIPTS):
            raise ExportUnavailable(fact("export-needs-page"))
        self.open = Recent[str, tuple[Walks, int]](open_bytes_max, lambda _, opened: opened[1])
        """What is said of each, and the bytes of its document."""
        self._seconds_max = seconds_max
        self._language = LANGUAGE
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (`end` closes it)
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith(_SECRETS)}
        command, pipe = [*_CHILD, str(FOLDER / f"{LANGUAGE}.ftl"), *map(str, SCRIPTS)], subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._complaints, env=surroundings)

    @property
    def is_ours(self) -> bool:
        """It runs, and as our child: a fork, which would take its parent's answers, is told that it has ended."""
        return self.process.poll() is None

    def speak(self, language: str) -> None:
        """From now on in this language."""
        if language != self._language:
            self.ask("speak", language, read_catalogue(language))
            self._language = language

    def ask(self, function: str, *arguments: str) -> str:
        """What a function of the script returns.

        Raises:
            ExportUnavailable: it threw, was not done in time, or was the end of the process.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        begun = time.monotonic()
        late = Timer(self._seconds_max, self.process.kill)
        late.daemon = True
        late.start()
        try:
            with suppress(BrokenPipeError):
                self.process.stdin.write(json.dumps([function, *arguments]).encode() + b"\n")
                self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BaseException:
            self.end()  # whoever asks next would be given this answer
            raise
        finally:
            late.cancel()
        if not line.endswith(b"\n"):
            reason, lasted = self.end(), time.monotonic() - begun
            is_late = lasted >= self._seconds_max
            raise ExportUnavailable(fact("export-late", count=int(lasted)) if is_late else _failed(reason))
        answer: dict[str, str] = json.loads(line)
        if "failed" in answer:
            raise ExportUnavailable(_failed(answer["failed"]))
        return answer["made"]

    def end(self) -> str:
        """Ends the process, and gives what it complained of last; the second time does nothing."""
        if self._complaints.closed:
            return ""
        self.process.kill()
        # Closes the pipes, in which half a question may be stuck, and waits.
        with suppress(BrokenPipeError), self.process:
            pass
        with self._complaints:
            self._complaints.seek(0)
            said = self._complaints.read().decode(errors="replace").strip()
        return said.rpartition("\n")[2] or f"V8: status {self.process.returncode}"


class Scene:
    """The engine, asked by one thread at a time; after it ended, the next question starts another.

    Raises:
        ExportUnavailable: by each question, where there is no V8 here, or it gave up on this trace.
    """

    def __init__(self, open_bytes_max: int = OPEN_BYTES_MAX, seconds_max: float = SECONDS_MAX) -> None:
        self._lock = Lock()
        self._engine: Engine | None = None
        self._baked = Recent[str, bytes](BAKED_BYTES_MAX, lambda _, baked: len(baked))
        self._open_bytes_max = open_bytes_max
        self._seconds_max = seconds_max

    def open(self, script: Script) -> Walks:
        """What is said of the trace."""
        with self._lock:
            return self._open(self._find_engine(), script)

    def draw(self, script: Script, place: str, look: Look, progress: float) -> str:
        """A place (`7.3`, `f7.3`, `0`) as SVG; `progress`, from 0 to 1, is how far what moves there has come."""
        with self._lock:
            engine = self._find_engine()
            self._open(engine, script)
            engine.speak(script.language)
            wanted = json.dumps({**asdict(look), "progress": progress})
            return engine.ask("draw", script.key, place, wanted)

    def bake(self, document: bytes) -> bytes:
        """JSON of `Baked` in frontend/src/embed/baked.ts: layouts and formulas of an encoded document."""
        key = sha256(document).hexdigest()
        with self._lock:
            baked = self._baked.recall(key)
            if baked is None:
                baked = self._find_engine().ask("bake", document.decode()).encode()
                self._baked.keep(key, baked)
            return baked

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the process that runs; 0 where a system has no such clock for another process."""
        with suppress(OSError):
            # As clock_getcpuclockid of the C library numbers it.
            return 0.0 if self._engine is None else time.clock_gettime(~self._engine.process.pid << 3 | 2)
        return 0.0

    def end(self) -> None:
        """Ends the process; another question would start the next."""
        with self._lock:
            if self._engine is not None:
                self._engine.end()

    def _find_engine(self) -> Engine:
        if self._engine is not None and not self._engine.is_ours:
            self._engine.end()
            self._engine = None
        self._engine = self._engine or Engine(self._open_bytes_max, self._seconds_max)
        return self._engine

    def _open(self, engine: Engine, script: Script) -> Walks:
        known = engine.open.recall(script.key)
        if known is not None:
            return known[0]
        engine.speak(script.language)
        walks: Walks = json.loads(engine.ask("open", script.key, script.document.decode()))
        # One that is larger than all that may be open is open alone.
        for gone in engine.open.keep(script.key, (walks, min(len(script.document), self._open_bytes_max))):
            engine.ask("close", gone)
        return walks


def _failed(reason: str) -> Fact:
    log.warning("V8: %s", reason)
    return fact("export-failed", reason=reason)


SCENE = Scene()
"""Of this process."""
atexit.register(SCENE.end)
