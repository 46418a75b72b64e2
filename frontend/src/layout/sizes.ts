/**
 * How large a card is. Sizes follow from names and shapes, never from values, so that a slider moves numbers and
 * nothing else. The figures match the type sizes in `scene/map.ts`.
 */

import { resultOf } from "../model/calls";
import { nodesById, usesOf } from "../model/graph";
import { elementCount } from "../model/matrix";
import { once, onceFor } from "../model/once";
import { nodeTitle } from "../model/selectors";
import type { Edge, Graph, Group, Node } from "../protocol/trace.gen";
import type { Size } from "./geometry";
import { type Subject, TOP } from "./levels";
import type { Drawing } from "./place";

const TITLE_CHARACTER_PX = 9.5;
/** That of `binary_cross_entropy_with_logits` is whole, however wide it makes a card. */
const LONGEST_TITLE = 32;
/** In brief, where a title is written in letters that keep their size on screen. */
const BRIEF_CHARACTER_PX = 19;
const VALUE_CHARACTER_PX = 8.8;
const NUMBER_CHARACTERS = 6.2;
const SEPARATED_NUMBER_CHARACTERS = 7.9;
const PADDING_PX = 24;
const NARROWEST_PX = 130;
const NARROWEST_LEAF_PX = 174;
const WIDEST_PX = 236;
/** The names of the lower line: `.grad`, `v`. */
const GRAD_PX = 43;
const V_PX = 13;
/** The name of a value that the program gave none, `value`, which has room in graphs of few nodes. */
const VALUE_PX = 53;
const FEW_NODES = 9;
const WIDEST_NAME_PX = 80;
const SHORTEST_NAME = 2;
const GAP_PX = 7;
/** How much has arrived of what several uses send: `1 of 2 arrived`, in any language. */
const ARRIVED_PX = 130;
const TITLE_LINE_PX = 24;
const VALUE_LINE_PX = 22;
const FRAME_PX = 18;
export const CELLS_SHOWN_AS_NUMBERS = 3;
export const THUMBNAIL_ROWS = 6;
export const THUMBNAIL_CELL_PX = 8;

export const GROUP_SIZE: Size = { width: 196, height: 88 };

export function cardSize(node: Node, graph: Graph): Size {
  /** Of the node's result; more than one send a gradient each. */
  const uses = usesOf(graph, node.id).length;
  const output = node.outputs[0];
  const shape = output?.shape ?? output?.value?.shape ?? null;
  const isLeaf = node.kind === "accumulate_grad";
  const said = isLeaf ? "leaf" : node.output_count > 1 ? "2 outputs" : "";
  const aside = uses > 1 ? ARRIVED_PX : TITLE_CHARACTER_PX * said.length;
  const title = titleWidth(nodeTitle(node));
  const brief = isLeaf ? 0 : BRIEF_CHARACTER_PX * nodeTitle(node).length;
  const name = isLeaf ? null : (output?.name ?? null);
  const called = graph.nodes.length > FEW_NODES ? 0 : VALUE_PX;
  const named = name === null ? called : VALUE_CHARACTER_PX * Math.max(SHORTEST_NAME, name.length);
  const value = VALUE_CHARACTER_PX * valueCharacters(shape);
  const line = value + Math.max(isLeaf ? GRAD_PX : V_PX, Math.min(named, WIDEST_NAME_PX) + GAP_PX);
  const narrowest = isLeaf ? NARROWEST_LEAF_PX : NARROWEST_PX;
  const wanted = Math.max(narrowest, ...[title + GAP_PX + aside, brief, line].map((px) => px + PADDING_PX));
  const width = Math.max(title + GAP_PX + PADDING_PX, Math.min(WIDEST_PX, wanted));
  return { width: Math.ceil(width), height: TITLE_LINE_PX + 2 * valueHeight(shape) + FRAME_PX };
}

/** Whether a value is written out on a card; larger ones become a thumbnail with their shape. */
export function isWrittenOut(shape: readonly number[]): boolean {
  return shape.length <= 1 && elementCount(shape) <= CELLS_SHOWN_AS_NUMBERS;
}

