/**
 * What moves along edges: a pure function of progress. All tokens of a stop start and land
 * together: they are one moving group. What a motion makes, as a sum, is there when the motion is over.
 */
import type { Box, Curve, Point, Size } from "../layout/geometry";
import { lengthOf, pointAt } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { isWrittenOut } from "../layout/sizes";
import { isTensor, NOT_COMPUTED } from "../model/gradients";
import { elementCount } from "../model/matrix";
import { formatNumber } from "../model/numbers";
import type { Phase } from "../model/phases";
import { isReached } from "../model/position";
import { backwardStops } from "../model/stops";
import type { Gradient, Graph, Node, Step, TensorValue } from "../protocol/trace.gen";
import { missingMark, missingSentence } from "../words/missing";
import { shapeText } from "../words/values";
import { SEED_ROOM_PX } from "./camera";
import type { Still } from "./still";
import { boxOf } from "./still";
import type { Rest } from "./ways";
import {
  AT_RECEIVER,
  freeStub,
  gradientCurve,
  HOLLOW_PX,
  placeOn,
  type Room,
  restOn,
  roomIn,
  SEED_REST,
  straight,
  sumCurve,
} from "./ways";

export interface TokenScene {
  readonly id: string;
  readonly kind: "gradient" | "value" | "hollow" | "seed";
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
  readonly gradient: Gradient;
  readonly curve: Curve;
  readonly from: number;
  readonly to: number;
  /** Of its distance from the edge while it rests, at the start and at the end. */
  readonly lift: readonly [number, number];
  readonly fade: readonly [number, number];
  /** `before` the motion is over, as what goes into a sum; `after` it, as the sum. */
  readonly seen: "always" | "before" | "after";
}

const TOKEN_HEIGHT_PX = 24;
const CHARACTER_PX = 7.4;
const TOKEN_PADDING_PX = 16;
const CELL_PX = 8;
const MOST_CELLS = 6;
const TOKEN_PRECISION = 3;
/** Of the numbers of a vector, in characters of a token that is not enlarged; a longer one is a few cells and its shape. */
const LONGEST_LABEL = 12;
/** Drawn larger, such a vector is its shape alone, as on a card in brief. */
const LARGEST_PICTURED = 1.2;
/** Of its way, at most so far outside; and how much of the camera's margin a seed takes beside its room. */
const SEED_WAITS = 0.25;
const SEED_MARGIN_PX = 7;

/** Slow at both ends. */
export function ease(progress: number): number {
  const p = Math.min(Math.max(0, progress), 1);
  return p < 0.5 ? 4 * p * p * p : 1 - (2 - 2 * p) ** 3 / 2;
}

/**
 * @param scale how much larger a token is drawn than it is, so that it can be read from farther away
 * @param ground what is in view of the graph, in its own coordinates
 */
export function drawTokens(
  still: Still,
  layout: Layout,
  progress: number,
  scale = 1,
  ground: Box | null = null,
): readonly TokenScene[] {
  return travels(still, layout, scale, ground).flatMap((travel): TokenScene[] => {
    if (travel.seen !== "always" && (travel.seen === "after") !== progress >= 1) return [];
    const eased = ease(progress);
    const between = ([from, to]: readonly [number, number]): number => from + (to - from) * eased;
    const on = pointAt(travel.curve, between([travel.from, travel.to]));
    if (on === null) return [];
    const size = tokenSize(travel.gradient, scale);
    const at = keptIn({ x: on.x, y: on.y - between(travel.lift) }, on, size, scale, ground);
    return [
      {
        id: travel.id,
        kind: travel.kind,
        ...tokenText(travel.gradient, scale),
        at,
        lift: on.y - at.y,
        size,
        opacity: between(travel.fade),
        moving: travel.from !== travel.to && progress < 1,
      },
    ];
  });
}

