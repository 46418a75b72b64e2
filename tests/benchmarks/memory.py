"""The memory that a child has for itself, and what it went for: this process forks as a zygote does, and looks.

A page is private once either side has written to it. Python counts references in the objects themselves, so a child
also writes to what it only reads; of such a page the content is often the parent's again when the call is over.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest
from gradwalk.sandbox.language import OfferedLanguage
from gradwalk.sandbox.large_pages import gather_into_large_pages
from gradwalk.sandbox.offer import Offer
from gradwalk.sandbox.warm import set_up_torch, settle, warm_up
from gradwalk.tracer.run import trace_program
from tests.benchmarks.server import PROGRAM

PAGE_BYTES = 4_096
PRESENT, EXCLUSIVE, FILE = 1 << 63, 1 << 56, 1 << 61


def private_pages(pid: int) -> dict[int, str]:
    """The number of each page that only this process has, with the name of its mapping."""
    found = {}
    with Path(f"/proc/{pid}/pagemap").open("rb") as pagemap:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, permissions, *rest = line.split(maxsplit=5)
            name = rest[-1] if len(rest) == 4 else ""
            first, last = (int(part, 16) // PAGE_BYTES for part in span.split("-"))
            if "w" not in permissions or name in ("[vvar]", "[vsyscall]"):
                continue
            pagemap.seek(first * 8)
            entries = memoryview(pagemap.read((last - first) * 8)).cast("Q")
            for number, entry in enumerate(entries, first):
                if entry & PRESENT and entry & EXCLUSIVE and not entry & FILE:
                    found[number] = Path(name).name
    return found


def count_unchanged(pid: int, pages: dict[int, str]) -> int:
    """How many of these pages hold what they hold here."""
    unchanged = 0
    with open(f"/proc/{pid}/mem", "rb", 0) as theirs, open("/proc/self/mem", "rb", 0) as ours:  # noqa: PTH123
        for number in pages:
            theirs.seek(number * PAGE_BYTES)
            ours.seek(number * PAGE_BYTES)
            try:
                unchanged += theirs.read(PAGE_BYTES) == ours.read(PAGE_BYTES)
            except OSError:  # not there on this side
                continue
    return unchanged


def measure(name: str, work: Callable[[], object]) -> None:
    """One row: a child that has done `work`."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        work()
        os.write(writer, b"done")
        time.sleep(60)
    os.read(reader, 4)
    pages = private_pages(pid)
    unchanged = count_unchanged(pid, pages)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    heap = sum(place == "[heap]" for place in pages.values())
    libraries = sum(".so" in place for place in pages.values())
    row = (len(pages), unchanged, heap, libraries)
    print(f"{name:<34}" + "".join(f"{count * PAGE_BYTES / 2**20:>12.1f}" for count in row))  # noqa: T201


def trace(source: str, offer: Offer | None) -> None:
    """As a child does, the events encoded and thrown away."""
    language = None if offer is None else OfferedLanguage(offer)

    def emit(event: Event) -> None:
        encode(event)

    trace_program(TraceRequest(source=source), emit, SERVER_LIMITS, language)


def main() -> None:
    """Prints the table."""
    source = PROGRAM.format(seed=1)
    set_up_torch()
    offer = warm_up(policy=True)
    settle()
    gather_into_large_pages()
    print(f"{'private memory of a child, MiB':<34}{'all':>12}{'unchanged':>12}{'malloc':>12}{'libraries':>12}")  # noqa: T201
    measure("nothing done", lambda: None)
    measure("the program, plain", lambda: exec(compile(source, "<bare>", "exec"), {"__name__": "__main__"}))
    measure("the program, traced", lambda: trace(source, None))
    measure("the program, traced and policed", lambda: trace(source, offer))


if __name__ == "__main__":
    main()
