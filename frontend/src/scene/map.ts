/** The graph as shapes, in its own coordinates: frames, edges, cards and what moves along the edges. */
import type { Box, Curve, Point } from "../layout/geometry";
import { curveBounds, pathOf } from "../layout/geometry";
import { GROUP_HEADER_PX, type Layout } from "../layout/place";
import type { Chain } from "../model/chain";
import { isTensor } from "../model/gradients";
import { edgesById, nodesById } from "../model/graph";
import { formatNumber } from "../model/numbers";
import type { Direction } from "../model/phases";
import type { Edge, Gradient } from "../protocol/trace.gen";
import { missingSentence } from "../words/missing";
import { label } from "../words/say";
import { shapeText } from "../words/values";
import type { Detail } from "./camera";
import { type Band, drawFar } from "./far";
import type { Ghost } from "./ghosts";
import { type Heat, type HeatSpot, heatLevel, heatTint } from "./heat";
import { cut, widthOf } from "./letters";
import { oneLine } from "./oneline";
import { type Ink, type Letters, moved, type Run, runs, type Shape, type Stroke, text } from "./shapes";
import { type CardScene, drawGroups, type EdgeScene, type GroupScene, type Still } from "./still";
import { thumbnailOf } from "./thumbnail";
import { drawTokens, type TokenScene } from "./tokens";

/** How cards and frames are drawn. */
export interface Look {
  readonly direction: Direction;
  readonly precision: number;
  readonly detail: Detail;
  /** The size of text that keeps its size on screen, in the graph's own pixels. */
  readonly letters: number;
  /** The size below which they cannot be read where this is shown. */
  readonly smallest: number;
  /** What is in view of the graph while nobody moves it, in its own coordinates. */
  readonly ground: Box | null;
}

/** How much larger than itself a token is drawn, so that it is read from where one stands. */
export function tokenScale({ detail, letters }: Look): number {
  return detail === "brief" || detail === "titles" ? letters / TOKEN.size : 1;
}

const STROKE = 1.75;
const STRONG = 2.75;
const TITLE: Letters = { size: 16, face: "sans", bold: true };
const ASIDE: Letters = { size: 13.5, face: "sans" };
const VALUE: Letters = { size: 14.5, face: "mono" };
const MISSING: Letters = { size: 13, face: "sans" };
const RING = 9;
const PADDING = 12.5;
/** The upper edge of a card's first line of values, and how far letters stand below the middle of their line. */
const LINES_TOP = 33;
const TITLE_BASE = 26;
const DROP = 0.36;
const GAP = 7;

/** All of it. @param between stands over the edges and under the cards */
export function drawMap(
  still: Still,
  layout: Layout,
  progress: number,
  look: Look,
  between: readonly Shape[],
): readonly Shape[] {
  const { graph } = still;
  if (graph === null) return [];
  const frames = drawGroups(still, layout).flatMap((group) => {
    const box = layout.groups.get(group.id);
    return box === undefined ? [] : [{ isOpen: group.open, shape: drawGroup(group, box, look) }];
  });
  const isFar = look.detail === "far";
  const nodes = nodesById(graph);
  const cards = [...(isFar ? [] : layout.nodes)].flatMap(([id, box]) => {
    const node = nodes.get(id);
    return node === undefined ? [] : [drawCard(still.cardOf(node), box, look)];
  });
  const edges = edgesById(graph);
  const lines = [...(isFar ? [] : layout.edges)].flatMap(([id, curve]) => {
    const edge = edges.get(id);
    return edge === undefined || !isSeen(edge, still, layout) ? [] : drawEdge(still.edgeOf(edge), curve);
  });
  const scale = tokenScale(look);
  return [
    ...frames.filter(({ isOpen }) => isOpen).map(({ shape }) => shape),
    ...(isFar ? drawFar(still, layout, null).map(drawBand) : lines),
    ...between,
    ...frames.filter(({ isOpen }) => !isOpen).map(({ shape }) => shape),
    ...cards,
    ...drawTokens(still, layout, progress, scale, look.ground).map((token) => drawToken(token, scale)),
  ];
}