/** In view where its edge is, or where it would be cut at the border: what is farther away stays out of sight. */
function keptIn(at: Point, on: Point, size: Size, scale: number, ground: Box | null): Point {
  if (ground === null) return at;
  const [width, height] = [size.width * scale, size.height * scale];
  const isNear = (point: Point, across: number, down: number): boolean =>
    Math.abs(point.x - ground.x - ground.width / 2) <= ground.width / 2 + across &&
    Math.abs(point.y - ground.y - ground.height / 2) <= ground.height / 2 + down;
  if (!isNear(on, 0, 0) && !isNear(at, width, height)) return at;
  const right = ground.x + ground.width - width / 2;
  const bottom = ground.y + ground.height - height / 2;
  return {
    x: Math.max(ground.x + width / 2, Math.min(at.x, right)),
    y: Math.max(ground.y + height / 2, Math.min(at.y, bottom)),
  };
}

function tokenSize(gradient: Gradient, scale: number): Size {
  if (!isTensor(gradient)) return { width: HOLLOW_PX, height: HOLLOW_PX };
  const { label, shape, value } = tokenText(gradient, scale);
  const cells = value === null ? 0 : Math.min(elementCount(value.shape.slice(-1)), MOST_CELLS) * CELL_PX + 6;
  const text = (label === "" ? shape : label).length * CHARACTER_PX;
  return { width: Math.ceil(text + cells + TOKEN_PADDING_PX), height: TOKEN_HEIGHT_PX };
}

function tokenText(
  gradient: Gradient,
  scale: number,
): Pick<TokenScene, "label" | "shape" | "value" | "title"> {
  if (!isTensor(gradient)) {
    return { label: missingMark(gradient), shape: "", value: null, title: missingSentence(gradient) };
  }
  const shape = gradient.shape.length === 0 ? "" : shapeText(gradient.shape);
  const only = gradient.data?.length === 1 ? gradient.data[0] : undefined;
  if (only !== undefined)
    return { label: formatNumber(only, TOKEN_PRECISION), shape, value: null, title: shape };
  const written = (precision?: number): string =>
    gradient.data
      ?.slice(0, 8)
      .map((cell) => formatNumber(cell, precision))
      .join(", ") ?? "";
  const label = `[${written(TOKEN_PRECISION)}]`;
  if (gradient.data !== undefined && isWrittenOut(gradient.shape) && label.length * scale <= LONGEST_LABEL)
    return { label, shape, value: null, title: shape };
  if (scale > LARGEST_PICTURED)
    return { label: "", shape: shape.replaceAll(" ", ""), value: null, title: `${shape} ${written()}` };
  return { label: "", shape, value: gradient, title: `${shape} ${written()}` };
}

const plans = new WeakMap<
  Still,
  { layout: Layout; scale: number; ground: Box | null; travels: readonly Travel[] }
>();

function travels(still: Still, layout: Layout, scale: number, ground: Box | null): readonly Travel[] {
  const known = plans.get(still);
  if (known !== undefined && known.layout === layout && known.scale === scale && known.ground === ground)
    return known.travels;
  const plan = still.position.direction === "forward" ? planForward : planBackward;
  const planned = plan(still, layout, scale, ground);
  plans.set(still, { layout, scale, ground, travels: planned });
  return planned;
}

function planBackward(still: Still, layout: Layout, scale: number, ground: Box | null): readonly Travel[] {
  const { position, step, graph, node } = still;
  if (graph === null) return [];
  if (step === null || node === null) return planSeeds(still, graph, layout, scale);
  const plan = {
    graph,
    layout,
    node,
    step,
    phase: position.phase,
    room: roomIn(layout, scale, ground),
  };
  if (step.accumulate !== null && position.phase === "land") return planAccumulate(plan);
  return isReached(position, "send") ? planSend(plan) : planCollect(plan);
}

interface Plan {
  readonly graph: Graph;
  readonly layout: Layout;
  readonly node: Node;
  readonly step: Step;
  readonly phase: Phase;
  readonly room: Room;
}

