/**
 * A chain as an equation: v, its links with their Jacobians, below each what v has become, v times all of them, the
 * Jacobian of the whole, and the sum over paths where there are several. A Jacobian that cannot be had is left out and
 * says why; what v becomes there is what the pass recorded.
 */
import type { Chain, Link, Segment, TensorId } from "../model/chain";
import { groupRuns, pathsOf, tensorKey, tensorOf, withRepeatsAsLinks } from "../model/chain";
import type { Brought, JacobianOf, NoJacobian, Rows } from "../model/chainrule";
import {
  areEqual,
  asMatrix,
  broughtTo,
  changedLinks,
  jacobianOf,
  recordedV,
  shapeOf,
  sizeOf,
  timesLinks,
  wholeJacobian,
} from "../model/chainrule";
import { groupsById, nodesById } from "../model/graph";
import { isUnseen } from "../model/mask";
import type { Matrix } from "../model/matrix";
import { formatCount, formatNumber, superscript } from "../model/numbers";
import { executions } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import type { Graph } from "../protocol/trace.gen";
import { bracketedText, resultText, sourceText } from "../words/names";
import { code, label, type Said, say } from "../words/say";
import { shapeText } from "../words/values";
import { type Block, type Captioned, operatorBlock, pictureBlock, stacked, tableBlock } from "./blocks";
import { numbersOf, symbolsOf, vjpOf } from "./chainsymbols";
import { repeatsOf } from "./repeats";
import type { Run } from "./shapes";
import { type Equation, sizeOfTable } from "./written";

/** A local Jacobian that the server works out when asked. */
export interface Ask {
  readonly stepIndex: number;
  readonly argnum: number;
}

/** One table of the equation. */
export interface Part extends Captioned {
  /** What stands before it: a dot, unless it is the first or this says otherwise. */
  readonly sign?: "+" | "=" | "|";
  /** `J₂`, for whoever does not see it. */
  readonly name: string;
  readonly matrix: Matrix | null;
  /** Why there is none. */
  readonly why?: NoJacobian | null;
  /** What v has become. */
  readonly under?: Part | null;
}

/** How the product compares with what the pass brought to `by`: a message for each. */
export type Verdict =
  /** It is the gradient of `by`. */
  | "chain-all"
  /** It is what came along this chain; more came by other ways. */
  | "chain-part"
  /** Something on the way made another gradient of one. */
  | "chain-changed"
  | "chain-differs"
  /** Of what arrived, it cannot be told how much came from `of`. */
  | "chain-mixed";

/** The sum over the paths of a link; of repeated ones, of the first. */
interface SumScene {
  readonly caption: string;
  readonly parts: readonly Part[];
}

export interface ChainScene {
  /** `∂z/∂x`. */
  readonly partial: string;
  /** `∂z/∂y · ∂y/∂x` of a short chain. */
  readonly partials: string | null;
  /** The product as formulas, and as numbers where each link is a number. */
  readonly symbols: string | null;
  readonly numbers: string | null;
  readonly product: readonly Part[];
  readonly sums: readonly SumScene[];
  readonly verdict: Verdict | null;
  /** The verdict, or why there is none. */
  readonly said: Said | null;
  readonly asks: readonly Ask[];
  /** Some operations are repeated in a row, as links of their own or as one. */
  readonly hasRepeats: boolean;
  /** Groups that can be one link. */
  readonly groups: readonly { readonly id: string; readonly name: string }[];
}

const MOST_SUMS = 3;
const MOST_PATHS_SHOWN = 6;
const LONGEST_PATH_SHOWN = 8;
const MOST_PARTIALS = 6;
/** Of a longer chain. */
const FIRST_LINKS_SHOWN = 20;
const LAST_LINKS_SHOWN = 4;
const SUBSCRIPT = "₀₁₂₃₄₅₆₇₈₉";

/** What all parts of a chain are drawn from. */
interface Subject {
  readonly pass: PassState;
  readonly graph: Graph;
  readonly precision: number;
  readonly jacobian: JacobianOf;
}

/** What v has become. */
interface Running {
  readonly rows: Rows;
  /** Not multiplied here, for want of a Jacobian: what the pass recorded. */
  readonly isRecorded: boolean;
}

