/** The graph as shapes, in its own coordinates: frames, edges, cards and what moves along the edges. */
import type { Box, Curve, Point } from "../layout/geometry";
import { pathOf } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { isTensor } from "../model/gradients";
import { edgesById, nodesById } from "../model/graph";
import type { Direction } from "../model/phases";
import type { Gradient } from "../protocol/trace.gen";
import { label } from "../words/say";
import type { Detail } from "./camera";
import { drawFar } from "./far";
import { cut, widthOf, wrapped } from "./letters";
import { oneLine } from "./oneline";
import { type Ink, type Letters, moved, type Shape, type Stroke, text } from "./shapes";
import { type CardScene, drawGroups, type EdgeScene, type GroupScene, type Still } from "./still";
import { thumbnailOf } from "./thumbnail";
import { drawTokens, type TokenScene } from "./tokens";

export interface MapView {
  readonly still: Still;
  readonly layout: Layout;
  readonly progress: number;
  readonly precision: number;
  readonly detail: Detail;
  /** Of text on cards that keeps its size on screen. */
  readonly letters: number;
  readonly tokenScale: number;
  /** From the node at work to the dock, in screen order. */
  readonly tie: readonly Box[];
}

const STROKE = 1.75;
const STRONG = 2.75;
const TITLE: Letters = { size: 15, face: "sans", bold: true };
const ASIDE: Letters = { size: 12.5, face: "sans" };
const VALUE: Letters = { size: 13, face: "mono" };
const PADDING = 12.5;
/** The upper edge of a card's first line of values, and how far letters stand below the middle of their line. */
const LINES_TOP = 33;
const TITLE_BASE = 26;
const DROP = 0.36;
const GAP = 7;

export function drawMap(view: MapView): readonly Shape[] {
  const { still, layout, detail } = view;
  const { graph } = still;
  if (graph === null) return [];
  const groups = drawGroups(still, layout).flatMap((group) => {
    const box = layout.groups.get(group.id);
    return box === undefined ? [] : [{ group, box }];
  });
  const nodes = nodesById(graph);
  const cards = [...layout.nodes].flatMap(([id, box]) => {
    const node = nodes.get(id);
    return node === undefined ? [] : [{ card: still.cardOf(node), box }];
  });
  const frame = ({ group, box }: (typeof groups)[number]): Shape => drawGroup(group, box, view);
  const tie = view.tie.map((box): Shape => ({ kind: "rect", box, fill: "gradient" }));
  return [
    ...groups.filter(({ group }) => group.open).map(frame),
    ...(detail === "far" ? drawBands(view) : drawEdges(view)),
    ...tie,
    ...groups.filter(({ group }) => !group.open).map(frame),
    ...(detail === "far" ? [] : cards.map(({ card, box }) => drawCard(card, box, view))),
    ...drawTokens(still, layout, view.progress, view.tokenScale).map((token) =>
      drawToken(token, view.tokenScale),
    ),
  ];
}

function drawBands({ still, layout }: MapView): readonly Shape[] {
  return drawFar(still, layout, null).map(({ shape, kind, path }): Shape => {
    if (shape === "edge") return { kind: "path", d: path, stroke: { ink: edgeInk(kind), width: 5 } };
    const isDone = kind === "done";
    const isActive = kind === "active";
    return {
      kind: "path",
      d: path,
      fill: isActive ? "gradient" : isDone ? "gradient-soft" : "surface",
      stroke: { ink: isActive || kind === "pending" ? "gradient" : "line-strong", width: 4 },
    };
  });
}

function edgeInk(progress: string): Ink {
  if (progress === "carrying" || progress === "carried") return "gradient";
  return progress === "forward" ? "forward" : "line-strong";
}

/** The forward value solid, its arrowhead at the consumer; the gradient dashed, its arrowhead at the producer. */
function drawEdges({ still, layout }: MapView): readonly Shape[] {
  const edges = edgesById(still.graph as NonNullable<Still["graph"]>);
  const active = still.node?.id;
  return [...layout.edges].flatMap(([id, curve]): readonly Shape[] => {
    const edge = edges.get(id);
    if (edge === undefined) return [];
    if (layout.loose.has(id) && edge.to.node !== active && edge.from.node !== active) return [];
    return drawEdge(still.edgeOf(edge), curve);
  });
}