/** An edge that runs straight across everything is seen where it takes part. */
export function isSeen({ id, from, to }: Edge, { node }: Still, { loose }: Layout): boolean {
  return !loose.has(id) || to.node === node?.id || from.node === node?.id;
}

/** The graph from far away: see `far.ts`. */
export function drawBand({ shape, kind, path }: Band): Shape {
  if (shape === "edge") return { kind: "path", d: path, stroke: { ink: edgeInk(kind), width: 5 } };
  const level = /^heat-(\d)$/.exec(kind)?.[1];
  if (level !== undefined)
    return { kind: "path", d: path, fill: heatTint(Number(level)), stroke: { ink: "line-strong", width: 4 } };
  const isActive = kind === "active";
  const ground = { done: "gradient-soft", active: "gradient", cold: "ground" } as const;
  return {
    kind: "path",
    d: path,
    fill: ground[kind as keyof typeof ground] ?? "surface",
    stroke: {
      ink: isActive || kind === "pending" ? "gradient" : kind === "cold" ? "line" : "line-strong",
      width: 4,
    },
  };
}

function edgeInk(progress: string): Ink {
  if (progress === "carrying" || progress === "carried") return "gradient";
  return progress === "forward" ? "forward" : "line-strong";
}

/** Dashes over a path of a million pixels take a second to paint. */
const LONG_PX = 8000;

/** The forward value solid, its arrowhead at the consumer; the gradient dashed, its arrowhead at the producer. */
export function drawEdge({ progress, involved }: EdgeScene, curve: Curve): readonly Shape[] {
  const ink = edgeInk(progress);
  const isGradient = ink === "gradient";
  const isStrong = progress === "carrying" || progress === "forward";
  const isDashed = isGradient && curveBounds(curve).width <= LONG_PX;
  const stroke: Stroke = { ink, width: isStrong ? STRONG : STROKE, ...(isDashed && { dash: "7 5" }) };
  const [tip, from] = isGradient ? [curve[0], curve[1]] : [curve.at(-1), curve.at(-2)];
  const shapes: Shape[] = [{ kind: "path", d: pathOf(curve), stroke }];
  if (tip !== undefined && from !== undefined)
    shapes.push({ kind: "path", d: arrowhead(tip, from), fill: ink });
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
    !isTensor(card.leafGrad)
  );
}