export function drawChain(
  trace: TraceState,
  pass: PassState,
  graph: Graph,
  chain: Chain,
  precision: number,
): ChainScene {
  const jacobian: JacobianOf = (link) => jacobianOf(trace, pass, link);
  const subject = { pass, graph, precision, jacobian };
  const steps = executions(trace, pass);
  const brought = broughtTo(trace, pass, chain);
  const v = recordedV(trace, pass, chain.of);
  const count = chain.segments.length;
  const [ofName, byName] = [tensorName(graph, chain.of), tensorName(graph, chain.by)];
  const partial = partialOf(graph, chain);
  const product: Part[] = [];
  const sums: SumScene[] = [];
  if (v !== null) {
    const caption = label("chain-v", { name: ofName });
    product.push({ ...tableOf("v", v, null, 0), caption, note: ownShape(pass, chain.of) });
  }
  let running: Running | null = v && { rows: v, isRecorded: true };
  let isByRecord = false;
  for (const [index, segment] of chain.segments.entries()) {
    // What a tensor was brought may be the answer to an open question.
    const arrived = steps.get(segment.by.node)?.step.contributions ?? [];
    const before = arrived.some(({ value }) => isUnseen(value)) ? null : running;
    const rows: Rows | null = before && timesLinks(before.rows, segment, jacobian);
    const recorded = rows === null ? brought(segment.by) : null;
    running = rows ? { rows, isRecorded: false } : recorded && { rows: recorded.rows, isRecorded: true };
    isByRecord ||= running?.isRecorded === true;
    const leftOut = count - FIRST_LINKS_SHOWN - LAST_LINKS_SHOWN;
    if (index === FIRST_LINKS_SHOWN && leftOut > 0)
      product.push({ ...tableOf("⋯", null), note: label("chain-left-out-links", { count: leftOut }) });
    if (index >= FIRST_LINKS_SHOWN && index < FIRST_LINKS_SHOWN + leftOut) continue;
    const link = drawLink(subject, segment, index, count);
    const name = label("chain-running", { symbol: link.name });
    const under =
      running && index < count - 1 ? { ...tableOf(name, running.rows), note: noteOf(running) } : null;
    product.push({ ...link, under });
    const sum = sums.length < MOST_SUMS ? drawSum(subject, segment, link.name, before?.rows ?? null) : null;
    if (sum !== null) sums.push(sum);
  }
  if (running !== null) {
    const result = tableOf(label("chain-result", { partial }), running.rows, null, count);
    product.push({ ...result, sign: "=", note: lines(ownShape(pass, chain.by), noteOf(running)) });
  }
  const size = sizeOf(pass, chain.of);
  const whole = size === null || count === 1 ? null : wholeJacobian(chain, size, jacobian);
  if (whole !== null) {
    const caption = lines(partial, label("chain-whole"));
    product.push({ ...tableOf(partial, whole, null, null), sign: "|", caption, captionInk: "forward" });
  }
  const isChanged = changedLinks(trace, pass, chain).length > 0;
  const verdict =
    running === null || running.isRecorded ? null : verdictOf(running.rows, brought(chain.by), isChanged);
  const partials = chain.segments.map((segment) => partialOf(graph, segment));
  return {
    partial,
    partials: count > 1 && count <= MOST_PARTIALS ? partials.join(" · ") : null,
    symbols: symbolsOf(pass, graph, chain.segments),
    numbers: numbersOf(chain, jacobian, precision),
    product,
    sums,
    verdict,
    said:
      v === null
        ? say("chain-no-v", { name: code(ofName) })
        : verdict !== null
          ? say(verdict, { name: code(byName) })
          : isByRecord
            ? say("chain-by-record")
            : null,
    asks: chain.links.flatMap((link) => {
      const stepIndex = steps.get(link.of.node)?.step.index;
      const isAsked = stepIndex !== undefined && jacobian(link) === "chain-on-demand";
      return isAsked ? [{ stepIndex, argnum: link.edge.to.argnum }] : [];
    }),
    hasRepeats: [chain, withRepeatsAsLinks(graph, chain)].some(({ segments }) =>
      segments.some(({ repeats }) => repeats > 1),
    ),
    groups: [...new Set(groupRuns(graph, chain).map(({ group }) => group))].map((id) => ({
      id,
      name: groupsById(graph).get(id)?.label ?? id,
    })),
  };
}

