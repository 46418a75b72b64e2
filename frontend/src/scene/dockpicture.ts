/** What the dock says of a stop, as shapes: the sentence, the rule, v times J = returned per operand, one sum written out. */
import type { Box, Point, Size } from "../layout/geometry";
import { isTensor } from "../model/gradients";
import { formatNumber } from "../model/numbers";
import type { Gradient } from "../protocol/trace.gen";
import { label } from "../words/say";
import { structureText } from "../words/structure";
import { shapeText } from "../words/values";
import {
  type Block,
  inLine,
  type Line,
  operatorBlock,
  pictureBlock,
  stacked,
  tableBlock,
  valueBlock,
} from "./blocks";
import type { CalloutScene, OperandEquation, VjpCallout } from "./equation";
import { firstOperand } from "./equation";
import {
  derivative,
  type Factoring,
  type ProductForm,
  type placeOf,
  returnedFor,
  samePlace,
  V_CAPTION,
} from "./form";
import { cut, widthOf, wrapped } from "./letters";
import { multiplyingAt, type Spot } from "./multiplying";
import { oneLine } from "./oneline";
import { productForms } from "./product";
import { savedWorthShowing } from "./saved";
import { type Ink, type Letters, moved, type Run, runs, type Shape, text } from "./shapes";
import { firstEntry, sumAt } from "./sum";

export interface DockView {
  readonly callout: CalloutScene | null;
  /** What is said of the stop. */
  readonly said: string;
  /** `Step 3 of 7, multiply`. */
  readonly place: string;
  /** What goes into the outputs, before the pass. */
  readonly seeds: readonly { readonly caption: string; readonly value: Gradient }[];
  readonly progress: number;
  readonly precision: number;
}

const SENTENCE: readonly Letters[] = [24, 22, 20, 18, 16, 14].map((size) => ({ size, face: "sans" }));
const MOST_SENTENCE = 0.34;
const TITLE: Letters = { size: 20, face: "sans", bold: true };
const QUIET: Letters = { size: 15, face: "sans" };
const RULE: Letters = { size: 18, face: "mono" };
const SUM: Letters = { size: 18, face: "mono" };
const PLACE: Letters = { size: 13, face: "sans" };
const NUMBER_SIZES = [32, 28, 24, 21, 18, 16, 14, 12.5] as const;
const LINE = 1.32;
const GAP = 10;
const MOST_OPERANDS = 6;
const MOST_SUMMANDS = 6;

export function drawDock(view: DockView, room: Box): readonly Shape[] {
  const { callout } = view;
  const shapes: Shape[] = [];
  let y = room.y;
  const put = (lines: readonly string[], letters: Letters, ink: Ink): void => {
    for (const line of lines) {
      y += letters.size * LINE;
      shapes.push(text({ x: room.x, y: y - letters.size * 0.25 }, line, letters, ink));
    }
  };
  const sentence =
    SENTENCE.find((letters) => lettersHigh(view.said, letters, room) <= room.height * MOST_SENTENCE) ??
    (SENTENCE.at(-1) as Letters);
  put(wrapped(view.said, sentence, room.width), sentence, "ink");
  y += GAP;
  if (callout !== null) {
    const title = cut(callout.title, TITLE, room.width);
    const notes = cut(callout.notes.join(" · "), QUIET, room.width - widthOf(title, TITLE) - GAP);
    y += TITLE.size * LINE;
    shapes.push(text({ x: room.x, y: y - 5 }, title, TITLE, "ink"));
    if (notes !== "")
      shapes.push(text({ x: room.x + widthOf(title, TITLE) + GAP, y: y - 5 }, notes, QUIET, "ink-quiet"));
  }
  const bottom = room.y + room.height - PLACE.size * LINE;
  const body = { x: room.x, y: y + GAP, width: room.width, height: bottom - y - 2 * GAP };
  shapes.push(...drawBody(view, body));
  shapes.push(text({ x: room.x, y: room.y + room.height - 2 }, view.place, PLACE, "ink-quiet"));
  return shapes;
}

function lettersHigh(said: string, letters: Letters, room: Size): number {
  return wrapped(said, letters, room.width).length * letters.size * LINE;
}

/** A line of an equation at a size of its numbers. */
type AtSize = (size: number) => Line;

interface Equation {
  readonly draw: AtSize;
  /** Its parts one below the other, where they can stand so. */
  readonly drawStacked: AtSize;
  /** Where it has no room: `x: [2, 4]`. */
  readonly inShort: string;
  /** Between the equation and the next: a sum written out. */
  readonly below: readonly Shape[];
}

