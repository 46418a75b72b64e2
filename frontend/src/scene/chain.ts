/**
 * A chain as it is shown: v, its links with their Jacobians, what v has become after each of them, the Jacobian of the
 * whole, and the sum over paths where there are several. A Jacobian that cannot be had is left out and says why; what v
 * becomes there is what the pass recorded.
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
  localJacobianOf,
  recordedV,
  shapeOf,
  sizeOf,
  timesLinks,
  wholeJacobian,
} from "../model/chainrule";
import { groupsById, nodesById } from "../model/graph";
import { isUnseen } from "../model/mask";
import type { Matrix } from "../model/matrix";
import { formatNumber, superscript } from "../model/numbers";
import { executions } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import type { Graph } from "../protocol/trace.gen";
import { bracketedText, resultText, sourceText } from "../words/names";
import { symbolsOf, vjpOf } from "./chainsymbols";
import { repeatsOf } from "./repeats";

/** A local Jacobian that the server works out when asked. */
export interface Ask {
  readonly stepIndex: number;
  readonly argnum: number;
}

/** What v has become. */
export interface Running {
  readonly matrix: Matrix;
  /** Not multiplied here, for want of a Jacobian: what the pass recorded. */
  readonly isRecorded: boolean;
}

export interface PathScene {
  /** The operations on it, from `of` on: `mul`, `sin`. */
  readonly operations: readonly string[];
  readonly edges: readonly string[];
  readonly jacobian: Matrix | null;
  /** v times it. */
  readonly product: Matrix | null;
}

export interface LinkScene {
  /** Its place in the whole chain, from `of`. */
  readonly index: number;
  /** How many links before it are left out of a long chain. */
  readonly leftOut: number;
  /** `J₂`, or `J(F2)` of a group. */
  readonly symbol: string;
  /** The operation, or the group. */
  readonly title: string;
  /** `∂z/∂y`. */
  readonly partial: string;
  /** Its own derivative as a formula: `cos(x)`; null where there is none that is short. */
  readonly rule: string | null;
  /** Where it has no such formula, what becomes of v: `v @ W`. */
  readonly vjp: string | null;
  readonly rows: number | null;
  readonly columns: number | null;
  readonly jacobian: Matrix | null;
  /** `2¹⁰ = 1024` where equal factors are multiplied. */
  readonly power: string | null;
  /** Why there is no Jacobian; null where there is one, or where it is only too large to write. */
  readonly why: NoJacobian | null;
  readonly running: Running | null;
  readonly paths: bigint;
  readonly sum: SumScene | null;
}

/** The sum over the paths of a link; of repeated ones, of the first. */
export interface SumScene {
  readonly partial: string;
  /** How many equal links this is one of. */
  readonly turns: number;
  readonly paths: bigint;
  /** The first of them. */
  readonly shown: readonly PathScene[];
  readonly jacobian: Matrix | null;
}

/** How the product compares with what the pass brought to `by`. */
export type Verdict =
  /** It is the gradient of `by`. */
  | "all"
  /** It is what came along this chain; more came by other ways. */
  | "part"
  /** Something on the way made another gradient of one. */
  | "changed"
  | "differs"
  /** Of what arrived, it cannot be told how much came from `of`. */
  | "mixed";

export interface ChainScene {
  readonly ofName: string;
  readonly byName: string;
  /** `∂z/∂x`. */
  readonly partial: string;
  readonly v: Matrix | null;
  readonly vShape: readonly number[] | null;
  /** Those of a long chain that are shown. */
  readonly links: readonly LinkScene[];
  readonly linkCount: number;
  readonly product: Running | null;
  readonly byShape: readonly number[] | null;
  readonly verdict: Verdict | null;
  readonly jacobian: Matrix | null;
  readonly paths: bigint;
  /** `∂z/∂y · ∂y/∂x` of a short chain. */
  readonly partials: string | null;
  /** The product as formulas, and as numbers where each link is a number. */
  readonly symbols: string | null;
  readonly numbers: string | null;
  readonly asks: readonly Ask[];
  /** Some operations are repeated in a row, as links of their own or as one. */
  readonly hasRepeats: boolean;
  /** Groups that can be one link. */
  readonly groups: readonly { readonly id: string; readonly name: string }[];
}