/** What stays in one place. */
function resting(id: string, kind: Travel["kind"], gradient: Gradient, curve: Curve, rest: Rest): Travel {
  const lift = [rest.lift, rest.lift] as const;
  return {
    id,
    kind,
    gradient,
    curve,
    from: rest.at,
    to: rest.at,
    lift,
    fade: [1, 1],
    seen: "always",
  };
}

/** Where what arrived stands, by output: at its edges, one by one, and their sum where there are several. */
interface Arrived {
  readonly contributions: readonly {
    readonly still: Travel;
    readonly outputNr: number;
    readonly isSummed: boolean;
  }[];
  readonly sums: readonly { readonly still: Travel; readonly place: Point; readonly outputNr: number }[];
}

function standArrived({ graph, layout, node, step, room }: Plan): Arrived {
  const sums = sumsOf(step);
  const contributions = step.contributions.flatMap((contribution, index) => {
    const size = tokenSize(contribution.value, room.scale);
    const curve = gradientCurve(graph, layout, contribution.edge, node.id, size, room.scale);
    if (curve === null) return [];
    const isSeed = contribution.edge === "seed";
    const rest = isSeed ? { at: SEED_REST, lift: 0 } : restOn(curve, size, room, AT_RECEIVER);
    const id = `in-${contribution.edge}-${index}`;
    const still = resting(id, isSeed ? "seed" : "gradient", contribution.value, curve, rest);
    return [{ still, outputNr: contribution.output_nr, isSummed: sums.has(contribution.output_nr) }];
  });
  const own = boxOf(graph, layout, node.id);
  const standing = [...(own === null ? [] : sums)].map(([outputNr, gradient]) => {
    const curve = sumCurve(own as Box, outputNr, node.output_count);
    const rest = restOn(curve, tokenSize(gradient, room.scale), room);
    const still = resting(`sum-${outputNr}`, "gradient", gradient, curve, rest);
    return { still, place: placeOn(curve, rest), outputNr };
  });
  return { contributions, sums: standing };
}

/** A seed comes in from outside; several for one output go from where they landed to where they meet. */
function planCollect(plan: Plan): readonly Travel[] {
  const { contributions, sums } = standArrived(plan);
  const isCollecting = plan.phase === "collect";
  const parts = contributions.flatMap(({ still, outputNr, isSummed }): Travel[] => {
    const sum = sums.find((each) => each.outputNr === outputNr);
    if (!isSummed || sum === undefined)
      return [
        isCollecting && still.kind === "seed" ? { ...still, from: seedWaits(still, plan.room.scale) } : still,
      ];
    if (!isCollecting) return [];
    const way = straight(placeOn(still.curve, restOf(still)), sum.place);
    return [{ ...still, curve: way, from: 0, to: 1, lift: [0, 0], seen: "before" }];
  });
  return [
    ...parts,
    ...sums.map(({ still }): Travel => ({ ...still, seen: isCollecting ? "after" : "always" })),
  ];
}

/** At a leaf what arrived goes over into `.grad`. */
function planAccumulate(plan: Plan): readonly Travel[] {
  const { contributions, sums } = standArrived(plan);
  const own = boxOf(plan.graph, plan.layout, plan.node.id);
  if (own === null) return [];
  const border = { x: own.x + own.width, y: own.y + own.height / 2 };
  const held = [...contributions.filter(({ isSummed }) => !isSummed), ...sums].map(({ still }) => still);
  return held.map((still): Travel => {
    const way = straight(placeOn(still.curve, restOf(still)), border);
    return { ...still, curve: way, from: 0, to: 1, lift: [0, 0], fade: [1, 0] };
  });
}

function restOf({ to, lift }: Travel): Rest {
  return { at: to, lift: lift[1] };
}

