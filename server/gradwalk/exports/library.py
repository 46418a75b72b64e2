"""`python -m gradwalk.exports.library svg`: DOT on standard input, a drawing on standard output.

Graphviz's library, from pygraphviz's wheel, in a process of its own: it is C code that reads text made from
strangers' programs, and must not be able to take the server down with it.
"""

import sys

import pygraphviz


def main() -> None:
    """Draws what comes in, in the format that the first argument names."""
    graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
    sys.stdout.buffer.write(graph.draw(format=sys.argv[1], prog="dot"))


if __name__ == "__main__":
    main()