function drawBody(view: DockView, room: Box): readonly Shape[] {
  const { callout } = view;
  if (callout === null)
    return fit(
      view.seeds.map((seed) => seedEquation(seed, view.precision)),
      room,
    );
  if (callout.kind === "vjp") return drawVjp(callout, view, room);
  const { precision } = view;
  const equation =
    callout.kind === "accumulate" ? accumulation(callout, precision) : forward(callout, precision);
  const saved =
    callout.kind === "forward" && callout.shown.landed
      ? savedWorthShowing(callout.saved).map(
          (each) => `${each.label}${each.value === null ? "" : ` = ${oneLine(each.value, precision).text}`}`,
        )
      : [];
  const kept =
    saved.length === 0
      ? []
      : wrapped(label("export-saved", { what: saved.join(", ") }), RULE, room.width).slice(0, 3);
  const lines = linesOf(kept, RULE, "forward", {
    x: room.x,
    y: room.y + room.height - kept.length * RULE.size * LINE,
  });
  return [...fit([equation], { ...room, height: room.height - kept.length * RULE.size * LINE }), ...lines];
}

function linesOf(lines: readonly string[], letters: Letters, ink: Ink, { x, y }: Point): readonly Shape[] {
  return lines.map((line, at) =>
    text({ x, y: y + (at + 1) * letters.size * LINE - letters.size * 0.3 }, line, letters, ink),
  );
}

function plain(draw: AtSize, inShort = "", drawStacked: AtSize = draw): Equation {
  return { draw, drawStacked, inShort, below: [] };
}

function seedEquation({ caption, value }: DockView["seeds"][number], precision: number): Equation {
  const draw: AtSize = (size) =>
    inLine([valueBlock(value, { caption, captionInk: "gradient", size, precision, isRevealed: true })]);
  return plain(draw, `${caption}: ${oneLine(value, precision).text}`);
}

/** `.grad` before + arrived = after. */
function accumulation(callout: Extract<CalloutScene, { kind: "accumulate" }>, precision: number): Equation {
  const noneOf = (gradient: Gradient) =>
    !isTensor(gradient) && ["not_computed", "undefined"].includes(gradient.missing) ? { none: "None" } : {};
  const { leaf, before, arrived, after, shown } = callout;
  const parts = (size: number): readonly (readonly Block[])[] => {
    const held = (caption: string, value: Gradient, isRevealed: boolean): Block =>
      valueBlock(value, {
        caption,
        captionInk: "accumulated",
        size,
        precision,
        isRevealed,
        ...noneOf(value),
      });
    return [
      [held(label("player-grad-before", { leaf }), before, shown.rule)],
      [
        operatorBlock("+"),
        valueBlock(arrived, {
          caption: label("player-arrived"),
          captionInk: "gradient",
          size,
          precision,
          isRevealed: true,
        }),
      ],
      [operatorBlock("="), held(label("player-grad-after", { leaf }), after, shown.landed)],
    ];
  };
  return plain(
    (size) => inLine(parts(size).flat()),
    leaf,
    (size) => stacked(parts(size).map(inLine)),
  );
}

function forward(callout: Extract<CalloutScene, { kind: "forward" }>, precision: number): Equation {
  const parts = (size: number): readonly (readonly Block[])[] => {
    const look = { size, precision };
    const operands = callout.operands
      .slice(0, MOST_OPERANDS)
      .map(({ name, value }) =>
        valueBlock(value, { ...look, caption: name, captionInk: "forward", isRevealed: true }),
      );
    const left = callout.operands.length - MOST_OPERANDS;
    const more = left > 0 ? [operatorBlock(label("export-operands-more", { count: left }))] : [];
    const outputs = callout.outputs.slice(0, MOST_OPERANDS).map(({ name, value }) =>
      valueBlock(value, {
        ...look,
        caption: name ?? label("player-result"),
        captionInk: "forward",
        isRevealed: callout.shown.product,
      }),
    );
    const commas = operands.flatMap((block, at) => (at === 0 ? [block] : [operatorBlock(","), block]));
    return [
      [...commas, ...more],
      [operatorBlock("→"), ...outputs],
    ];
  };
  return plain(
    (size) => inLine(parts(size).flat()),
    callout.title,
    (size) => stacked(parts(size).map(inLine)),
  );
}

