/** A chain in the program's own names: each operation's own derivative, multiplied along paths and added up over them. */
import type { Chain, Link, Segment } from "../model/chain";
import { pathsOf } from "../model/chain";
import { type JacobianOf, shapeOf } from "../model/chainrule";
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

/** The chain as formulas, null where a link has none or they are long; and as numbers where each link is one number. */
export function symbolsOf(
  pass: PassState,
  graph: Graph,
  chain: Pick<Chain, "segments">,
  jacobian: JacobianOf,
  precision: number,
): { readonly symbols: string | null; readonly numbers: string | null } {
  const symbols = chainText(chain.segments, (link) => symbolOf(pass, graph, link));
  const numbers = chainText(chain.segments, (link) => numberOf(jacobian, link, precision));
  const isProduct = numbers !== null && /[·+]/.test(numbers);
  return {
    symbols: symbols !== null && symbols.length <= LONGEST_SYMBOLS ? symbols : null,
    numbers: isProduct ? numbers : null,
  };
}

function chainText(segments: readonly Segment[], factorOf: (link: Link) => string | null): string | null {
  if (segments.length > MOST_SEGMENTS) return null;
  const factors: string[] = [];
  for (const segment of segments) {
    const text = segmentText(segment, factorOf);
    if (text === null) return null;
    factors.push(segments.length > 1 && segment.paths > 1n ? `(${text})` : text);
  }
  return product(factors);
}

function segmentText(segment: Segment, factorOf: (link: Link) => string | null): string | null {
  if (segment.paths > BigInt(MOST_PATHS) || segment.links.length > MOST_SEGMENTS) return null;
  const summands: string[] = [];
  for (const path of pathsOf(segment, MOST_PATHS)) {
    const factors: string[] = [];
    for (const link of path) {
      const factor = factorOf(link);
      if (factor === null) return null;
      factors.push(path.length > 1 ? bracketed(factor) : factor);
    }
    summands.push(product(factors));
  }
  return summands.join(" + ");
}

/** Factors of 1 say nothing beside others. */
function product(factors: readonly string[]): string {
  const telling = factors.filter((factor) => factor !== "1");
  return telling.length === 0 ? "1" : telling.join(" · ");
}

function bracketed(factor: string): string {
  return /^[\d.]+$/.test(factor) ? factor : bracketedText(factor);
}

/** The line of a node's formula for what came along an edge; null where there is none that gives what the engine returned. */
function lineOf(pass: PassState, graph: Graph, { edge, of }: Link): VjpLine | null {
  const line = nodesById(graph)
    .get(of.node)
    ?.formula?.vjp.find(({ argnum }) => argnum === edge.to.argnum);
  const isWrong = pass.steps.find((step) => step.node === of.node)?.formula_checked === false;
  return line === undefined || isWrong ? null : line;
}

/** What becomes of v at a link, where that is short: `v @ W`. */
export function vjpOf(pass: PassState, graph: Graph, link: Link): string | null {
  const said = lineOf(pass, graph, link)?.said;
  return said === undefined || said.length > LONGEST_VJP ? null : said;
}

/** The derivative that the trace writes for a link: `cos(x)`, `diag(2 * y)` of a vector, `W` of a matrix product. */
function symbolOf(pass: PassState, graph: Graph, link: Link): string | null {
  const { of, by } = link;
  const line = lineOf(pass, graph, link);
  if (line === null) return null;
  const [shape, operand] = [shapeOf(pass, of), shapeOf(pass, by)];
  if (line.derivative !== undefined) {
    if (shape === null || shape.join() !== operand?.join()) return null;
    const text = shape.length === 0 ? line.derivative : `diag(${line.derivative})`;
    return text.length <= LONGEST_FACTOR ? text : null;
  }
  const factor = shape?.length === 1 ? /^v @ (.+)$/.exec(line.said ?? line.text)?.[1] : undefined;
  return factor !== undefined && factor.length <= LONGEST_FACTOR && !/[@+]/.test(factor) ? factor : null;
}

function numberOf(jacobian: JacobianOf, link: Link, precision: number): string | null {
  const found = jacobian(link);
  if (typeof found === "string" || found.rows !== 1 || found.columns !== 1) return null;
  return formatNumber(found.at[0]?.value ?? 0, precision);
}