/** Parts side by side, of each table at most so many rows and columns; what can be asked for is called `ask`. */
export function chainEquation(
  parts: readonly Part[],
  precision: number,
  ask: string | null,
  most: number,
): Equation {
  const blockOf = ({ matrix, why, under, ...part }: Part, across?: number): Block => {
    const isAsked = why === "chain-on-demand" && ask !== null;
    const note = isAsked ? ask : why ? label(why) : (part.note ?? "");
    const block =
      matrix === null
        ? pictureBlock(null, { ...part, note, across }, isAsked)
        : tableBlock(matrix, { ...part, across, size: sizeOfTable(matrix, most), precision, most });
    return under ? stacked([block, blockOf(under, across)]) : block;
  };
  return {
    parts: (_, across) =>
      parts.map((part, at) => [
        ...(at === 0 ? [] : [operatorBlock(part.sign ?? "·")]),
        blockOf(part, across),
      ]),
    isFlexible: true,
  };
}

/**
 * A table with its sizes below; sizes that must agree have one ink, by how many links stand before them.
 * @param rowsAt before its rows; null: they agree with nothing, none: no sizes are told
 * @param columnsAt before its columns
 */
function tableOf(
  name: string,
  rows: Rows | null,
  rowsAt?: number | null,
  columnsAt: number | null = null,
  [height, width] = [rows?.count, rows?.columns],
): Part {
  const run = (text: string, at: number | null): Run => ({
    text,
    size: 13,
    face: "sans",
    bold: at !== null,
    ink: at === null ? "ink-quiet" : at % 2 === 0 ? "gradient" : "forward",
  });
  const shape = [
    run(String(height ?? "?"), rowsAt ?? null),
    run(" × ", null),
    run(String(width ?? "?"), columnsAt),
  ];
  return {
    name,
    caption: name,
    captionInk: "gradient",
    matrix: rows && asMatrix(rows),
    shape: rowsAt === undefined ? "" : shape,
  };
}

function lines(...all: readonly string[]): string {
  return all.filter((line) => line !== "").join("\n");
}

/** A tensor's own shape, where the table shows it flattened. */
function ownShape(pass: PassState, tensor: TensorId): string {
  const shape = shapeOf(pass, tensor) ?? [];
  return shape.length > 1 ? shapeText(shape) : "";
}

function noteOf({ isRecorded }: Running): string {
  return isRecorded ? label("chain-recorded") : "";
}

function verdictOf(product: Rows, brought: Brought | null, isChanged: boolean): Verdict {
  if (brought === null) return "chain-mixed";
  if (!areEqual(product, brought.rows)) return isChanged ? "chain-changed" : "chain-differs";
  return brought.isAll ? "chain-all" : "chain-part";
}

/** Numbered from `by`, as in J₃ J₂ J₁. */
function drawLink(
  { pass, graph, precision, jacobian }: Subject,
  segment: Segment,
  index: number,
  count: number,
): Part {
  const [rows, columns] = [sizeOf(pass, segment.of), sizeOf(pass, segment.by)];
  const whole = rows === null ? null : wholeJacobian(segment, rows, jacobian);
  const title = segmentTitle(graph, segment);
  const symbol = segment.group === null ? `J${subscript(count - index)}` : `J(${title})`;
  const [only, ...others] = segment.links;
  const vjp = only === undefined || others.length > 0 ? null : vjpOf(pass, graph, only);
  const told = symbolsOf(pass, graph, [segment]) ?? (vjp && `v ↦ ${vjp}`);
  const why = segment.links.map(jacobian).find((found) => typeof found === "string");
  return {
    ...tableOf(symbol, whole, index, index + 1, [rows ?? undefined, columns ?? undefined]),
    caption: lines(`${symbol} = ${partialOf(graph, segment)}`, told === null ? title : `${title}: ${told}`),
    captionInk: "forward",
    why: whole === null ? (why ?? "chain-too-large") : null,
    note: lines(
      (whole && powerOf(segment, whole, precision)) ?? "",
      segment.paths > 1n ? label("chain-paths", { count: formatCount(segment.paths) }) : "",
    ),
  };
}

