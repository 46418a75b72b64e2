/**
 * What moves along edges: a pure function of progress. Gradients travel from the consumer of a forward value to its
 * producer, so a fraction of 0 is the node that returned the gradient and 1 the one that receives it. All tokens of a
 * phase start and land together: they are one moving group.
 */
import type { Box, Curve, Point, Size } from "../layout/geometry";
import { boxesOverlap, pointAt } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { isTensor, LAND, NOT_COMPUTED } from "../model/gradients";
import { elementCount } from "../model/matrix";
import { formatNumber } from "../model/numbers";
import { edgesById, nodesById } from "../model/selectors";
import type { Gradient, Graph, Node, Step, TensorValue } from "../protocol/trace.gen";
import { missingMark, missingSentence } from "../words/missing";
import { shapeText } from "../words/values";
import type { Still } from "./still";
import { boxOf } from "./still";

export interface TokenScene {
  readonly id: string;
  readonly kind: "gradient" | "value" | "hollow" | "seed";
  /** Tokens of one group move together. */
  readonly group: string;
  readonly label: string;
  readonly shape: string;
  /** Drawn as heat cells where there is more than one number. */
  readonly value: TensorValue | null;
  /** For assistive technology and as a tooltip. */
  readonly title: string;
  readonly at: Point;
  readonly size: Size;
  /** How far it stands above its edge, or below where negative: there was no room on the edge. */
  readonly lift: number;
  /** 0 to 1. */
  readonly opacity: number;
  readonly moving: boolean;
}

/** What a token carries and the way it goes in this phase. */
interface Travel {
  readonly id: string;
  readonly kind: TokenScene["kind"];
  readonly group: string;
  readonly gradient: Gradient;
  readonly curve: Curve;
  readonly from: number;
  readonly to: number;
  /** Of its distance from the edge while it rests, at the start and at the end. */
  readonly lift: readonly [number, number];
  readonly fade: readonly [number, number];
  /** The part of the phase in which it moves. */
  readonly during: readonly [number, number];
  /** Seen only while it moves. */
  readonly isPassing: boolean;
}

/** Where a token stands between phases. */
interface Rest {
  /** Of its curve. */
  readonly at: number;
  readonly lift: number;
}

const TOKEN_HEIGHT_PX = 24;
const CHARACTER_PX = 7.4;
const TOKEN_PADDING_PX = 16;
const CELL_PX = 8;
const MOST_CELLS = 6;
const TOKEN_PRECISION = 3;
const REST_CANDIDATES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];
/** Tried where no place on the edge itself is free. */
const LIFTS_PX = [0, 34, -34, 60, -60, 86, -86, 112, -112, 138, -138];
const STUB_PX = 60;
const SEED_REST = 0.62;
const HOLLOW_PX = 24;
/** Of contributions whose sum is on show. */
const STANDS_BACK = 0.55;
const SEED_GAP_PX = 6;
const WHOLE = [0, 1] as const;
/** Contributions line up in the first half of the phase and slide into their sum in the second. */
const LINING_UP = [0, 0.5] as const;
const SUMMING = [0.5, 1] as const;

/** Slow at both ends. */
export function ease(progress: number): number {
  const p = Math.min(Math.max(0, progress), 1);
  return p < 0.5 ? 4 * p * p * p : 1 - (2 - 2 * p) ** 3 / 2;
}

export function drawTokens(still: Still, layout: Layout, progress: number): readonly TokenScene[] {
  return travels(still, layout).flatMap((travel): TokenScene[] => {
    const [start, end] = travel.during;
    const share = (progress - start) / (end - start);
    if (travel.isPassing && (share <= 0 || share >= 1)) return [];
    const eased = ease(share);
    const between = ([from, to]: readonly [number, number]): number => from + (to - from) * eased;
    const on = pointAt(travel.curve, between([travel.from, travel.to]));
    if (on === null) return [];
    const lift = between(travel.lift);
    return [
      {
        id: travel.id,
        kind: travel.kind,
        group: travel.group,
        ...tokenText(travel.gradient),
        at: { x: on.x, y: on.y - lift },
        lift,
        size: tokenSize(travel.gradient),
        opacity: between(travel.fade),
        moving: travel.from !== travel.to && progress < 1,
      },
    ];
  });
}

