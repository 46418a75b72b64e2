import { expect, it } from "vitest";
import type { Graph, Node, Span } from "../protocol/trace.gen";
import { nodeAtPlace } from "./spans";

/** Draws a span under a line of text. */
function under(line: number, carets: string): Span {
  return { line, column: carets.indexOf("^"), end_line: line, end_column: carets.lastIndexOf("^") + 1 };
}

const node = (id: string, span: Span | null) => ({ id, span }) as Node;
const graph = {
  nodes: [
    //                    z = sin(x * y) + x
    node("add", under(1, "    ^^^^^^^^^^^^^^")),
    node("sin", under(1, "    ^^^^^^^^^^")),
    node("mul", under(1, "        ^^^^^")),
    node("leaf", null),
    node("lines", { line: 2, column: 4, end_line: 4, end_column: 1 }),
  ],
} as Graph;

it.each([
  [1, 9, "mul"],
  [1, 5, "sin"],
  [1, 17, "add"],
  [1, 1, null],
  [3, 0, "lines"],
  [4, 2, null],
])("line %i column %i came from %s", (line, column, id) => {
  expect(nodeAtPlace(graph, line, column)?.id ?? null).toBe(id);
});
