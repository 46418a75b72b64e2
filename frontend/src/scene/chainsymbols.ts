/** A chain in the program's own names: each operation's own derivative, multiplied along paths and added up over them. */
import type { Chain, Link, Segment } from "../model/chain";
import { pathsOf } from "../model/chain";
import { type JacobianOf, shapeOf, wholeJacobian } from "../model/chainrule";
import { nodesById } from "../model/graph";
import { formatNumber } from "../model/numbers";
import type { PassState } from "../model/trace";
import type { Graph, VjpLine } from "../protocol/trace.gen";
import { bracketedText } from "../words/names";

const MOST_SEGMENTS = 8;
const MOST_PATHS = 4;
const LONGEST_FACTOR = 32;
const LONGEST_VJP = 44;
const LONGEST_SYMBOLS = 160;

/** `(b + a) · y`; null where a link has no formula, or they are long. */
export function symbolsOf(pass: PassState, graph: Graph, segments: readonly Segment[]): string | null {
  const symbols = written(segments, (link) => symbolOf(pass, graph, link));
  return symbols !== null && symbols.length <= LONGEST_SYMBOLS ? symbols : null;
}

/** `(10 + 6) · 3 = 48`, where each link is one number and there is something to multiply or to add up. */
export function numbersOf(chain: Chain, jacobian: JacobianOf, precision: number): string | null {
  const numbers = written(chain.segments, (link) => {
    const found = jacobian(link);
    if (typeof found === "string" || found.rows !== 1 || found.columns !== 1) return null;
    return formatNumber(found.at[0]?.value ?? 0, precision);
  });
  const all = wholeJacobian(chain, 1, jacobian)?.entries[0];
  if (numbers === null || all === undefined || !/[·+]/.test(numbers)) return null;
  return `${numbers} = ${formatNumber(all, precision)}`;
}

function written(segments: readonly Segment[], factorOf: (link: Link) => string | null): string | null {
  const isLong = ({ paths, links }: Segment) => paths > BigInt(MOST_PATHS) || links.length > MOST_SEGMENTS;
  if (segments.length > MOST_SEGMENTS || segments.some(isLong)) return null;
  const factors = segments.map((segment) => {
    const summands = pathsOf(segment, MOST_PATHS).map((path) =>
      product(path.map(factorOf).map((factor) => (path.length > 1 ? factor && bracketed(factor) : factor))),
    );
    if (summands.includes(null)) return null;
    return segments.length > 1 && summands.length > 1 ? `(${summands.join(" + ")})` : summands.join(" + ");
  });
  return product(factors);
}

/** Factors of 1 say nothing beside others. */
function product(factors: readonly (string | null)[]): string | null {
  if (factors.includes(null)) return null;
  return factors.filter((factor) => factor !== "1").join(" · ") || "1";
}

function bracketed(factor: string): string {
  return /^[\d.]+$/.test(factor) ? factor : bracketedText(factor);
}

/** The line of a node's formula for what came along an edge; null where there is none that gives what the engine returned. */
function lineOf(pass: PassState, graph: Graph, { edge, of }: Link): VjpLine | null {
  const lines = nodesById(graph).get(of.node)?.formula?.vjp;
  const isWrong = pass.steps.find((step) => step.node === of.node)?.formula_checked === false;
  return (!isWrong && lines?.find(({ argnum }) => argnum === edge.to.argnum)) || null;
}

/** What becomes of v at a link, where that is short: `v @ W`. */
export function vjpOf(pass: PassState, graph: Graph, link: Link): string | null {
  const said = lineOf(pass, graph, link)?.said;
  return said === undefined || said.length > LONGEST_VJP ? null : said;
}

/** The derivative that the trace writes for a link: `cos(x)`, `diag(2 * y)` of a vector, `W` of a matrix product. */
function symbolOf(pass: PassState, graph: Graph, link: Link): string | null {
  const line = lineOf(pass, graph, link);
  const [shape, operand] = [shapeOf(pass, link.of), shapeOf(pass, link.by)];
  if (line === null || shape === null) return null;
  const factor = shape.length === 1 ? /^v @ ([^@+]+)$/.exec(line.said ?? line.text)?.[1] : undefined;
  const elementwise = shape.length === 0 ? line.derivative : `diag(${line.derivative})`;
  if (line.derivative !== undefined && shape.join() !== operand?.join()) return null;
  const symbol = line.derivative === undefined ? factor : elementwise;
  return symbol === undefined || symbol.length > LONGEST_FACTOR ? null : symbol;
}