const MOST_PATHS_SHOWN = 6;
const LONGEST_PATH_SHOWN = 8;
const MOST_PARTIALS = 6;
/** Of a longer chain the first links and the last are shown. */
const MOST_LINKS_SHOWN = 24;
const LAST_LINKS_SHOWN = 4;
const SUBSCRIPT = "₀₁₂₃₄₅₆₇₈₉";

/** What all parts of a chain are drawn from. */
interface Subject {
  readonly pass: PassState;
  readonly graph: Graph;
  readonly precision: number;
  readonly jacobian: JacobianOf;
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
  const brought = broughtTo(trace, pass, chain);
  const v = recordedV(trace, pass, chain.of);
  const links: LinkScene[] = [];
  let running: { rows: Rows; isRecorded: boolean } | null = v === null ? null : { rows: v, isRecorded: true };
  chain.segments.forEach((segment, index) => {
    const before = isAskedFor(trace, pass, segment.by) ? null : running;
    const product: Rows | null = before && timesLinks(before.rows, segment, jacobian);
    const recorded = product === null ? brought(segment.by) : null;
    running =
      product === null
        ? recorded && { rows: recorded.rows, isRecorded: true }
        : { rows: product, isRecorded: false };
    const leftOut = leftOutAt(index, chain.segments.length);
    if (leftOut === null) return;
    links.push({
      index,
      leftOut,
      ...drawLink(subject, segment, chain.segments.length - index),
      sum: drawSum(subject, segment, before?.rows ?? null),
      running: running && shownRunning(running),
    });
  });
  const end = running as { rows: Rows; isRecorded: boolean } | null;
  const size = sizeOf(pass, chain.of);
  const whole = size === null ? null : wholeJacobian(chain, size, jacobian);
  const isChanged = changedLinks(trace, pass, chain).length > 0;
  const { symbols, numbers } = symbolsOf(pass, graph, chain, jacobian, precision);
  const scalar = whole === null || whole.entries.length > 1 ? undefined : whole.entries[0];
  return {
    ofName: tensorName(graph, chain.of),
    byName: tensorName(graph, chain.by),
    partial: partialOf(graph, chain),
    v: v && asMatrix(v),
    vShape: shapeOf(pass, chain.of),
    links,
    linkCount: chain.segments.length,
    product: end && shownRunning(end),
    byShape: shapeOf(pass, chain.by),
    verdict: end === null || end.isRecorded ? null : verdictOf(end.rows, brought(chain.by), isChanged),
    jacobian: whole && asMatrix(whole),
    paths: chain.paths,
    partials:
      links.length > 1 && chain.segments.length <= MOST_PARTIALS
        ? links.map(({ partial }) => partial).join(" · ")
        : null,
    symbols,
    numbers:
      numbers === null || scalar === undefined ? null : `${numbers} = ${formatNumber(scalar, precision)}`,
    asks: chain.links.flatMap((link) => (jacobian(link) === "on_demand" ? askOf(trace, pass, link) : [])),
    hasRepeats: hasRepeats(graph, chain),
    groups: foldable(graph, chain),
  };
}

/** How many links are left out before this one; null where it is left out itself. */
function leftOutAt(index: number, count: number): number | null {
  const lastAgain = count - LAST_LINKS_SHOWN;
  const firstHidden = MOST_LINKS_SHOWN - LAST_LINKS_SHOWN;
  if (count <= MOST_LINKS_SHOWN || index < firstHidden || index > lastAgain) return 0;
  return index === lastAgain ? lastAgain - firstHidden : null;
}

/** What a tensor was brought is the answer to an open question. */
function isAskedFor(trace: TraceState, pass: PassState, { node }: TensorId): boolean {
  return (
    executions(trace, pass)
      .get(node)
      ?.step.contributions.some(({ value }) => isUnseen(value)) ?? false
  );
}

function shownRunning({ rows, isRecorded }: { rows: Rows; isRecorded: boolean }): Running {
  return { matrix: asMatrix(rows), isRecorded };
}

function verdictOf(product: Rows, brought: Brought | null, isChanged: boolean): Verdict {
  if (brought === null) return "mixed";
  if (!areEqual(product, brought.rows)) return isChanged ? "changed" : "differs";
  return brought.isAll ? "all" : "part";
}