export function tokenSize(gradient: Gradient): Size {
  if (!isTensor(gradient)) return { width: HOLLOW_PX, height: HOLLOW_PX };
  const { label, shape, value } = tokenText(gradient);
  const cells = value === null ? 0 : Math.min(elementCount(value.shape.slice(-1)), MOST_CELLS) * CELL_PX + 6;
  const text = (label === "" ? shape : label).length * CHARACTER_PX;
  return { width: Math.ceil(text + cells + TOKEN_PADDING_PX), height: TOKEN_HEIGHT_PX };
}

function tokenText(gradient: Gradient): Pick<TokenScene, "label" | "shape" | "value" | "title"> {
  if (!isTensor(gradient)) {
    return { label: missingMark(gradient), shape: "", value: null, title: missingSentence(gradient) };
  }
  const shape = gradient.shape.length === 0 ? "" : shapeText(gradient.shape);
  const only = gradient.data?.length === 1 ? gradient.data[0] : undefined;
  if (only !== undefined)
    return { label: formatNumber(only, TOKEN_PRECISION), shape, value: null, title: shape };
  const numbers =
    gradient.data
      ?.slice(0, 8)
      .map((cell) => formatNumber(cell))
      .join(", ") ?? "";
  return { label: "", shape, value: gradient, title: `${shape} ${numbers}` };
}

const plans = new WeakMap<Still, { layout: Layout; travels: readonly Travel[] }>();

function travels(still: Still, layout: Layout): readonly Travel[] {
  const known = plans.get(still);
  if (known !== undefined && known.layout === layout) return known.travels;
  const planned =
    still.position.direction === "forward" ? planForward(still, layout) : planBackward(still, layout);
  plans.set(still, { layout, travels: planned });
  return planned;
}

function planBackward(still: Still, layout: Layout): readonly Travel[] {
  const { position, step, graph, node } = still;
  if (graph === null) return [];
  if (step === null || node === null) return planSeeds(still, graph, layout);
  const plan = { graph, layout, node, step, phase: position.phase, settled: [...obstacles(layout)] };
  return position.phase < LAND - 1 ? planCollect(plan) : planSend(plan);
}

interface Plan {
  readonly graph: Graph;
  readonly layout: Layout;
  readonly node: Node;
  readonly step: Step;
  readonly phase: number;
  /** Where nothing more has room; grows with each token that has found its place. */
  readonly settled: Box[];
}

/** What stays in one place. */
function resting(
  id: string,
  kind: Travel["kind"],
  group: string,
  gradient: Gradient,
  curve: Curve,
  rest: Rest,
): Travel {
  const lift = [rest.lift, rest.lift] as const;
  return {
    id,
    kind,
    group,
    gradient,
    curve,
    from: rest.at,
    to: rest.at,
    lift,
    fade: [1, 1],
    during: WHOLE,
    isPassing: false,
  };
}

/** Contributions come in along their edges; several for one output slide into their sum. */
function planCollect({ graph, layout, node, step, phase, settled }: Plan): readonly Travel[] {
  const sums = sumsOf(step);
  const arrives = phase === 1;
  const contributions = step.contributions.flatMap((contribution, index) => {
    const size = tokenSize(contribution.value);
    const curve = gradientCurve(graph, layout, contribution.edge, node.id, size);
    if (curve === null) return [];
    const isSeed = contribution.edge === "seed";
    const rest = isSeed ? { at: SEED_REST, lift: 0 } : restOn(curve, size, settled);
    const id = `in-${contribution.edge}-${index}`;
    const still = resting(id, isSeed ? "seed" : "gradient", "collect", contribution.value, curve, rest);
    return [{ still, rest, isSummed: sums.has(contribution.output_nr), outputNr: contribution.output_nr }];
  });
  const plan = contributions.map(({ still, rest, isSummed }): Travel => {
    if (!arrives) return { ...still, fade: [1, isSummed ? STANDS_BACK : 1] };
    return { ...still, from: rest.at * 0.4, during: isSummed ? LINING_UP : WHOLE };
  });
  const own = boxOf(graph, layout, node.id);
  for (const [outputNr, gradient] of own === null ? [] : sums) {
    const curve = sumCurve(own as Box, outputNr, node.output_count);
    const rest = restOn(curve, tokenSize(gradient), settled);
    const place = placeOn(curve, rest);
    const sum = resting(`sum-${outputNr}`, "gradient", "collect", gradient, curve, rest);
    if (!arrives) {
      plan.push(sum);
      continue;
    }
    const parts = contributions.filter((each) => each.outputNr === outputNr);
    for (const { still, rest: from } of parts) {
      const way = straight(placeOn(still.curve, from), place);
      const part = resting(`${still.id}-into-sum`, still.kind, "collect", still.gradient, way, {
        at: 0,
        lift: 0,
      });
      plan.push({ ...part, to: 1, fade: [STANDS_BACK, STANDS_BACK], during: SUMMING, isPassing: true });
    }
    plan.push({ ...sum, fade: [0, 1], during: SUMMING });
  }
  return plan;
}

