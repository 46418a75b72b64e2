/**
 * What stands still at a position: the state of every card, closed group and edge. It depends on the trace, the
 * position and on which groups are open, never on progress; so a long graph is worked through once per position.
 */

import type { Layout } from "../layout/place";
import { resultOf } from "../model/calls";
import { problemOfNode } from "../model/failed";
import type { GradientLedger } from "../model/gradients";
import { isTensor, ledgerAt, NOT_COMPUTED } from "../model/gradients";
import { edgesById, groupsById, groupsRound, nodesById, producerOf, usesOf } from "../model/graph";
import { once } from "../model/once";
import type { Position } from "../model/position";
import { forwardOrder, isReached, stepCount } from "../model/position";
import { executions, nodeAt, nodeTitle, passAt, stepAt } from "../model/selectors";
import type { PassState, TraceState } from "../model/trace";
import type { Edge, Gradient, Graph, Group, GroupKind, Node, Step, TensorValue } from "../protocol/trace.gen";
import { label } from "../words/say";
import { repeatsOf, turnIn, withRepeats } from "./repeats";

/** `waiting`: nothing received; `pending`: some contributions are in; `active`: at work; `done`: executed. */
export type Progress = "waiting" | "pending" | "active" | "done";

export interface CardScene {
  readonly node: Node;
  readonly role: "leaf" | "op";
  readonly title: string;
  /** Where there is little room: `bias` in the frame of `model.2`. */
  readonly brief: string;
  /** The variable that holds the forward value, where the program named it. */
  readonly variable: string | null;
  /** Null where the forward walk has not computed it, or it was not observed. */
  readonly value: TensorValue | null;
  /** v once the engine has it; until then what arrived last. */
  readonly gradient: Gradient;
  /** Of several gradients that the node waits for, how many are there; null where it waits for no more than one. */
  readonly waiting: { readonly arrived: number; readonly expected: number } | null;
  /** `.grad`, only for leaves. */
  readonly leafGrad: Gradient | null;
  readonly progress: Progress;
  /** Takes part in this step; all others are dimmed. */
  readonly involved: boolean;
  readonly saving: boolean;
  /** It raised. */
  readonly failed: boolean;
  /** For assistive technology: `MulBackward0, step 3 of 7`. */
  readonly name: string;
  /** Beside the title. */
  readonly aside?: string;
}

/** The active node, in short. */
export interface Inside {
  readonly title: string;
  readonly value: Gradient;
  /** In which of the group's repeats it is, from 1; null where nothing is repeated. */
  readonly turn: number | null;
}

export interface GroupScene {
  readonly id: string;
  readonly label: string;
  readonly kind: GroupKind;
  readonly nodeCount: number;
  /** How often its block stands in it, one after another; null where it is a group of the program itself. */
  readonly repeats: number | null;
  readonly open: boolean;
  /** The active node is in it. */
  readonly active: boolean;
  /** What stands for the active node where this hides it. */
  readonly inside: Inside | null;
  readonly involved: boolean;
  /** A call that is one operation is drawn as the card of one while it is closed. */
  readonly card: CardScene | null;
}

/** `idle`: no gradient; `carrying`: in this step; `carried`: in an earlier one; `forward`: a value in this step. */
export type EdgeProgress = "idle" | "carrying" | "carried" | "forward";

export interface EdgeScene {
  readonly progress: EdgeProgress;
  readonly involved: boolean;
}

export interface Still {
  readonly position: Position;
  readonly pass: PassState | null;
  readonly graph: Graph | null;
  readonly node: Node | null;
  readonly step: Step | null;
  /** The nodes that take part in this step; null = nothing is dimmed. */
  readonly taking: ReadonlySet<string> | null;
  /** Of a large graph only what is in view is worth drawing: cards and edges are made one by one. */
  readonly cardOf: (node: Node) => CardScene;
  readonly edgeOf: (edge: Edge) => EdgeScene;
}