function drawVjp(callout: VjpCallout, view: DockView, room: Box): readonly Shape[] {
  const first = firstOperand(callout);
  const inOrder = [...callout.operands].sort(
    (a, b) => Number(b.argnum === first) - Number(a.argnum === first),
  );
  const given = inOrder.filter(({ returned }) => isTensor(returned));
  const shown = (given.length > 0 ? given : inOrder).slice(0, MOST_OPERANDS);
  const shapes: Shape[] = [];
  let y = room.y;
  const put = (written: string, letters: Letters, ink: Ink): void => {
    if (written === "") return;
    y += letters.size * LINE;
    const line = cut(written, letters, room.width);
    shapes.push(text({ x: room.x, y: y - letters.size * 0.3 }, line, letters, ink));
  };
  put(summandsOf(callout, view.precision), SUM, "gradient");
  for (const operand of callout.shown.rule ? shown : []) put(ruleOf(callout, operand), RULE, "ink");
  const left = given.length - shown.length;
  const missing = inOrder.filter((operand) => !shown.includes(operand) && !isTensor(operand.returned));
  const inShort = [
    ...missing.map(({ label: name, returned }) => `${name}: ${oneLine(returned, view.precision).text}`),
    ...(left > 0 ? [label("export-operands-more", { count: left })] : []),
  ].join(", ");
  const equations = shown.map((operand) => operandEquation(callout, operand, view));
  const body = { ...room, y: y + GAP, height: room.y + room.height - y - GAP };
  return [...shapes, ...fit(equations, body, inShort === "" ? [] : [inShort])];
}

/** `[1, 0] from mul + [2, 2] from y = [3, 2]`. */
function summandsOf({ summands, sum }: VjpCallout, precision: number): string {
  if (summands.length < 2) return "";
  const told = summands
    .slice(0, MOST_SUMMANDS)
    .map(({ value, from }) => `${oneLine(value, precision).text} (${from})`);
  const more = summands.length - told.length;
  if (more > 0) told.push(label("player-summands-more", { count: more }));
  return `${told.join(" + ")} = ${oneLine(sum, precision).text}`;
}

function ruleOf(
  { formulaCheck, operands }: VjpCallout,
  { vjp, label: name, isExplained }: OperandEquation,
): string {
  if (vjp === null || vjp.text === "" || formulaCheck === false) return "";
  const unchecked = formulaCheck === null && isExplained ? ` (${label("player-unchecked")})` : "";
  return `${operands.length > 1 ? `${name}: ` : ""}${label("player-rule-returns")} ${vjp.text}${unchecked}`;
}

function operandEquation(callout: VjpCallout, operand: OperandEquation, view: DockView): Equation {
  const { precision } = view;
  const inShort = `${returnedFor(operand)}: ${callout.shown.product ? oneLine(operand.returned, precision).text : "·"}`;
  const [factor] = operand.factors;
  if (!isTensor(operand.returned) || factor === undefined)
    return plain(
      (size) =>
        inLine([
          valueBlock(operand.returned, { caption: returnedFor(operand), size, precision, isRevealed: true }),
        ]),
      inShort,
    );
  const forms = productForms(callout.node, operand, factor, callout.saved);
  const [form] = forms;
  if (form !== undefined) return formEquation(form, callout, view, inShort, factor.jacobian);
  const { jacobian } = factor;
  const outputShape = jacobian?.output_shape ?? (isTensor(factor.v) ? factor.v.shape : []);
  const inputShape = jacobian?.input_shape ?? operand.returned.shape;
  const words = jacobian?.structure
    ? structureText(jacobian)
    : label(operand.isExplained ? "player-not-written-out" : "player-not-yet");
  const parts = (size: number): readonly (readonly Block[])[] => [
    [valueBlock(factor.v, { caption: V_CAPTION, captionInk: "gradient", size, precision, isRevealed: true })],
    [
      operatorBlock("×"),
      pictureBlock(
        jacobian !== null && "shape" in jacobian.value ? jacobian.value : null,
        derivative(operand),
        `${shapeText(outputShape)} × ${shapeText(inputShape)}`,
        words,
      ),
    ],
    [
      operatorBlock("="),
      valueBlock(operand.returned, {
        caption: returnedFor(operand),
        captionInk: "gradient",
        size,
        precision,
        isRevealed: callout.shown.product && (!callout.shown.entering || view.progress >= 1),
      }),
    ],
  ];
  return plain(
    (size) => inLine(parts(size).flat()),
    inShort,
    (size) => stacked(parts(size).map(inLine)),
  );
}

