/**
 * Which chain somebody looks at, as it stands in the address: `n0..n2` is d n0 / d n2, `n0.1..n2` starts at the second
 * output of n0; behind it, after a dash each, the groups that are one link (`n0..n2-g1`) and `*` for all that is repeated
 * in a row.
 */
import type { Graph } from "../protocol/trace.gen";
import type { Chain, TensorId } from "./chain";
import { chainBetween, groupRuns, tensorKey, tensorOf, withGroupsAsLinks, withRepeatsAsLinks } from "./chain";
import { nodesById } from "./graph";
import type { PassState } from "./trace";

export interface ChainChoice {
  readonly of: TensorId;
  readonly by: TensorId;
  /** Groups that are one link. */
  readonly groups: ReadonlySet<string>;
  /** Operations that are repeated in a row are one link. */
  readonly repeats: boolean;
}

const CHOICE = /^(\w+)(?:\.(\d+))?\.\.(\w+)(?:\.(\d+))?((?:-(?:\w+|\*))*)$/;
const REPEATS = "*";

export function parseChain(text: string): ChainChoice | null {
  const found = CHOICE.exec(text);
  if (found === null) return null;
  const [, of = "", ofNr = "0", by = "", byNr = "0", folded = ""] = found;
  const parts = folded.split("-").slice(1);
  return {
    of: { node: of, outputNr: Number(ofNr) },
    by: { node: by, outputNr: Number(byNr) },
    groups: new Set(parts.filter((part) => part !== REPEATS)),
    repeats: parts.includes(REPEATS),
  };
}

export function formatChain({ of, by, groups, repeats }: ChainChoice): string {
  const folded = [...groups, ...(repeats ? [REPEATS] : [])].map((part) => `-${part}`);
  return `${tensorKey(of)}..${tensorKey(by)}${folded.join("")}`;
}

/** `n3` or `n3.1`, as `tensorKey` writes it. */
export function parseTensor(key: string): TensorId {
  const [node = "", outputNr = "0"] = key.split(".");
  return { node, outputNr: Number(outputNr) };
}

/** The choice that a text of the address stands for in a graph; where it has no such tensors, the first. */
export function choiceIn(pass: PassState, graph: Graph, text: string): ChainChoice {
  const asked = parseChain(text);
  return asked !== null && hasEnds(graph, asked) ? asked : firstChoice(pass, graph);
}

/** The chain as chosen; null where no path leads from one end to the other. */
export function chosenChain(graph: Graph, { of, by, groups, repeats }: ChainChoice): Chain | null {
  const chain = chainBetween(graph, of, by);
  if (chain === null) return null;
  const folded = groups.size === 0 ? chain : withGroupsAsLinks(graph, chain, groups);
  return repeats ? withRepeatsAsLinks(graph, folded) : folded;
}

/** Longer chains are first seen with what is repeated as one link. */
const MOST_LINKS_AT_FIRST = 6;

/** Of so many leaves the one that is farthest away is looked for. */
const MOST_LEAVES_TRIED = 20;

/** From what the pass starts at to the leaf with the most links between; to itself where it leads to none. */
export function firstChoice({ started: { outputs } }: PassState, graph: Graph): ChainChoice {
  const of = outputs[0] ? tensorOf(outputs[0]) : { node: graph.nodes[0]?.id ?? "", outputNr: 0 };
  const leaves = graph.nodes.filter(({ kind }) => kind === "accumulate_grad").slice(0, MOST_LEAVES_TRIED);
  const [longest] = leaves
    .flatMap(({ id }) => chainBetween(graph, of, { node: id, outputNr: 0 }) ?? [])
    .sort((a, b) => b.segments.length - a.segments.length);
  if (longest === undefined) return { of, by: of, groups: new Set(), repeats: false };
  const isLong = longest.segments.length > MOST_LINKS_AT_FIRST;
  return { of, by: longest.by, groups: isLong ? partsOf(graph, longest) : new Set(), repeats: isLong };
}

/** The groups that several links are the work of, but not all: then there would be nothing left to multiply. */
function partsOf(graph: Graph, chain: Chain): ReadonlySet<string> {
  const parts = groupRuns(graph, chain).filter(
    ({ start, end }) => end - start > 1 && end - start < chain.segments.length,
  );
  return new Set(parts.map(({ group }) => group));
}

/** Whether a graph has both ends: a choice may come from another program's link. */
function hasEnds(graph: Graph, { of, by }: ChainChoice): boolean {
  const has = ({ node, outputNr }: TensorId) => outputNr < (nodesById(graph).get(node)?.output_count ?? 0);
  return has(of) && has(by);
}