export function drawStill(trace: TraceState, position: Position): Still {
  const pass = passAt(trace, position);
  const graph = pass === null ? null : withRepeats(pass.started.graph);
  const node = nodeAt(trace, position);
  const step = stepAt(trace, position);
  const shared = { position, pass, graph, node, step };
  if (pass === null || graph === null) return { ...shared, taking: null, cardOf: noNodes, edgeOf: noNodes };
  const ledger = ledgerAt(trace, pass, position);
  const taking = involvedNodes(position, graph, node, step);
  const computed = computedNodes(trace, position);
  const total = stepCount(trace, "backward");
  const executed = executions(trace, pass);
  const cardOf = (each: Node): CardScene => {
    const isLeaf = each.kind === "accumulate_grad";
    const title = nodeTitle(each);
    const arrivals = ledger.arrivalsAt(each.id);
    const walked = ledger.stepOf(each.id);
    const seeds = pass.started.outputs.filter((output) => output.node === each.id).length;
    const expected = usesOf(graph, each.id).length + seeds;
    const isWaiting = walked === null && expected > 1 && arrivals.length > 0;
    const execution = executed.get(each.id);
    const outputNr = shownOutput(execution?.step);
    const output = each.outputs[outputNr];
    const failed = problemOfNode(trace.problems, pass.index, each.id) !== null;
    return {
      node: each,
      role: isLeaf ? "leaf" : "op",
      title,
      brief: within(groupsById(graph).get(each.group ?? ""), title),
      variable: isLeaf ? null : (output?.name ?? null),
      gradient: walked?.grad_outputs[outputNr] ?? arrivals.at(-1)?.value ?? NOT_COMPUTED,
      waiting: isWaiting ? { arrived: arrivals.length, expected } : null,
      leafGrad:
        isLeaf && position.direction === "backward" ? (ledger.gradOf(each.leaf ?? "") ?? NOT_COMPUTED) : null,
      value: computed === null || computed.has(each.id) ? (output?.value ?? null) : null,
      progress: progressOf(each, node, ledger, position, computed),
      involved: taking === null || taking.has(each.id),
      failed,
      saving: position.phase === "save" && each.id === node?.id,
      name: failed
        ? label("player-node-raised", { node: each.name })
        : execution === undefined
          ? label(pass.finished === null ? "player-node-no-step" : "player-node-not-executed", {
              node: each.name,
            })
          : label("player-node-step", {
              node: each.name,
              step: String(execution.number),
              total: String(total),
            }),
    };
  };
  return { ...shared, taking, cardOf, edgeOf: (edge) => drawEdge(edge, position, node, step, ledger) };
}

/** Of several outputs the first at which a gradient arrives. */
function shownOutput(step: Step | undefined): number {
  return Math.max(0, step?.grad_outputs.findIndex(isTensor) ?? 0);
}

function noNodes(): never {
  throw new Error("there is no graph to draw from");
}

/** A parameter without the name of the module whose frame it stands in. */
function within(group: Group | undefined, title: string): string {
  const prefix = `${group?.label.split(":")[0]}.`;
  return title.startsWith(prefix) ? title.slice(prefix.length) : title;
}

function progressOf(
  node: Node,
  active: Node | null,
  ledger: GradientLedger,
  position: Position,
  computed: ReadonlySet<string> | null,
): Progress {
  if (node.id === active?.id) return "active";
  if (position.direction === "forward") return computed?.has(node.id) ? "done" : "waiting";
  if (ledger.stepOf(node.id) !== null) return "done";
  return ledger.arrivalsAt(node.id).length > 0 ? "pending" : "waiting";
}

function drawEdge(
  edge: Edge,
  position: Position,
  active: Node | null,
  step: Step | null,
  ledger: GradientLedger,
): EdgeScene {
  const sends = edge.to.node === active?.id;
  const receives = edge.from.node === active?.id;
  if (position.direction === "forward") {
    return { progress: sends ? "forward" : "idle", involved: active === null || sends };
  }
  const returned = ledger.stepOf(edge.to.node)?.grad_inputs[edge.to.argnum];
  const hasGradient = isTensor(returned);
  if (sends && step !== null) {
    const left = isReached(position, "send");
    return { progress: left && hasGradient ? "carrying" : "idle", involved: true };
  }
  if (!hasGradient) return { progress: "idle", involved: active === null };
  const arriving = receives && !isReached(position, "send");
  return { progress: arriving ? "carrying" : "carried", involved: active === null || receives };
}