/** What was returned leaves along its edges and lands; what has nowhere to go stays beside the node. */
function planSend({ graph, layout, node, step, phase, room }: Plan): readonly Travel[] {
  const own = boxOf(graph, layout, node.id);
  if (own === null) return [];
  const [sending, landing] = [phase === "send", phase === "land"];
  // Where the way is no stop of its own, what is returned goes it as it lands.
  const isOneWay = landing && !backwardStops(step, node).includes("send");
  const outgoing = node.inputs.map(({ argnum, edge, missing }) => ({
    id: `out-${argnum}`,
    share: (argnum + 1) / (node.inputs.length + 1),
    gradient: step.grad_inputs[argnum] ?? missing ?? { missing: "undefined" as const },
    curve:
      edge === undefined
        ? null
        : gradientCurve(graph, layout, edge, node.id, tokenSize(NOT_COMPUTED, room.scale), room.scale),
  }));
  // A hollow token finds a place anywhere; what travels along an edge has only that edge.
  const inOrder = [...outgoing].sort((a, b) => Number(isTensor(b.gradient)) - Number(isTensor(a.gradient)));
  return inOrder.flatMap(({ id, gradient, curve, share }): Travel[] => {
    if (!isTensor(gradient)) {
      const stub = freeStub(own, share, room);
      const rest = restOn(stub, tokenSize(gradient, room.scale), room);
      const still = resting(id, "hollow", gradient, stub, rest);
      return [sending || isOneWay ? { ...still, from: 0, fade: [0, 1] } : still];
    }
    if (curve === null) return [];
    const rest = restOn(curve, tokenSize(gradient, room.scale), room);
    const still = resting(id, "gradient", gradient, curve, rest);
    if (sending) return [{ ...still, from: 0, lift: [0, rest.lift] }];
    const start = isOneWay ? { from: 0, lift: [0, 0] as const } : { lift: [rest.lift, 0] as const };
    return [{ ...still, ...start, to: 1, fade: [1, 0] }];
  });
}

/** By output, what several contributions add up to. */
function sumsOf(step: Step): ReadonlyMap<number, Gradient> {
  const count = (outputNr: number): number =>
    step.contributions.filter((each) => each.output_nr === outputNr).length;
  return new Map([...step.grad_outputs.entries()].filter(([outputNr]) => count(outputNr) > 1));
}

/** Before a pass: the external gradient waits outside each output, in the room that the camera keeps for it. */
function planSeeds(still: Still, graph: Graph, layout: Layout, scale: number): readonly Travel[] {
  return (still.pass?.started.outputs ?? []).flatMap((output, index): Travel[] => {
    const curve = gradientCurve(graph, layout, "seed", output.node, tokenSize(output.seed, scale), scale);
    if (curve === null) return [];
    const there = resting(`seed-${index}`, "seed", output.seed, curve, { at: SEED_REST, lift: 0 });
    const at = seedWaits(there, scale);
    return [{ ...there, from: at, to: at }];
  });
}

/** Where a seed waits until the pass begins: as far outside as it is whole, at the latest where it rests. */
function seedWaits({ curve, gradient }: Travel, scale: number): number {
  const centre = SEED_ROOM_PX + (SEED_MARGIN_PX - tokenSize(gradient, scale).width / 2) * scale;
  return Math.min(SEED_REST, Math.max(SEED_WAITS, 1 - centre / lengthOf(curve)));
}

function planForward(still: Still, layout: Layout, scale: number, ground: Box | null): readonly Travel[] {
  const { graph, node, position } = still;
  if (graph === null || node === null || position.phase !== "arrive") return [];
  const room = roomIn(layout, scale, ground);
  return node.inputs.flatMap((operand): Travel[] => {
    const curve = operand.edge === undefined ? undefined : layout.edges.get(operand.edge);
    if (curve === undefined || operand.value === null) return [];
    const rest = restOn(curve, tokenSize(operand.value, scale), room);
    const arrived = resting(`value-${operand.argnum}`, "value", operand.value, curve, rest);
    return [{ ...arrived, from: 0, lift: [0, rest.lift] }];
  });
}