/** What to lay out for a graph: its structure, the sizes of all cards, and which groups are open. */
export function drawingOf(graph: Graph, open: ReadonlySet<string>): Drawing {
  const subject = subjectOf(graph);
  return { subject, open: subject.groups.map((group) => group.id).filter((id) => open.has(id)) };
}

/** By edges, and their groups: both stay the same objects while values and formulas come to the nodes. */
const subjectsOf = once((_edges: Graph["edges"]) => onceFor((graph: Graph) => graph.groups, makeSubject));

/** What there is to lay out, whichever groups are open; made once for a graph. */
const subjectOf = (graph: Graph): Subject => subjectsOf(graph.edges)(graph);

const spelled = once((subject: Subject) => JSON.stringify(subject));

/** Equal for graphs that look alike: the same picture under other numbers needs no other layout. */
export const pictureKey = (graph: Graph): string => spelled(subjectOf(graph));

function makeSubject(graph: Graph): Subject {
  const loose = looseEdges(graph);
  return {
    nodes: graph.nodes.map((node) => ({
      id: node.id,
      home: node.group ?? TOP,
      ...cardSize(node, graph),
    })),
    groups: graph.groups.map((group) => ({
      id: group.id,
      home: group.parent ?? TOP,
      isFold: isFold(group),
      ...groupSize(group, graph),
    })),
    edges: graph.edges.map((edge) => ({
      id: edge.id,
      from: edge.from.node,
      to: edge.to.node,
      isLoose: loose.has(edge),
    })),
  };
}

/** The arrow, the number of nodes, and padding; the count of a repeated block. */
const GROUP_FRAME_PX = 104;
const REPEATS_PX = 48;
const LARGE_GRAPH_NODES = 200;
const USES_TOO_MANY = 24;

/** In a large graph, the edges of values that are used over and over: shared parameters, an input fed to every layer. */
function looseEdges(graph: Graph): ReadonlySet<Edge> {
  if (graph.nodes.length <= LARGE_GRAPH_NODES) return new Set();
  const uses = graph.nodes.map((node) => usesOf(graph, node.id));
  return new Set(uses.filter((each) => each.length >= USES_TOO_MANY).flat());
}

/** Whether a block that is repeated was folded into this group. */
function isFold(group: Group): boolean {
  return "repeats" in group;
}

/** A call that is one operation is as large as the card of one. */
export function groupSize(group: Group, graph: Graph): Size {
  const output = nodesById(graph).get(resultOf(group, graph) ?? "");
  if (output !== undefined) {
    const { width, height } = cardSize(output, graph);
    return { width: Math.ceil(Math.max(width, titleWidth(group.label) + GROUP_FRAME_PX)), height };
  }
  const count = isFold(group) ? REPEATS_PX : 0;
  const width = Math.max(GROUP_SIZE.width, group.label.length * TITLE_CHARACTER_PX + GROUP_FRAME_PX) + count;
  return { width: Math.min(WIDEST_PX + 40, Math.ceil(width)), height: GROUP_SIZE.height };
}

function titleWidth({ length }: string): number {
  return TITLE_CHARACTER_PX * Math.min(LONGEST_TITLE, length);
}

function valueCharacters(shape: readonly number[] | null): number {
  if (shape === null) return NUMBER_CHARACTERS;
  const count = elementCount(shape);
  if (isWrittenOut(shape)) return count > 1 ? count * SEPARATED_NUMBER_CHARACTERS : NUMBER_CHARACTERS + 2;
  const thumbnail = (Math.min(shape.at(-1) ?? 1, 8) * THUMBNAIL_CELL_PX) / VALUE_CHARACTER_PX;
  return thumbnail + shape.join(" × ").length + 3.5;
}

function valueHeight(shape: readonly number[] | null): number {
  if (shape === null || isWrittenOut(shape)) return VALUE_LINE_PX;
  const columns = shape.at(-1) ?? 1;
  const rows = columns === 0 ? 1 : elementCount(shape) / columns;
  return Math.max(VALUE_LINE_PX, Math.min(rows, THUMBNAIL_ROWS) * THUMBNAIL_CELL_PX + 6);
}