/** The node at work and its neighbours in the direction of the phase; null = nothing is dimmed. */
function involvedNodes(
  position: Position,
  graph: Graph,
  active: Node | null,
  step: Step | null,
): ReadonlySet<string> | null {
  if (active === null) return null;
  const involved = new Set([active.id]);
  if (position.phase === "collect") {
    for (const contribution of step?.contributions ?? []) {
      const edge = edgesById(graph).get(contribution.edge);
      if (edge !== undefined) involved.add(edge.to.node);
    }
    return involved;
  }
  for (const operand of active.inputs) {
    const from = producerOf(graph, operand);
    if (from !== undefined) involved.add(from.node);
  }
  return involved;
}

/** In the forward walk: the nodes whose value exists. Null in the backward walk, where every value does. */
function computedNodes(trace: TraceState, position: Position): ReadonlySet<string> | null {
  if (position.direction === "backward") return null;
  const order = forwardOrder(trace);
  const done = isReached(position, "compute") ? position.step : position.step - 1;
  const computed = new Set(order.slice(0, Math.max(0, done)).map((node) => node.id));
  for (const pass of trace.passes) {
    for (const node of pass.started.graph.nodes) if (node.kind === "accumulate_grad") computed.add(node.id);
  }
  return computed;
}

/**
 * The boxes of open and closed groups, with whether the step happens inside.
 * @param ids those that are wanted
 */
export function drawGroups(
  still: Still,
  layout: Layout,
  ids: Iterable<string> = layout.groups.keys(),
): readonly GroupScene[] {
  const { graph } = still;
  if (graph === null) return [];
  const groups = groupsById(graph);
  const activeIn = new Set(still.node === null ? [] : groupsRound(graph, still.node.id));
  const involvedIn = new Set<string>();
  for (const node of still.taking ?? []) for (const id of groupsRound(graph, node)) involvedIn.add(id);
  const scenes: GroupScene[] = [];
  for (const id of ids) {
    const group = groups.get(id);
    const box = layout.groups.get(id);
    if (group === undefined || box === undefined) continue;
    scenes.push({
      id,
      label: group.label,
      kind: group.kind,
      nodeCount: nodeCounts(graph).get(id) ?? 0,
      repeats: repeatsOf(group),
      open: box.open,
      active: activeIn.has(id),
      inside: box.open || !activeIn.has(id) ? null : insideOf(still, graph, group),
      involved: still.taking === null || involvedIn.has(id),
      card: box.open ? null : cardOfCall(still, graph, group, activeIn.has(id)),
    });
  }
  return scenes;
}

function cardOfCall(still: Still, graph: Graph, group: Group, isActive: boolean): CardScene | null {
  const output = nodesById(graph).get(resultOf(group, graph) ?? "");
  if (output === undefined) return null;
  const card = still.cardOf(output);
  return {
    ...card,
    title: group.label,
    brief: group.label,
    aside: label("player-nodes", { count: nodeCounts(graph).get(group.id) ?? 0 }),
    progress: isActive ? "active" : card.progress,
    involved: card.involved || isActive,
    saving: isActive && still.position.phase === "save",
  };
}

function insideOf(still: Still, graph: Graph, group: Group): Inside | null {
  const { node, position } = still;
  if (node === null) return null;
  const card = still.cardOf(node);
  const turn = [node.id, ...groupsRound(graph, node.id)]
    .map((id) => turnIn(group, id))
    .find((each) => each !== null);
  const isForward = position.direction === "forward";
  return {
    title: card.title,
    value: isForward && card.value !== null ? card.value : card.gradient,
    turn: turn ?? null,
  };
}

/** The box that stands for a node on the stage: its card, or the closed group that hides it. */
export function boxOf(graph: Graph, layout: Layout, nodeId: string) {
  const own = layout.nodes.get(nodeId);
  if (own !== undefined) return own;
  for (const id of groupsRound(graph, nodeId)) {
    const box = layout.groups.get(id);
    if (box !== undefined && !box.open) return box;
  }
  return null;
}

/** By group, the nodes in it at any depth. */
const nodeCounts = once((graph: Graph): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const node of graph.nodes) {
    for (const id of groupsRound(graph, node.id)) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
});