function drawEdge({ progress, involved }: EdgeScene, curve: Curve): readonly Shape[] {
  const ink = edgeInk(progress);
  const isGradient = ink === "gradient";
  const isStrong = progress === "carrying" || progress === "forward";
  const stroke: Stroke = { ink, width: isStrong ? STRONG : STROKE, ...(isGradient && { dash: "7 5" }) };
  const ends = isGradient ? [curve[0], curve[1]] : [curve.at(-1), curve.at(-2)];
  const shapes: Shape[] = [{ kind: "path", d: pathOf(curve), stroke }];
  if (ends[0] !== undefined && ends[1] !== undefined)
    shapes.push({ kind: "path", d: arrowhead(ends[0], ends[1]), fill: ink });
  return involved ? shapes : [{ kind: "group", children: shapes, opacity: 0.6 }];
}

const ARROW_LENGTH = 8;
const ARROW_HALF = 3.6;

function arrowhead(tip: Point, from: Point): string {
  const length = Math.hypot(tip.x - from.x, tip.y - from.y) || 1;
  const [dx, dy] = [(tip.x - from.x) / length, (tip.y - from.y) / length];
  const base = { x: tip.x - ARROW_LENGTH * dx, y: tip.y - ARROW_LENGTH * dy };
  const side = { x: -dy * ARROW_HALF, y: dx * ARROW_HALF };
  const points = [
    tip,
    { x: base.x + side.x, y: base.y + side.y },
    { x: base.x - side.x, y: base.y - side.y },
  ];
  return `M${points.map(({ x, y }) => `${tenths(x)} ${tenths(y)}`).join("L")}z`;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** What a card's frame says of its node. */
function frameOf(card: CardScene, direction: Direction): Stroke {
  if (card.failed) return { ink: "problem", width: STRONG };
  if (card.progress === "active") {
    if (direction === "forward") return { ink: "forward", width: STRONG + 1 };
    return { ink: card.role === "leaf" ? "accumulated" : "gradient", width: STRONG + 1 };
  }
  if (card.role === "leaf" && card.progress === "done" && direction === "backward")
    return { ink: "accumulated", width: STROKE };
  if (card.progress === "pending") return { ink: "gradient", width: STROKE, dash: "5 4" };
  return { ink: card.role === "leaf" || !card.involved ? "line" : "line-strong", width: STROKE };
}

/** A gradient that has arrived at a leaf stands there until its step adds it to `.grad`. */
function hasArrived(card: CardScene, direction: Direction): boolean {
  return (
    card.role === "leaf" &&
    direction === "backward" &&
    card.progress !== "done" &&
    isTensor(card.gradient) &&
    !isTensor(card.leafGrad ?? undefined)
  );
}

function drawCard(card: CardScene, box: Box, view: MapView): Shape {
  const { direction } = view.still.position;
  const stroke = frameOf(card, direction);
  const radius = card.role === "leaf" ? 18 : 9;
  const ground = { x: 0, y: 0, width: box.width, height: box.height };
  const fill = card.role === "leaf" || !card.involved ? "ground" : "surface";
  const shapes: Shape[] = [{ kind: "rect", box: ground, radius, fill, stroke }];
  if (card.role === "leaf" && card.progress === "done" && direction === "backward")
    shapes.push({ kind: "rect", box: inset(ground, 3), radius: radius - 3, stroke });
  const draw = view.detail === "full" ? fullCard : view.detail === "brief" ? briefCard : titleCard;
  return moved([...shapes, ...draw(card, box, view)], box);
}

function inset(box: Box, by: number): Box {
  return { x: box.x + by, y: box.y + by, width: box.width - 2 * by, height: box.height - 2 * by };
}

/** The second line of a card: what came back, or what the node did. */
interface Line {
  readonly name: string;
  /** In the way of a mathematical symbol. */
  readonly isQuiet: boolean;
  readonly value: Gradient | null;
  readonly said: string | null;
  readonly ink: Ink;
}

function gradientLine(card: CardScene, direction: Direction): Line | null {
  const v = isTensor(card.gradient)
    ? card.waiting !== null && card.waiting.arrived > 1
      ? "v … +"
      : "v"
    : "";
  const arrived: Line = { name: v, isQuiet: false, value: card.gradient, said: null, ink: "gradient" };
  if (card.leafGrad !== null)
    return hasArrived(card, direction)
      ? arrived
      : { name: ".grad", isQuiet: true, value: card.leafGrad, said: null, ink: "accumulated" };
  if (card.role === "leaf") return null;
  if (card.failed) return { ...arrived, value: null, said: `✗ ${label("player-raised")}`, ink: "problem" };
  if (card.saving) return { ...arrived, value: null, said: `✓ ${label("player-saved")}`, ink: "forward" };
  return arrived;
}

function fullCard(card: CardScene, box: Box, { still, precision }: MapView): readonly Shape[] {
  const room = box.width - 2 * PADDING;
  const quiet = card.involved ? "ink" : "ink-quiet";
  const title = cut(card.title, { ...TITLE, bold: card.involved }, room);
  const titleWidth = widthOf(title, TITLE);
  const aside = cut(asideOf(card), ASIDE, room - titleWidth - GAP);
  const shapes: Shape[] = [
    text({ x: PADDING, y: TITLE_BASE }, title, { ...TITLE, bold: card.involved }, quiet),
  ];
  if (aside !== "")
    shapes.push(text({ x: PADDING + titleWidth + GAP, y: TITLE_BASE }, aside, ASIDE, "ink-quiet"));
  const height = (box.height - LINES_TOP - 9) / 2;
  const ink = (wanted: Ink): Ink => (card.involved ? wanted : "ink-quiet");
  const row = (y: number, name: string, nameInk: Ink, value: Gradient | null, valueInk: Ink): void => {
    const letters = name.startsWith(".") || name.startsWith("v") ? ASIDE : VALUE;
    const written = cut(name, letters, room * 0.5);
    const x = PADDING + (written === "" ? 0 : Math.max(2 * 7.8, widthOf(written, letters)) + GAP);
    if (written !== "") shapes.push(text({ x: PADDING, y: y + DROP * 13 }, written, letters, nameInk));
    shapes.push(
      ...drawValue(value, { x, y }, { precision, room: PADDING + room - x, letters: VALUE, ink: valueInk }),
    );
  };
  row(LINES_TOP + height / 2, card.variable ?? label("player-value"), quiet, card.value, ink("forward"));
  const line = gradientLine(card, still.position.direction);
  const y = LINES_TOP + 1.5 * height;
  if (line?.said != null)
    shapes.push(text({ x: PADDING, y: y + DROP * 13 }, line.said, { ...ASIDE, bold: true }, line.ink));
  else if (line !== null && !(line.name === "" && still.position.direction === "forward"))
    row(y, line.name, line.isQuiet ? "ink-quiet" : ink(line.ink), line.value, ink(line.ink));
  return shapes;
}

function asideOf(card: CardScene): string {
  if (card.waiting !== null)
    return label("player-some-arrived", {
      arrived: String(card.waiting.arrived),
      expected: String(card.waiting.expected),
    });
  return card.role === "leaf" ? label("player-leaf") : "";
}

/** A title, and one line with what counts now. */
function briefCard(card: CardScene, box: Box, { still, precision, letters }: MapView): readonly Shape[] {
  const { direction } = still.position;
  const line = gradientLine(card, direction);
  const isTold = line !== null && (line.said !== null || isTensor(line.value ?? undefined));
  const told = isTold ? line : { name: "", value: card.value, said: null, ink: "forward" as const };
  const padding = 0.35 * letters;
  const room = box.width - 2 * padding;
  const title: Letters = { size: letters, face: "sans", bold: true };
  const count = card.waiting === null ? "" : ` ${card.waiting.arrived}/${card.waiting.expected}`;
  const written = told.said ?? (told.value === null ? "–" : oneLine(told.value, precision).text);
  const value = told.name === "v" ? `v ${written}` : written;
  const mono: Letters = { size: 0.92 * letters, face: "mono" };
  const ink = card.involved ? "ink" : "ink-quiet";
  const third = box.height / 3;
  const [y1, y2] = [third * 0.95 + DROP * letters, third * 2.05 + DROP * letters];
  return [
    text({ x: padding, y: y1 }, cut(card.title + count, title, room), title, ink),
    text({ x: padding, y: y2 }, cut(value, mono, room), mono, card.involved ? told.ink : "ink-quiet"),
  ];
}

function titleCard(card: CardScene, box: Box, { letters }: MapView): readonly Shape[] {
  const title: Letters = { size: 0.72 * letters, face: "sans", bold: true };
  const most = Math.max(1, Math.floor(box.height / (1.15 * title.size)));
  const lines = wrapped(card.title, title, box.width).slice(0, most);
  const top = box.height / 2 - ((lines.length - 1) / 2) * 1.15 * title.size + DROP * title.size;
  const ink = card.involved ? "ink" : "ink-quiet";
  return lines.map((line, at) =>
    text({ x: box.width / 2, y: top + at * 1.15 * title.size }, line, title, ink, "middle"),
  );
}

interface ValueLook {
  readonly precision: number;
  readonly room: number;
  readonly letters: Letters;
  readonly ink: Ink;
}

/** One value on one line, from its left end and the middle of the line: numbers, cells with a shape, or a hollow mark. */
function drawValue(value: Gradient | null, at: Point, look: ValueLook): readonly Shape[] {
  const { precision, room, letters, ink } = look;
  const base = at.y + DROP * letters.size;
  if (value === null) return [text({ x: at.x, y: base }, "–", letters, "ink-quiet")];
  const told = oneLine(value, precision);
  if (!isTensor(value)) {
    const ring: Shape = {
      kind: "rect",
      box: { x: at.x, y: at.y - 5, width: 10, height: 10 },
      radius: 5,
      stroke: { ink: "line-strong", width: 1.5, dash: "2 2" },
    };
    const words: Letters = { size: 12.5, face: "sans" };
    return [ring, text({ x: at.x + 15, y: base }, cut(told.text, words, room - 15), words, "ink-quiet")];
  }
  const picture = told.kind === "shape" ? thumbnailOf(value) : null;
  if (picture === null) return [text({ x: at.x, y: base }, cut(told.text, letters, room), letters, ink)];
  const beside = cut(told.text, letters, room - picture.width - 6);
  return [
    moved(picture.shapes, { x: at.x, y: at.y - picture.height / 2 }),
    text({ x: at.x + picture.width + 6, y: base }, beside, letters, ink),
  ];
}

function drawGroup(group: GroupScene, box: Box, { precision, detail, letters }: MapView): Shape {
  const isBrief = detail !== "full";
  const ground = { x: 0, y: 0, width: box.width, height: box.height };
  const isActive = group.active && !group.open;
  const frame: Shape = {
    kind: "rect",
    box: ground,
    radius: 12,
    fill: group.open ? { ink: "surface-sunk", percent: 55 } : "surface-sunk",
    stroke: {
      ink: isActive ? "gradient" : group.open || !group.involved ? "line" : "line-strong",
      width: isActive ? STRONG + 1 : STROKE,
    },
  };
  const size = isBrief ? letters : 14;
  const bold: Letters = { size, face: "sans", bold: true };
  const plain: Letters = { size: isBrief ? letters : 12.5, face: "sans" };
  const repeats = group.repeats === null ? "" : ` × ${group.repeats}`;
  const count =
    group.inside === null || group.repeats === null ? label("player-nodes", { count: group.nodeCount }) : "";
  const ink = group.involved ? "ink" : "ink-quiet";
  const name = cut(group.label, bold, box.width - 20 - widthOf(repeats, bold)) + repeats;
  const nameWidth = widthOf(name, bold);
  const beside = cut(count, plain, box.width - 20 - nameWidth - GAP);
  if (group.open) {
    const y = isBrief ? 24 : 14 + DROP * size;
    const shapes: Shape[] = [frame, text({ x: 10, y }, name, bold, ink)];
    if (beside !== "") shapes.push(text({ x: 10 + nameWidth + GAP, y }, beside, plain, "ink-quiet"));
    return moved(shapes, box);
  }
  const middle = box.width / 2;
  const second =
    group.inside !== null
      ? insideText(group.inside, group.repeats, precision)
      : isBrief || beside === ""
        ? count
        : "";
  const rows = second === "" ? [0.5] : [0.3, 0.7];
  const y = (at: number): number => box.height * (rows[at] ?? 0.5) + DROP * size;
  const first = second === "" && beside !== "" ? `${name} ${beside}` : name;
  const words: Shape[] = [text({ x: middle, y: y(0) }, cut(first, bold, box.width - 8), bold, ink, "middle")];
  if (second !== "") {
    const under: Letters = group.inside === null ? plain : { size: plain.size, face: "mono" };
    const told = cut(second, under, box.width - 8);
    words.push(
      text({ x: middle, y: y(1) }, told, under, group.inside === null ? "ink-quiet" : "gradient", "middle"),
    );
  }
  return moved([frame, ...words], box);
}

function insideText(
  { title, value, turn }: NonNullable<GroupScene["inside"]>,
  repeats: number | null,
  precision: number,
): string {
  const which = turn === null ? "" : ` ${label("player-turn", { turn, count: repeats ?? 0 })}`;
  return `${title} ${oneLine(value, precision).text}${which}`;
}

const TOKEN: Letters = { size: 12.5, face: "mono", bold: true };
const HALF_TOKEN = 12;

function drawToken(token: TokenScene, scale: number): Shape {
  const { width } = token.size;
  const { x, y } = { x: -width / 2, y: -HALF_TOKEN };
  const standsBack = !token.moving && token.opacity > 0 && token.opacity < 1;
  const isHollow = token.kind === "hollow";
  const own: Ink = token.kind === "value" ? "forward" : "gradient";
  const [line, ink]: readonly [Ink, Ink] = isHollow || standsBack ? ["line-strong", "ink-quiet"] : [own, own];
  const shapes: Shape[] = [
    {
      kind: "rect",
      box: { x, y, width, height: 2 * HALF_TOKEN },
      radius: HALF_TOKEN,
      fill: token.kind === "seed" ? "gradient-soft" : "surface",
      stroke: { ink: line, width: STROKE, ...(isHollow && { dash: "4 3" }) },
    },
  ];
  const picture = token.value === null ? null : thumbnailOf(token.value, 2, 6);
  const written = isHollow ? "" : token.label === "" ? token.shape : token.label;
  const textWidth = widthOf(written, TOKEN);
  const whole = textWidth + (picture === null ? 0 : picture.width + 5);
  if (picture !== null) shapes.push(moved(picture.shapes, { x: -whole / 2, y: -picture.height / 2 }));
  if (written !== "")
    shapes.push(text({ x: whole / 2 - textWidth, y: DROP * TOKEN.size }, written, TOKEN, ink));
  if (Math.abs(token.lift) > HALF_TOKEN) {
    const way =
      token.lift > 0 ? `M0 ${HALF_TOKEN}V${tenths(token.lift)}` : `M0 ${-HALF_TOKEN}V${tenths(token.lift)}`;
    shapes.push({ kind: "path", d: way, stroke: { ink: line, width: 1.5, dash: "1.5 2.5" } });
  }
  return {
    kind: "group",
    children: shapes,
    at: { x: token.at.x, y: token.at.y, k: scale },
    ...(!standsBack && token.opacity < 1 && { opacity: token.opacity }),
  };
}
