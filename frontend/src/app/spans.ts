/** From a place in the program to the node that came from there. */
import type { Graph, Node, Span } from "../protocol/trace.gen";

/** The node with the tightest span round a place (1-based line, 0-based column), null where nothing was recorded. */
export function nodeAtPlace(graph: Graph, line: number, column: number): Node | null {
  let best: Node | null = null;
  for (const node of graph.nodes) {
    if (node.span === null || !contains(node.span, line, column)) continue;
    if (best?.span == null || isTighter(node.span, best.span)) best = node;
  }
  return best;
}

function contains(span: Span, line: number, column: number): boolean {
  return (
    compare(span.line, span.column, line, column) <= 0 &&
    compare(line, column, span.end_line, span.end_column) <= 0
  );
}

/** Of two spans round the same place the tighter one starts later, or ends sooner. */
function isTighter(a: Span, b: Span): boolean {
  const starts = compare(a.line, a.column, b.line, b.column);
  return starts > 0 || (starts === 0 && compare(a.end_line, a.end_column, b.end_line, b.end_column) < 0);
}

function compare(line: number, column: number, otherLine: number, otherColumn: number): number {
  return line - otherLine || column - otherColumn;
}