/** What was returned leaves along its edges and lands; what has nowhere to go stays beside the node. */
function planSend({ graph, layout, node, step, phase, settled }: Plan): readonly Travel[] {
  const own = boxOf(graph, layout, node.id);
  if (own === null) return [];
  const sending = phase === LAND - 1;
  const outgoing = node.inputs.map(({ argnum, edge, missing }) => ({
    id: `out-${argnum}`,
    share: (argnum + 1) / (node.inputs.length + 1),
    gradient: step.grad_inputs[argnum] ?? missing ?? { missing: "undefined" as const },
    curve: edge === undefined ? null : gradientCurve(graph, layout, edge, node.id, tokenSize(NOT_COMPUTED)),
  }));
  // A hollow token finds a place anywhere; what travels along an edge has only that edge.
  const inOrder = [...outgoing].sort((a, b) => Number(isTensor(b.gradient)) - Number(isTensor(a.gradient)));
  return inOrder.flatMap(({ id, gradient, curve, share }): Travel[] => {
    if (!isTensor(gradient)) {
      const stub = freeStub(own, share, settled);
      const still = resting(id, "hollow", "send", gradient, stub, restOn(stub, tokenSize(gradient), settled));
      return [sending ? { ...still, from: 0, fade: [0, 1] } : still];
    }
    if (curve === null) return [];
    const rest = restOn(curve, tokenSize(gradient), settled);
    const still = resting(id, "gradient", "send", gradient, curve, rest);
    if (sending) return [{ ...still, from: 0, lift: [0, rest.lift] }];
    return [{ ...still, to: 1, lift: [rest.lift, 0], fade: [1, 0] }];
  });
}

/** By output, what several contributions add up to. */
function sumsOf(step: Step): ReadonlyMap<number, Gradient> {
  const count = (outputNr: number): number =>
    step.contributions.filter((each) => each.output_nr === outputNr).length;
  return new Map([...step.grad_outputs.entries()].filter(([outputNr]) => count(outputNr) > 1));
}

/** Out of the right border and up: where contributions meet. */
function sumCurve(box: Box, outputNr: number, count: number): Curve {
  const x = box.x + box.width;
  const y = box.y + (box.height * (outputNr + 1)) / (count + 1);
  return [
    { x: x + STUB_PX, y: y + 2 * STUB_PX },
    { x: x + STUB_PX / 2, y: y + STUB_PX },
    { x: x + STUB_PX / 2, y: y - STUB_PX },
    { x: x + STUB_PX / 2, y: y - 2 * STUB_PX },
  ];
}

/** Before a pass: the external gradient stands at each output. */
function planSeeds(still: Still, graph: Graph, layout: Layout): readonly Travel[] {
  return (still.pass?.started.outputs ?? []).flatMap((output, index): Travel[] => {
    const curve = gradientCurve(graph, layout, "seed", output.node, tokenSize(output.seed));
    if (curve === null) return [];
    return [resting(`seed-${index}`, "seed", "seed", output.seed, curve, { at: SEED_REST, lift: 0 })];
  });
}