export function drawCard(card: CardScene, box: Box, look: Look): Shape {
  const { direction } = look;
  const stroke = frameOf(card, direction);
  const radius = card.role === "leaf" ? 18 : 9;
  const ground = { x: 0, y: 0, width: box.width, height: box.height };
  const fill = card.role === "leaf" || !card.involved ? "ground" : "surface";
  const shapes: Shape[] = [{ kind: "rect", box: ground, radius, fill, stroke }];
  if (card.role === "leaf" && card.progress === "done" && direction === "backward")
    shapes.push({ kind: "rect", box: inset(ground, 3), radius: radius - 3, stroke });
  const draw = look.detail === "full" ? fullCard : look.detail === "brief" ? briefCard : titleCard;
  return moved([...shapes, ...draw(card, box, look)], box);
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

function fullCard(card: CardScene, box: Box, { direction, precision }: Look): readonly Shape[] {
  const room = box.width - 2 * PADDING;
  const quiet = card.involved ? "ink" : "ink-quiet";
  const bold = { ...TITLE, bold: card.involved };
  const title = cut(card.title, bold, room);
  const hasRoom = widthOf(title, bold) + GAP + widthOf(asideOf(card), ASIDE) <= room;
  const aside = hasRoom ? asideOf(card) : "";
  const shapes: Shape[] = [
    ...runs({ x: PADDING, y: TITLE_BASE }, [
      { text: title, ...bold, ink: quiet },
      ...(aside === "" ? [] : [{ text: aside, ...ASIDE, ink: "ink-quiet", gap: GAP } as const]),
    ]),
  ];
  const height = (box.height - LINES_TOP - 9) / 2;
  const ink = (wanted: Ink): Ink => (card.involved ? wanted : "ink-quiet");
  const row = (y: number, name: string, nameInk: Ink, value: Gradient | null, valueInk: Ink): void => {
    const letters = name.startsWith(".") || name.startsWith("v") ? ASIDE : VALUE;
    const written = cut(name, letters, room * 0.5);
    const x = PADDING + (written === "" ? 0 : Math.max(2 * 8.7, widthOf(written, letters)) + GAP);
    if (written !== "")
      shapes.push(text({ x: PADDING, y: y + DROP * VALUE.size }, written, letters, nameInk));
    shapes.push(
      ...drawValue(value, { x, y }, { precision, room: PADDING + room - x, letters: VALUE, ink: valueInk }),
    );
  };
  const unnamed = label("player-value");
  const hasRoomForName = widthOf(unnamed, VALUE) + GAP + valueWidth(card.value, precision) <= room;
  const called = card.variable ?? (hasRoomForName ? unnamed : "");
  row(LINES_TOP + height / 2, called, quiet, card.value, ink("forward"));
  const line = gradientLine(card, direction);
  const y = LINES_TOP + 1.5 * height;
  if (line?.said != null)
    shapes.push(
      text({ x: PADDING, y: y + DROP * VALUE.size }, line.said, { ...ASIDE, bold: true }, line.ink),
    );
  else if (line !== null && !(line.name === "" && direction === "forward"))
    row(y, line.name, line.isQuiet ? "ink-quiet" : ink(line.ink), line.value, ink(line.ink));
  return shapes;
}

function asideOf(card: CardScene): string {
  if (card.waiting !== null)
    return label("player-some-arrived", {
      arrived: String(card.waiting.arrived),
      expected: String(card.waiting.expected),
    });
  if (card.aside !== undefined) return card.aside;
  const count = card.node.output_count;
  return card.role === "leaf"
    ? label("player-leaf")
    : count > 1
      ? label("player-card-outputs", { count })
      : "";
}

/** Of two lines in a card, of its height. */
const HIGHEST_LETTERS = 0.46;

/** A title, and one line with what counts now. */
function briefCard(
  card: CardScene,
  box: Box,
  { direction, precision, letters: wanted, smallest }: Look,
): readonly Shape[] {
  const letters = Math.min(wanted, HIGHEST_LETTERS * box.height);
  const line = gradientLine(card, direction);
  const isTold = line !== null && (line.said !== null || isTensor(line.value));
  const told = isTold ? line : { name: "", value: card.value, said: null, ink: "forward" as const };
  const padding = 0.25 * letters;
  const room = box.width - 2 * padding;
  const title: Letters = { size: letters, face: "sans", bold: true };
  const count = card.waiting === null ? "" : ` ${card.waiting.arrived}/${card.waiting.expected}`;
  const mono: Letters = { size: letters, face: "mono" };
  const all = told.said ?? (told.value === null ? "–" : oneLine(told.value, precision).text);
  // Without its end a list of numbers is another one.
  const { shape = [] } = isTensor(told.value) ? told.value : {};
  const isWhole = shape.length === 0 || (smallest / letters) * widthOf(all, mono) <= room;
  const written = isWhole ? all : shapeText(shape);
  // As in `[3×3]`.
  const value = written.replaceAll(" × ", "×");
  const named = `${told.name} ${value}`;
  // Its colour says what it is where its name has no room.
  const isNamed = told.name !== "" && (smallest / letters) * widthOf(named, mono) <= 0.75 * room;
  const middle = box.height / 2;
  const apart = Math.max(box.height / 5.5, letters / 2);
  const lines = [
    { written: card.brief + count, look: title, ink: card.involved ? "ink" : "ink-quiet", y: middle - apart },
    {
      written: isNamed ? named : value,
      look: mono,
      ink: card.involved ? told.ink : "ink-quiet",
      y: middle + apart,
    },
  ] as const;
  return lines.map(({ written: line, look, ink, y }) => {
    const letters = fitting(line, look, room, smallest);
    return text({ x: padding, y: y + DROP * look.size }, cut(line, letters, room), letters, ink);
  });
}

/** Letters somewhat smaller where a line is somewhat too long. */
function fitting(line: string, letters: Letters, room: number, smallest: number): Letters {
  // A little less, so that what is as wide as its room counts as having room.
  const share = Math.min(1, (0.999 * room) / widthOf(line, letters));
  return { ...letters, size: Math.max(Math.min(smallest, letters.size), letters.size * share) };
}

/** As large as its width allows: a word is not broken. */
function titleCard(card: CardScene, box: Box, { letters, smallest }: Look): readonly Shape[] {
  const bold: Letters = { size: 0.85 * letters, face: "sans", bold: true };
  const room = box.width - 2 * STRONG;
  const small = fitting(card.brief, bold, room, smallest);
  const at = { x: box.width / 2, y: box.height / 2 + DROP * small.size };
  return [text(at, cut(card.brief, small, room), small, card.involved ? "ink" : "ink-quiet", "middle")];
}

const BESIDE_PICTURE = 6;

interface ValueLook {
  readonly precision: number;
  readonly room: number;
  readonly letters: Letters;
  readonly ink: Ink;
}

function valueWidth(value: Gradient | null, precision: number): number {
  if (value === null) return 0;
  const { kind, text: written } = oneLine(value, precision);
  const picture = kind === "shape" && isTensor(value) ? thumbnailOf(value) : null;
  return (picture === null ? 0 : picture.width + BESIDE_PICTURE) + widthOf(written, VALUE);
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
      box: { x: at.x, y: at.y - RING / 2, width: RING, height: RING },
      radius: RING / 2,
      stroke: { ink: "line-strong", width: 1.5, dash: "2 2" },
    };
    const left = RING + 4;
    const written = cut(told.text, MISSING, room - left);
    return [ring, text({ x: at.x + left, y: base }, written, MISSING, "ink-quiet")];
  }
  const picture = told.kind === "shape" ? thumbnailOf(value) : null;
  if (picture === null) return [text({ x: at.x, y: base }, cut(told.text, letters, room), letters, ink)];
  const beside = cut(told.text, letters, room - picture.width - BESIDE_PICTURE);
  return [
    moved(picture.shapes, { x: at.x, y: at.y - picture.height / 2 }),
    text({ x: at.x + picture.width + BESIDE_PICTURE, y: base }, beside, letters, ink),
  ];
}