function formEquation(
  form: ProductForm,
  { shown }: VjpCallout,
  { progress, precision }: DockView,
  inShort: string,
  jacobian: OperandEquation["factors"][number]["jacobian"],
): Equation {
  const isMoving = shown.entering && progress < 1;
  const moving = multiplyingAt(form, isMoving ? progress : 1);
  const current = isMoving ? moving.current : firstEntry(form);
  const terms = form.termsAt(current);
  const isRevealed = ({ role }: Factoring): boolean =>
    role === "v" ? shown.v : role === "jacobian" ? shown.rule : shown.product;
  const right = form.rightAt(current);
  const block = (table: Factoring, side: "left" | "right" | "result", size: number): Block =>
    tableBlock(table.matrix, {
      caption: table.caption,
      captionInk: table.role === "jacobian" ? "forward" : "gradient",
      shape: shapeOf(table),
      note: structureOf(table, form, jacobian),
      size,
      digits: size < 14 ? Math.min(precision, 3) : precision,
      isWritten: (place) => isRevealed(table) && (side !== "result" || moving.isWritten(place)),
      isLit: (place) =>
        shown.product &&
        (side === "result"
          ? samePlace(place, current)
          : terms.some((term) => term[side] !== null && samePlace(term[side], place))),
    });
  const parts = (size: number): readonly (readonly Block[])[] => [
    [block(form.left, "left", size)],
    ...(right === null ? [] : [[operatorBlock(form.operator), block(right, "right", size)]]),
    [
      form.isTrue || !shown.product || isMoving
        ? operatorBlock(right === null ? form.operator : "=")
        : operatorBlock("≠", "problem"),
      block(form.result, "result", size),
    ],
  ];
  const withFlights = (line: Line, size: number): Line => {
    const flights = shown.product ? moving.flights : [];
    if (flights.length === 0) return line;
    const tables = line.blocks.filter(({ block: each }) => each.cellAt !== null);
    const of = (spot: Spot): Point | null => {
      const found = spot.table === "left" ? tables[0] : spot.table === "result" ? tables.at(-1) : tables[1];
      const centre = found?.block.cellAt?.(spot.place);
      return found === undefined || centre === undefined
        ? null
        : { x: found.at.x + centre.x, y: found.at.y + centre.y };
    };
    const chips = flights.flatMap(({ from, to, share, value }) => {
      const [start, end] = [of(from), of(to)];
      if (start === null || end === null) return [];
      const at = { x: start.x + (end.x - start.x) * share, y: start.y + (end.y - start.y) * share };
      return chip(formatNumber(value, precision), at, size);
    });
    const overlay: Block = { width: 0, height: 0, middle: 0, shapes: chips, cellAt: null };
    return { ...line, blocks: [...line.blocks, { block: overlay, at: { x: 0, y: 0 } }] };
  };
  const { cells } = form.result.matrix;
  const written =
    cells.length > 0 && shown.product && form.rule !== "moved"
      ? sumShapes(form, current, moving, precision)
      : [];
  return {
    draw: (size) => withFlights(inLine(parts(size).flat()), size),
    drawStacked: (size) => withFlights(stacked(parts(size).map(inLine)), size),
    inShort,
    below: written,
  };
}

function chip(written: string, at: Point, size: number): readonly Shape[] {
  const letters: Letters = { size, face: "mono", bold: true };
  const width = widthOf(written, letters) + 12;
  const box = { x: at.x - width / 2, y: at.y - 0.75 * size, width, height: 1.5 * size };
  return [
    { kind: "rect", box, radius: 6, fill: "gradient-soft", stroke: { ink: "gradient", width: 1.5 } },
    text({ x: at.x, y: at.y + 0.36 * size }, written, letters, "ink", "middle"),
  ];
}

function shapeOf({ shape, flattenedFrom }: Factoring): string {
  const own = shape.length === 0 ? label("player-scalar") : `[${shape.map(({ size }) => size).join(" × ")}]`;
  return flattenedFrom === null ? own : `${own} ${label("player-from", { name: flattenedFrom })}`;
}

function structureOf(
  table: Factoring,
  form: ProductForm,
  jacobian: OperandEquation["factors"][number]["jacobian"],
): string {
  const isTold = jacobian !== null && jacobian.structure !== null && jacobian.structure !== "dense";
  if (!isTold || table.role !== "jacobian" || form.view !== "jacobian" || table.matrix.cells.length < 2)
    return "";
  return structureText(jacobian);
}