/** `number` counts from `by`, as in J₃ J₂ J₁. */
function drawLink(
  { pass, graph, precision, jacobian }: Subject,
  segment: Segment,
  number: number,
): Omit<LinkScene, "index" | "leftOut" | "sum" | "running"> {
  const [rows, columns] = [sizeOf(pass, segment.of), sizeOf(pass, segment.by)];
  const whole = rows === null ? null : wholeJacobian(segment, rows, jacobian);
  const whys = segment.links.flatMap((link) => {
    const found = jacobian(link);
    return typeof found === "string" ? [found] : [];
  });
  const title = segmentTitle(graph, segment);
  const rule = symbolsOf(pass, graph, { segments: [segment] }, jacobian, precision).symbols;
  const [onlyLink, ...others] = segment.links;
  const hasVjp = rule === null && onlyLink !== undefined && others.length === 0;
  return {
    symbol: segment.group === null ? `J${subscript(number)}` : `J(${title})`,
    title,
    partial: partialOf(graph, segment),
    rule,
    vjp: hasVjp ? vjpOf(pass, graph, onlyLink) : null,
    rows,
    columns,
    jacobian: whole && asMatrix(whole),
    power: whole === null ? null : powerOf(segment, whole, precision),
    why: whole === null ? (whys[0] ?? "too_large") : null,
    paths: segment.paths,
  };
}

function askOf(trace: TraceState, pass: PassState, link: Link): readonly Ask[] {
  const step = executions(trace, pass).get(link.of.node)?.step;
  if (step === undefined || localJacobianOf(step, link) === undefined) return [];
  return [{ stepIndex: step.index, argnum: link.edge.to.argnum }];
}

/** Each path of a segment with its own product; null where there is one only, or they are too long to be told apart. */
function drawSum(
  { pass, graph, jacobian }: Subject,
  { turn, repeats, ...whole }: Segment,
  v: Rows | null,
): SumScene | null {
  const segment = turn ?? { ...whole, repeats };
  if (segment.paths < 2n) return null;
  const paths = pathsOf(segment, MOST_PATHS_SHOWN);
  if (paths.some((path) => path.length > LONGEST_PATH_SHOWN)) return null;
  const size = sizeOf(pass, segment.of);
  const jacobianOfAll = (links: readonly Link[]) => {
    const rows = size === null ? null : wholeJacobian({ ...segment, links }, size, jacobian);
    return rows && asMatrix(rows);
  };
  const shown = paths.map((links): PathScene => {
    const product = v === null ? null : timesLinks(v, { ...segment, links }, jacobian);
    return {
      operations: links.map(({ of }) => nodesById(graph).get(of.node)?.label ?? of.node),
      edges: links.map(({ edge }) => edge.id),
      jacobian: jacobianOfAll(links),
      product: product && asMatrix(product),
    };
  });
  return {
    partial: partialOf(graph, segment),
    turns: repeats,
    paths: segment.paths,
    shown,
    jacobian: jacobianOfAll(segment.links),
  };
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

function hasRepeats(graph: Graph, chain: Chain): boolean {
  const folded = withRepeatsAsLinks(graph, chain);
  return (
    folded.segments.some(({ repeats }) => repeats > 1) || chain.segments.some(({ repeats }) => repeats > 1)
  );
}

function foldable(graph: Graph, chain: Chain): ChainScene["groups"] {
  const ids = new Set(groupRuns(graph, chain).map(({ group }) => group));
  return [...ids].map((id) => ({ id, name: groupsById(graph).get(id)?.label ?? id }));
}

/** What can be chosen as an end of a chain. */
export interface EndOption {
  readonly key: string;
  readonly name: string;
  /** The operation that made it; null for a leaf. */
  readonly operation: string | null;
  readonly line: number | null;
}

/** As many can be found in a list; of more, those that have a name. */
const MOST_OPTIONS = 150;

export function endOptions(graph: Graph): readonly EndOption[] {
  const used = new Set(graph.edges.map(({ from }) => tensorKey(tensorOf(from))));
  const all = graph.nodes.flatMap((node) =>
    Array.from({ length: node.output_count }, (_, outputNr) => ({
      node,
      outputNr,
      key: tensorKey({ node: node.id, outputNr }),
    }))
      .filter(({ key, outputNr }) => outputNr === 0 || used.has(key))
      .map(({ outputNr, key }) => ({
        key,
        name: tensorName(graph, { node: node.id, outputNr }),
        hasName: node.leaf !== undefined || node.outputs[outputNr]?.name != null,
        operation: node.kind === "accumulate_grad" ? null : node.label,
        line: node.span?.line ?? null,
      })),
  );
  return all.length <= MOST_OPTIONS ? all : all.filter(({ hasName }) => hasName).slice(0, MOST_OPTIONS);
}