/** Each path of a segment with its own product; null where there is one only, or they are too long to be told apart. */
function drawSum(
  { pass, graph, jacobian }: Subject,
  { turn, repeats, ...whole }: Segment,
  symbol: string,
  v: Rows | null,
): SumScene | null {
  const segment = turn ?? { ...whole, repeats };
  const paths = pathsOf(segment, MOST_PATHS_SHOWN);
  if (segment.paths < 2n || paths.some((path) => path.length > LONGEST_PATH_SHOWN)) return null;
  const size = sizeOf(pass, segment.of);
  const jacobianOfAll = (links: readonly Link[]): Rows | null =>
    size === null ? null : wholeJacobian({ ...segment, links }, size, jacobian);
  const parts = paths.map((links, at): Part => {
    const operations = links.map(({ of }) => nodesById(graph).get(of.node)?.label ?? of.node);
    const rows = jacobianOfAll(links) ?? (v && timesLinks(v, { ...segment, links }, jacobian));
    const name = label("chain-path", { number: String(at + 1) });
    return { ...tableOf(name, rows), sign: "+", caption: operations.join(" · "), note: rows ? "" : name };
  });
  const more = segment.paths - BigInt(paths.length);
  if (more > 0n)
    parts.push({
      ...tableOf("", null),
      sign: "+",
      note: label("chain-more-paths", { count: formatCount(more) }),
    });
  const sum = jacobianOfAll(segment.links);
  if (sum !== null) parts.push({ ...tableOf(partialOf(graph, segment), sum), sign: "=" });
  const count = formatCount(segment.paths);
  const words =
    repeats > 1
      ? label("chain-sum-of-turn", { turns: String(repeats), count })
      : label("chain-sum", { count });
  return { caption: `${symbol} · ${words}`, parts };
}

/** `2¹⁰ = 1024`: where each of the repeated links only multiplies by one and the same number. */
function powerOf({ repeats }: Segment, whole: Rows, precision: number): string | null {
  if (repeats < 2 || whole.count !== whole.columns) return null;
  const product = whole.entries[0] ?? 0;
  const isMultiple = whole.entries.every(
    (entry, at) => entry === (at % (whole.columns + 1) === 0 ? product : 0),
  );
  const factor = product ** (1 / repeats);
  const rounded = Math.round(factor);
  if (!isMultiple || rounded ** repeats !== product) return null;
  return `${rounded}${superscript(repeats)} = ${formatNumber(product, precision)}`;
}

function subscript(number: number): string {
  return [...String(number)].map((digit) => SUBSCRIPT[Number(digit)]).join("");
}

function segmentTitle(graph: Graph, segment: Segment): string {
  const group = segment.group === null ? undefined : groupsById(graph).get(segment.group);
  if (group !== undefined) {
    const repeats = repeatsOf(group);
    return repeats === null ? group.label : `${group.label} × ${repeats}`;
  }
  const label = nodesById(graph).get(segment.of.node)?.label ?? segment.of.node;
  return segment.repeats > 1 ? `${label} × ${segment.repeats}` : label;
}

/** What a tensor is called: its variable, its text in the program, or the operation with `(…)`. */
export function tensorName(graph: Graph, { node: id, outputNr }: TensorId): string {
  const node = nodesById(graph).get(id);
  if (node === undefined) return id;
  return resultText(node, outputNr) ?? `${node.label}(…)`;
}

/** In a loop both are called `y`: then the later one is called by its text, `y * 2`. */
function partialOf(graph: Graph, { of, by }: { of: TensorId; by: TensorId }): string {
  const byName = tensorName(graph, by);
  const node = nodesById(graph).get(of.node);
  const own = tensorName(graph, of);
  const ofName = own === byName && node !== undefined ? (sourceText(node) ?? own) : own;
  return `∂${bracketedText(ofName)}/∂${bracketedText(byName)}`;
}

/** What can be chosen as an end of a chain. */
export interface EndOption {
  readonly key: string;
  /** Its name, for a result the operation that made it and its line; numbered where several are called alike. */
  readonly title: string;
  readonly isLeaf: boolean;
}

export function endOptions(graph: Graph): readonly EndOption[] {
  const used = new Set(graph.edges.map(({ from }) => tensorKey(tensorOf(from))));
  const called = new Map<string, number>();
  return graph.nodes.flatMap((node) =>
    Array.from({ length: node.output_count }, (_, outputNr): readonly EndOption[] => {
      const key = tensorKey({ node: node.id, outputNr });
      if (outputNr > 0 && !used.has(key)) return [];
      const isLeaf = node.kind === "accumulate_grad";
      const name = tensorName(graph, { node: node.id, outputNr });
      const ends = { name, operation: node.label };
      const made =
        node.span === null
          ? label("chain-end-unplaced", ends)
          : label("chain-end-made", { ...ends, line: String(node.span.line) });
      const title = isLeaf ? name : made;
      const nth = (called.get(title) ?? 0) + 1;
      called.set(title, nth);
      return [{ key, title: nth === 1 ? title : `${title} (${nth})`, isLeaf }];
    }).flat(),
  );
}