/** `3·1 + 2·0 = 3, entry 1 of 2`, from the left end of its line. */
function sumShapes(
  form: ProductForm,
  current: ReturnType<typeof placeOf>,
  moving: ReturnType<typeof multiplyingAt>,
  precision: number,
): readonly Shape[] {
  const sum = sumAt(form, current, moving);
  if (sum.terms.length === 0 && !sum.isSummed) return [];
  const told: Run[] = [];
  const put = (written: string, ink: Ink, letters: Letters = SUM, gap = 0): void => {
    told.push({ text: written, ...letters, ink, gap });
  };
  sum.terms.forEach(({ a, b, right }, at) => {
    if (at > 0) put("+", "ink-quiet", SUM, SPACE);
    const faint = a === 0 || b === 0;
    const ink = (isV: boolean): Ink => (faint ? "ink-quiet" : isV ? "gradient" : "ink");
    put(formatNumber(a, precision), ink(form.left.role === "v"), SUM, at > 0 ? SPACE : 0);
    if (right === null) return;
    put("·", "ink-quiet");
    put(formatNumber(b, precision), ink(form.left.role !== "v"));
  });
  if (sum.isSummed) {
    if (sum.terms.length === 0) put("0", "ink");
    const more = sum.isRestZero ? "player-more-zeros" : "player-more-terms";
    if (sum.leftOut > 0)
      put(
        `${sum.terms.length > 0 ? "+ " : ""}${label(more, { count: sum.leftOut })}`,
        "ink-quiet",
        QUIET,
        SPACE,
      );
    put("=", "ink-quiet", SUM, SPACE);
    if (!form.isTrue) {
      put(formatNumber(sum.product, precision), "ink", SUM, SPACE);
      put("≠", "problem", SUM, SPACE);
    }
    put(formatNumber(sum.total, precision), "ink", { ...SUM, bold: true }, SPACE);
    if (!form.isTrue) put(label("player-backward-returned"), "problem", QUIET);
    if (sum.entries > 1) {
      const entry = label("player-entry-of", { entry: String(sum.entry), total: String(sum.entries) });
      put(entry, "ink-quiet", QUIET, 2 * SPACE);
    }
  }
  return runs({ x: 0, y: 0 }, told);
}

const SPACE = 9;
const BELOW = SUM.size * 1.5;
const BETWEEN = 16;

/** The equations one below the other, in the largest numbers in which all have room; what has none is told in short. */
function fit(equations: readonly Equation[], room: Box, besides: readonly string[] = []): readonly Shape[] {
  for (let count = equations.length; count > 0; count -= 1) {
    const short = [...equations.slice(count).map(({ inShort }) => inShort), ...besides];
    const height = room.height - short.length * QUIET.size * LINE;
    const placed = placeAll(equations.slice(0, count), { width: room.width, height }, count === 1);
    if (placed === null) continue;
    const lines = linesOf(
      short.map((each) => cut(each, QUIET, room.width)),
      QUIET,
      "ink",
      { x: room.x, y: room.y + placed.height + GAP },
    );
    return [moved(placed.shapes, room), ...lines];
  }
  return [];
}

interface PlacedEquations extends Size {
  readonly shapes: readonly Shape[];
}

function placeAll(equations: readonly Equation[], room: Size, isLast: boolean): PlacedEquations | null {
  for (const size of NUMBER_SIZES) {
    const lines = equations.map((equation) => {
      const line = equation.draw(size);
      return line.width <= room.width ? line : equation.drawStacked(size);
    });
    const width = Math.max(0, ...lines.map((line) => line.width));
    const below = equations.map((equation) => (equation.below.length > 0 ? BELOW : 0));
    const height = lines.reduce((sum, line, at) => sum + line.height + (below[at] ?? 0) + BETWEEN, -BETWEEN);
    if (width <= room.width && height <= room.height) return together(lines, equations, { width, height });
    if (isLast && size === NUMBER_SIZES.at(-1)) {
      const k = Math.min(1, room.width / width, room.height / height);
      const { shapes } = together(lines, equations, { width, height });
      return {
        shapes: [{ kind: "group", children: shapes, at: { x: 0, y: 0, k } }],
        width: width * k,
        height: height * k,
      };
    }
  }
  return null;
}

function together(lines: readonly Line[], equations: readonly Equation[], size: Size): PlacedEquations {
  let y = 0;
  const shapes = lines.flatMap((line, at): Shape[] => {
    const top = y;
    const below = equations[at]?.below ?? [];
    y += line.height + (below.length > 0 ? BELOW : 0) + BETWEEN;
    return [
      ...line.blocks.map(({ block, at: place }) => moved(block.shapes, { x: place.x, y: place.y + top })),
      ...(below.length > 0 ? [moved(below, { x: 0, y: top + line.height + SUM.size * 1.1 })] : []),
    ];
  });
  return { shapes, ...size };
}