function planForward(still: Still, layout: Layout): readonly Travel[] {
  const { graph, node, position } = still;
  if (graph === null || node === null || position.phase !== 1) return [];
  const settled = [...obstacles(layout)];
  return node.inputs.flatMap((operand): Travel[] => {
    const curve = operand.edge === undefined ? undefined : layout.edges.get(operand.edge);
    if (curve === undefined || operand.value === null) return [];
    const rest = restOn(curve, tokenSize(operand.value), settled);
    const arrived = resting(`value-${operand.argnum}`, "value", "arrive", operand.value, curve, rest);
    return [{ ...arrived, from: 0, lift: [0, rest.lift] }];
  });
}

/** An edge in the direction of its gradient; the seed comes in from the right of the output, clear of its card. */
function gradientCurve(
  graph: Graph,
  layout: Layout,
  edge: string,
  receiver: string,
  token: Size,
): Curve | null {
  if (edge !== "seed") {
    const curve = edgesById(graph).has(edge) ? layout.edges.get(edge) : undefined;
    return curve === undefined ? null : reversed(curve);
  }
  const box = nodesById(graph).has(receiver) ? boxOf(graph, layout, receiver) : null;
  if (box === null) return null;
  const y = box.y + box.height / 2;
  const x = box.x + box.width;
  const length = Math.max(2 * STUB_PX, (token.width / 2 + SEED_GAP_PX) / (1 - SEED_REST));
  return [
    { x: x + length, y },
    { x: x + length / 2, y },
    { x: x + length / 2, y },
    { x, y },
  ];
}

/** A short way out to the left for a gradient that has nowhere to go. */
function stubCurve(box: Box, share: number): Curve {
  const y = box.y + box.height * share;
  return [
    { x: box.x, y },
    { x: box.x - STUB_PX, y },
    { x: box.x - STUB_PX, y },
    { x: box.x - 2 * STUB_PX, y },
  ];
}

/** The way out nearest to an operand's own place that leads a hollow token past everything else. */
function freeStub(box: Box, share: number, settled: readonly Box[]): Curve {
  const hollow: Size = { width: HOLLOW_PX, height: HOLLOW_PX };
  const shares = [0, 0.2, -0.2, 0.4, -0.4, 0.6, -0.6, 0.8, -0.8].map((by) => share + by);
  const free = shares
    .map((at) => stubCurve(box, at))
    .find((curve) =>
      REST_CANDIDATES.some((fraction) => {
        const place = boxAround(pointAt(curve, fraction), hollow);
        return !settled.some((other) => boxesOverlap(place, other));
      }),
    );
  return free ?? stubCurve(box, share);
}

const reversals = new WeakMap<Curve, Curve>();

function reversed(curve: Curve): Curve {
  const known = reversals.get(curve);
  if (known !== undefined) return known;
  const made = [...curve].reverse();
  reversals.set(curve, made);
  return made;
}

function obstacles(layout: Layout): readonly Box[] {
  return [...layout.nodes.values(), ...[...layout.groups.values()].filter((box) => !box.open)];
}

/** The first candidate place that covers no card and no other token, which it then occupies. */
function restOn(curve: Curve, size: Size, settled: Box[]): Rest {
  let best: Rest = { at: REST_CANDIDATES[0] ?? 0.5, lift: 0 };
  let fewest = Number.POSITIVE_INFINITY;
  for (const lift of LIFTS_PX) {
    for (const at of REST_CANDIDATES) {
      const box = boxAround(placeOn(curve, { at, lift }), size);
      const covered = settled.filter((other) => boxesOverlap(box, other)).length;
      if (covered >= fewest) continue;
      fewest = covered;
      best = { at, lift };
      if (covered === 0) break;
    }
    if (fewest === 0) break;
  }
  settled.push(boxAround(placeOn(curve, best), size));
  return best;
}

function placeOn(curve: Curve, { at, lift }: Rest): Point {
  const on = pointAt(curve, at);
  return { x: on?.x ?? 0, y: (on?.y ?? 0) - lift };
}

function straight(from: Point, to: Point): Curve {
  return [from, from, to, to];
}

function boxAround(point: Point | null, size: Size): Box {
  return { x: (point?.x ?? 0) - size.width / 2, y: (point?.y ?? 0) - size.height / 2, ...size };
}