export function drawGroup(group: GroupScene, box: Box, look: Look): Shape {
  if (group.card !== null) {
    const behind: Shape = {
      kind: "rect",
      box: { ...box, x: box.x + STACKED, y: box.y - STACKED },
      radius: 9,
      fill: "surface-sunk",
      stroke: { ink: "line-strong", width: STROKE },
    };
    return { kind: "group", children: [behind, drawCard(group.card, box, look)] };
  }
  const isActive = group.active && !group.open;
  const isFaint = group.open || !group.involved;
  const atWork = look.direction === "forward" ? "forward" : "gradient";
  const frame: Shape = {
    kind: "rect",
    box: { x: 0, y: 0, width: box.width, height: box.height },
    radius: 12,
    fill: group.open ? { ink: "surface-sunk", percent: 55 } : "surface-sunk",
    stroke: isActive
      ? { ink: atWork, width: STRONG + 1 }
      : { ink: isFaint ? "line" : "line-strong", width: STROKE },
  };
  const isBrief = look.detail !== "full";
  // In brief the letters of a frame are larger than the room above its cards; no larger than the room above a frame in it.
  const most = group.open ? Math.max(look.smallest, GROUP_HEADER_PX) : look.letters;
  const brief = Math.min(look.letters, most);
  const plain: Letters = { size: isBrief ? brief : 13.5, face: "sans" };
  const ink = group.involved ? "ink" : "ink-quiet";
  const repeats = group.repeats === null ? "" : ` × ${group.repeats}`;
  const isCounted = group.inside === null || group.repeats === null;
  const count = isCounted ? label("player-nodes", { count: group.nodeCount }) : "";
  const room = box.width - 2 * FRAME_PADDING;
  const large: Letters = { size: isBrief ? brief : 15.5, face: "sans", bold: true };
  const bold = isBrief ? fitting(group.label + repeats, large, room, look.smallest) : large;
  const name = cut(group.label, bold, room - widthOf(repeats, bold)) + repeats;
  const hasRoomBeside = widthOf(name, bold) + GAP + widthOf(count, plain) <= room;
  const named: Run[] = [{ text: name, ...bold, ink }];
  const counted: Run[] = count === "" ? [] : [{ text: count, ...plain, ink: "ink-quiet", gap: GAP }];
  const inside = group.inside === null ? null : insideText(group.inside, group.repeats, look.precision);
  const beside = hasRoomBeside && !(isBrief && !group.open && inside === null);
  const first = beside ? [...named, ...counted] : named;
  if (group.open) {
    // They grow out of the frame.
    const y = isBrief ? OPEN_BASE : OPEN_BASE / 1.4 + DROP * bold.size;
    return moved([frame, ...runs({ x: FRAME_PADDING, y }, first)], box);
  }
  const told: Letters = { size: plain.size, face: "mono" };
  const second: readonly Run[] =
    inside !== null
      ? [{ text: cut(inside, told, room), ...told, ink: atWork }]
      : beside || count === ""
        ? []
        : [{ text: cut(count, plain, room), ...plain, ink: "ink-quiet" }];
  const apart = second.length === 0 ? 0 : Math.max(0.4 * box.height, 1.2 * plain.size);
  const lines = [first, second].flatMap((line, at) => {
    const y = box.height / 2 + (at - 0.5) * apart + DROP * bold.size;
    return runs({ x: box.width / 2, y }, line, "middle");
  });
  return moved([frame, ...lines], box);
}

