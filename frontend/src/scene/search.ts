/** Finds nodes of a graph by what a person would call them: variable, operation, group, line. */
import { groupsById, groupsRound } from "../model/graph";
import { executions, nodeTitle } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import type { Graph, Node } from "../protocol/trace.gen";
import { label } from "../words/say";

export interface Hit {
  readonly node: string;
  /** As on its card. */
  readonly title: string;
  readonly variable: string | null;
  readonly line: number | null;
  /** 1-based; null where the pass does not execute it. */
  readonly step: number | null;
  /** The innermost group it is in. */
  readonly group: string | null;
}

export interface Hits {
  /** At most `MOST_HITS`, in the order of the backward walk; what is not executed comes last. */
  readonly shown: readonly Hit[];
  readonly count: number;
}

/** `7`, `line 7`. */
function lineIn(query: string): string | undefined {
  const number = /\d+$/.exec(query)?.[0];
  const bare = (text: string) => text.toLowerCase().replace(/\s/g, "");
  if (number === undefined) return undefined;
  return [number, bare(label("player-line", { line: number }))].includes(bare(query)) ? number : undefined;
}

const MOST_HITS = 60;

/** Every word must be found; a number alone, or "line 7", is a line of the program. */
export function search(trace: TraceState, pass: PassState, graph: Graph, query: string): Hits {
  const text = query.trim().toLowerCase();
  const line = lineIn(text);
  const words = text.split(/\s+/).filter((word) => word !== "");
  const groups = groupsById(graph);
  const steps = executions(trace, pass);
  const matches = (node: Node): boolean => {
    if (line !== undefined)
      return node.span !== null && node.span.line <= Number(line) && Number(line) <= node.span.end_line;
    const around = groupsRound(graph, node.id).map((id) => groups.get(id)?.label ?? "");
    const names = [
      node.name,
      node.label,
      node.leaf ?? "",
      ...node.outputs.map(({ name }) => name ?? ""),
      ...around,
    ];
    const all = names.join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const found = graph.nodes.filter(matches).map((node): Hit => {
    const [inner] = groupsRound(graph, node.id);
    return {
      node: node.id,
      title: nodeTitle(node),
      variable: node.leaf == null ? (node.outputs[0]?.name ?? null) : null,
      line: node.span?.line ?? null,
      step: steps.get(node.id)?.number ?? null,
      group: inner === undefined ? null : (groups.get(inner)?.label ?? null),
    };
  });
  found.sort((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity));
  return { shown: found.slice(0, MOST_HITS), count: found.length };
}
