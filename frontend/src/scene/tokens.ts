/**
 * What moves along edges: a pure function of progress. Gradients travel from the consumer of a forward value to its
 * producer, so a fraction of 0 is the node that returned the gradient and 1 the one that receives it. All tokens of a
 * phase start and land together: they are one moving group.
 */
import type { Box, Curve, Point, Size } from "../layout/geometry";
import { boxesOverlap, pointAt } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { isTensor, LAND, NOT_COMPUTED } from "../model/gradients";
import { elementCount, shapeText } from "../model/matrix";
import { missingMark, missingSentence } from "../model/missing";
import { formatNumber } from "../model/numbers";
import { edgesById, nodesById } from "../model/selectors";
import type { Gradient, Graph, Step, TensorValue } from "../protocol/trace.gen";
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
  /** Where on the curve it rests between phases, chosen so that it covers nothing. */
  readonly rest: number;
  readonly from: number;
  readonly to: number;
  readonly fade: readonly [number, number];
}

const TOKEN_HEIGHT_PX = 24;
const CHARACTER_PX = 7.4;
const TOKEN_PADDING_PX = 16;
const CELL_PX = 8;
const MOST_CELLS = 6;
const TOKEN_PRECISION = 3;
const REST_CANDIDATES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];
const STUB_PX = 60;
const SEED_REST = 0.62;
const HOLLOW_PX = 24;
/** Of contributions whose sum is on show. */
const STANDS_BACK = 0.55;
const SEED_GAP_PX = 6;

/** Slow at both ends. */
export function ease(progress: number): number {
  const p = Math.min(Math.max(0, progress), 1);
  return p < 0.5 ? 4 * p * p * p : 1 - (2 - 2 * p) ** 3 / 2;
}

export function drawTokens(still: Still, layout: Layout, progress: number): readonly TokenScene[] {
  const eased = ease(progress);
  return travels(still, layout).flatMap((travel): TokenScene[] => {
    const at = pointAt(travel.curve, travel.from + (travel.to - travel.from) * eased);
    if (at === null) return [];
    const opacity = travel.fade[0] + (travel.fade[1] - travel.fade[0]) * eased;
    const text = tokenText(travel.gradient);
    return [
      {
        id: travel.id,
        kind: travel.kind,
        group: travel.group,
        ...text,
        at,
        size: tokenSize(travel.gradient),
        opacity,
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
  const settled: Box[] = [...obstacles(layout)];
  const incoming = step.contributions.map((contribution, index) => {
    const curve = gradientCurve(graph, layout, contribution.edge, node.id, tokenSize(contribution.value));
    return {
      key: `in-${contribution.edge}-${index}`,
      gradient: contribution.value,
      curve,
      seed: contribution.edge === "seed",
    };
  });
  const outgoing = node.inputs.map((operand) => ({
    key: `out-${operand.argnum}`,
    gradient: step.grad_inputs[operand.argnum] ?? operand.missing ?? { missing: "undefined" as const },
    curve:
      operand.edge === undefined
        ? null
        : gradientCurve(graph, layout, operand.edge, node.id, tokenSize(NOT_COMPUTED)),
    argnum: operand.argnum,
  }));
  const plan: Travel[] = [];
  if (position.phase < LAND - 1) {
    const sums = sumsOf(step);
    for (const { key, gradient, curve, seed } of incoming) {
      if (curve === null) continue;
      const rest = seed ? SEED_REST : restOn(curve, tokenSize(gradient), settled);
      const arrives = position.phase === 1;
      const kind = seed ? "seed" : "gradient";
      plan.push({
        id: key,
        kind,
        group: "collect",
        gradient,
        curve,
        rest,
        from: arrives ? rest * 0.4 : rest,
        to: rest,
        fade: [1, sums.length > 0 && !arrives ? STANDS_BACK : 1],
      });
    }
    const own = boxOf(graph, layout, node.id);
    for (const [outputNr, gradient] of own === null ? [] : sums) {
      const curve = sumCurve(own as Box, outputNr, node.output_count);
      const rest = restOn(curve, tokenSize(gradient), settled);
      plan.push({
        id: `sum-${outputNr}`,
        kind: "gradient",
        group: "collect",
        gradient,
        curve,
        rest,
        from: position.phase === 1 ? 0 : rest,
        to: rest,
        fade: [position.phase === 1 ? 0 : 1, 1],
      });
    }
    return plan;
  }
  const sending = position.phase === LAND - 1;
  // A hollow token finds a place anywhere; what travels along an edge has only that edge.
  const inOrder = [...outgoing].sort((a, b) => Number(isTensor(b.gradient)) - Number(isTensor(a.gradient)));
  for (const { key, gradient, curve, argnum } of inOrder) {
    const own = boxOf(graph, layout, node.id);
    if (isTensor(gradient) && curve !== null) {
      const rest = restOn(curve, tokenSize(gradient), settled);
      plan.push({
        id: key,
        kind: "gradient",
        group: "send",
        gradient,
        curve,
        rest,
        from: sending ? 0 : rest,
        to: sending ? rest : 1,
        fade: sending ? [1, 1] : [1, 0],
      });
    } else if (!isTensor(gradient) && own !== null) {
      const stub = freeStub(own, (argnum + 1) / (node.inputs.length + 1), settled);
      const rest = restOn(stub, tokenSize(gradient), settled);
      plan.push({
        id: key,
        kind: "hollow",
        group: "send",
        gradient,
        curve: stub,
        rest,
        from: sending ? 0 : rest,
        to: rest,
        fade: [sending ? 0 : 1, 1],
      });
    }
  }
  return plan;
}

/** By output, what several contributions add up to. */
function sumsOf(step: Step): readonly (readonly [number, Gradient])[] {
  return step.grad_outputs.flatMap((sum, outputNr) =>
    step.contributions.filter((each) => each.output_nr === outputNr).length > 1
      ? [[outputNr, sum] as const]
      : [],
  );
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
    return [
      {
        id: `seed-${index}`,
        kind: "seed",
        group: "seed",
        gradient: output.seed,
        curve,
        rest: SEED_REST,
        from: SEED_REST,
        to: SEED_REST,
        fade: [1, 1],
      },
    ];
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
    return [
      {
        id: `value-${operand.argnum}`,
        kind: "value",
        group: "arrive",
        gradient: operand.value,
        curve,
        rest,
        from: 0,
        to: rest,
        fade: [1, 1],
      },
    ];
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
function restOn(curve: Curve, size: Size, settled: Box[]): number {
  let best = REST_CANDIDATES[0] ?? 0.5;
  let fewest = Number.POSITIVE_INFINITY;
  for (const fraction of REST_CANDIDATES) {
    const box = boxAround(pointAt(curve, fraction), size);
    const covered = settled.filter((other) => boxesOverlap(box, other)).length;
    if (covered < fewest) {
      fewest = covered;
      best = fraction;
    }
    if (covered === 0) break;
  }
  settled.push(boxAround(pointAt(curve, best), size));
  return best;
}

function boxAround(point: Point | null, size: Size): Box {
  return { x: (point?.x ?? 0) - size.width / 2, y: (point?.y ?? 0) - size.height / 2, ...size };
}