const FRAME_PADDING = 10;
/** So far a second sheet looks out behind a call that has others in it. */
const STACKED = 5;
const OPEN_BASE = 20;

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

export function drawToken(token: TokenScene, scale: number): Shape {
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
  // To its edge, where it stands beside it.
  const lift = token.lift / scale;
  if (Math.abs(lift) > HALF_TOKEN) {
    const way = `M0 ${Math.sign(lift) * HALF_TOKEN}V${tenths(lift)}`;
    shapes.push({ kind: "path", d: way, stroke: { ink: line, width: 1.5, dash: "1.5 2.5" } });
  }
  return {
    kind: "group",
    children: shapes,
    at: { x: token.at.x, y: token.at.y, k: scale },
    ...(!standsBack && token.opacity < 1 && { opacity: token.opacity }),
  };
}

const MARK: Letters = { size: 12, face: "mono", bold: true };

/** On a card's upper edge: how large the gradient was that arrived there, and what stands out about it. */
export function drawHeat(
  spot: HeatSpot,
  heat: Heat,
  box: Box,
  isGroup: boolean,
  { detail, letters }: Look,
): Shape {
  const size = detail === "full" ? MARK.size : letters;
  const height = 1.5 * size;
  const level = heatLevel(spot, heat);
  const norm = spot.norm === null || level === null ? null : formatNumber(spot.norm, 2);
  const written = norm !== null && isGroup ? label("player-heat-up-to", { number: norm }) : norm;
  const tags = [
    ...(written === null
      ? []
      : [{ written, fill: heatTint(level ?? 0), ink: "ink", line: "line-strong" } as const]),
    ...spot.marks.map(
      (mark) => ({ written: mark, fill: "surface", ink: "problem", line: "problem" }) as const,
    ),
  ];
  let x = 8;
  const shapes = tags.flatMap(({ written: told, fill, ink, line }): readonly Shape[] => {
    const width = widthOf(told, { ...MARK, size }) + 12;
    const pill = { x, y: -0.8 * height, width, height };
    x += width + 3;
    return [
      { kind: "rect", box: pill, radius: height / 2, fill, stroke: { ink: line, width: 1.5 } },
      text(
        { x: pill.x + width / 2, y: pill.y + height / 2 + DROP * size },
        told,
        { ...MARK, size },
        ink,
        "middle",
      ),
    ];
  });
  return moved(shapes, box);
}

const GHOST_INKS = { value: "forward", gradient: "gradient", held: "accumulated" } as const;

/** Under a card: what it held in the run before, and by how much that changed. */
export function drawGhost({ kind, text: written }: Ghost, box: Box, { detail, letters }: Look): Shape {
  const mono: Letters = { size: detail === "full" ? MARK.size : letters, face: "mono" };
  const told = cut(written, mono, box.width + 24);
  const height = 1.33 * mono.size;
  const ground = { x: 4, y: 2, width: widthOf(told, mono) + 6, height };
  const shapes: Shape[] = [
    { kind: "rect", box: ground, fill: "ground" },
    text({ x: 7, y: 2 + height / 2 + DROP * mono.size }, told, mono, GHOST_INKS[kind]),
  ];
  return moved(shapes, { x: box.x, y: box.y + box.height });
}

const ROUND_PX = 5;

/** What lies between the ends of a chain: a soft band under its edges and round its cards, a firm ring round its ends. */
export function drawChain(
  { links, of, by }: Pick<Chain, "links" | "of" | "by">,
  layout: Layout,
): readonly Shape[] {
  const bands = [...new Set(links.map(({ edge }) => edge.id))].flatMap((id): readonly Shape[] => {
    const curve = layout.edges.get(id);
    if (curve === undefined) return [];
    const stroke: Stroke = { ink: "prediction", width: 10 };
    return [{ kind: "group", children: [{ kind: "path", d: pathOf(curve), stroke }], opacity: 0.22 }];
  });
  const nodes = new Set(links.flatMap((link) => [link.of.node, link.by.node]));
  const rings = [...nodes].flatMap((id): readonly Shape[] => {
    const box = layout.nodes.get(id);
    if (box === undefined) return [];
    const isEnd = id === of.node || id === by.node;
    return [
      {
        kind: "rect",
        box: inset(box, -ROUND_PX),
        radius: 16,
        fill: "prediction-soft",
        stroke: { ink: "prediction", width: isEnd ? 3 : 1.5, ...(!isEnd && { dash: "2 4" }) },
      },
    ];
  });
  return [...bands, ...rings];
}

/** What a card says below its title, for who does not see it. */
export function tellCard(card: CardScene, { direction, precision }: Look): readonly string[] {
  const value = `${card.variable ?? label("player-value")} ${card.value === null ? "–" : oneLine(card.value, precision).text}`;
  const line = gradientLine(card, direction);
  const second =
    line === null
      ? ""
      : (line.said ??
        `${line.name} ${line.value === null ? "" : oneLine(line.value, precision).text}`.trim());
  return [asideOf(card), value, second].filter((each) => each !== "");
}

/** What a frame says, for who does not see it. */
export function tellGroup(
  { label: name, repeats, nodeCount, inside, card }: GroupScene,
  look: Look,
): readonly string[] {
  if (card !== null) return [name, ...tellCard(card, look)];
  const times = repeats === null ? [] : [`× ${repeats}`];
  const count = inside === null || repeats === null ? [label("player-nodes", { count: nodeCount })] : [];
  return [
    name,
    ...times,
    ...count,
    ...(inside === null ? [] : [insideText(inside, repeats, look.precision)]),
  ];
}

/** Why there is no gradient on a card, where that says more than the mark. */
export function reasonOn(card: CardScene): string | undefined {
  const shown = card.leafGrad ?? card.gradient;
  return isTensor(shown) || shown.missing === "not_computed" ? undefined : missingSentence(shown);
}
