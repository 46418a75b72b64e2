/** What the dock of a file says of a stop, as shapes: the sentence, the rule, v times J = returned per operand, one sum written out. */
import type { Box, Point, Size } from "../layout/geometry";
import { isTensor } from "../model/gradients";
import { formatNumber } from "../model/numbers";
import type { Coming } from "../model/queue";
import type { Gradient } from "../protocol/trace.gen";
import type { NoGrad } from "../words/nograds";
import { code, label, say, textOf } from "../words/say";
import { tellAttribute, tellSentence } from "../words/tell";
import { type Block, type Line, shapesOf, wordsBlock } from "./blocks";
import type { AccumulateCallout, CalloutScene, OperandEquation, Shown, VjpCallout } from "./equation";
import { firstFactor, firstOperand } from "./equation";
import { returnedFor } from "./form";
import { cut, widthOf, wrapped } from "./letters";
import type { LossOnTop } from "./loss";
import { oneLine } from "./oneline";
import { productForms } from "./product";
import { titled } from "./repeats";
import { savedWorthShowing } from "./saved";
import { type Ink, type Letters, moved, type Run, runs, type Shape, text } from "./shapes";
import {
  type Equation,
  lineOf,
  numberSizes,
  sizeIn,
  sizeOfProduct,
  writtenAccumulation,
  writtenForward,
  writtenInWords,
  writtenProduct,
  writtenSummands,
  writtenValue,
} from "./written";

export interface Opening {
  /** What goes into the outputs. */
  readonly seeds: readonly { readonly caption: string; readonly value: Gradient }[];
  readonly loss: LossOnTop | null;
  /** What the engine will run. */
  readonly coming: readonly Coming[];
  /** Leaves that somebody will miss a gradient of. */
  readonly without: readonly NoGrad[];
}

export interface DockView {
  readonly callout: CalloutScene | null;
  /** What is said of the stop. */
  readonly said: string;
  /** The same of every stop of its step: the longest has room at each of them. */
  readonly saidInStep: readonly string[];
  /** What is said in its place while the motion into the stop lasts; null behind it. */
  readonly saidBefore: string | null;
  /** `Step 3 of 7, multiply`. */
  readonly place: string;
  /** Before the pass. */
  readonly opening: Opening;
  readonly progress: number;
  readonly precision: number;
}

const SENTENCE: readonly Letters[] = [24, 22, 20, 18, 16, 14].map((size) => ({ size, face: "sans" }));
const MOST_SENTENCE = 0.34;
const TITLE: Letters = { size: 20, face: "sans", bold: true };
const QUIET: Letters = { size: 15, face: "sans" };
const RULE: Letters = { size: 18, face: "mono" };
const SUM: Letters = { size: 18, face: "mono" };
const REPORT: Letters = { size: 16, face: "sans" };
const PLACE: Letters = { size: 13, face: "sans" };
const NUMBER_SIZES = [32, 28, 24, 21, 18, 16, 14, 12.5] as const;
const SMALLEST = 12.5;
/** Of the page's: a file is read from the last row, or small beside a text. So it has the dock of a lecture hall. */
export const TYPE_SCALE = Math.max(...NUMBER_SIZES) / Math.max(...numberSizes(1));
const SUMMAND: Letters = { size: 18, face: "mono", bold: true };
const LINE = 1.32;
const GAP = 10;
const MOST_OPERANDS = 6;

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
  const most = room.height * MOST_SENTENCE;
  const lettersOf = (each: string): Letters => largest(each, room, most) ?? (SENTENCE.at(-1) as Letters);
  const high = Math.max(
    ...[view.said, ...view.saidInStep].map((each) => lettersHigh(each, lettersOf(each), room)),
  );
  const said = view.saidBefore ?? view.said;
  const letters = view.saidBefore === null ? lettersOf(said) : largest(said, room, high);
  if (letters !== undefined) put(wrapped(said, letters, room.width), letters, "ink");
  y = room.y + high + GAP;
  if (callout !== null) {
    const title = cut(callout.title, TITLE, room.width);
    const notes = cut(callout.notes.join(" · "), QUIET, room.width - widthOf(title, TITLE) - GAP);
    y += TITLE.size * LINE;
    shapes.push(text({ x: room.x, y: y - 5 }, title, TITLE, "ink"));
    if (notes !== "")
      shapes.push(text({ x: room.x + widthOf(title, TITLE) + GAP, y: y - 5 }, notes, QUIET, "ink-quiet"));
    for (const { said: report, ink, isSeen } of reportsOf(callout)) {
      const lines = wrapped(report, REPORT, room.width);
      if (isSeen) shapes.push(...linesOf(lines, REPORT, ink, { x: room.x, y }));
      y += lines.length * REPORT.size * LINE;
    }
  }
  const bottom = room.y + room.height - PLACE.size * LINE;
  const body = { x: room.x, y: y + GAP, width: room.width, height: bottom - y - 2 * GAP };
  shapes.push(...drawBody(view, body));
  shapes.push(text({ x: room.x, y: room.y + room.height - 2 }, view.place, PLACE, "ink-quiet"));
  return shapes;
}

/** What went wrong in the step, or why there is no gradient. Its room is kept from the step's first stop on. */
function reportsOf(callout: CalloutScene): readonly { said: string; ink: Ink; isSeen: boolean }[] {
  const { none, problem } = callout;
  const reports = [];
  if (none !== null) {
    reports.push({ said: noneSaid(none), ink: "ink-quiet" as const, isSeen: true });
  }
  if (problem !== null) {
    const said = [tellSentence(problem.fact), tellAttribute(problem.fact, "hint") ?? []]
      .map(textOf)
      .join(" ");
    reports.push({ said, ink: "problem" as const, isSeen: callout.phase === "land" });
  }
  return reports;
}

function noneSaid({ title, said }: NoGrad): string {
  return `${label("player-is-none", { name: title })} ${textOf(said)}`;
}

function largest(said: string, room: Size, height: number): Letters | undefined {
  return SENTENCE.find((letters) => lettersHigh(said, letters, room) <= height);
}

function lettersHigh(said: string, letters: Letters, room: Size): number {
  return wrapped(said, letters, room.width).length * letters.size * LINE;
}

/** An equation of the dock. */
interface Told {
  readonly equation: Equation;
  /** With all that the stops of the step show, one after another: it has the room of the largest at each of them. */
  readonly wholes: readonly Equation[];
  /** Where it has no room: `x: [2, 4]`. */
  readonly inShort: string;
  /** Between it and the next: a sum written out, now and once all is on show. */
  readonly sum: Block | null;
  readonly wholeSum: Block | null;
}

function drawBody(view: DockView, room: Box): readonly Shape[] {
  const { callout, precision } = view;
  if (callout === null) return drawOpening(view, room);
  if (callout.kind === "vjp") return drawVjp(callout, view, room);
  if (callout.kind === "accumulate") {
    const added = drawSummands(callout, callout.arrived, label("player-arrived"), view, room);
    const equation = told(writtenAccumulation(callout, view.progress, precision), callout.leaf);
    const rest = { ...room, y: room.y + added.height, height: room.height - added.height };
    return [...added.shapes, ...(inRoom([equation], rest) ?? [])];
  }
  const equation = told(writtenForward(callout, precision), callout.title);
  const saved = savedWorthShowing(callout.saved).map(
    (each) => `${each.label}${each.value === null ? "" : ` = ${oneLine(each.value, precision).text}`}`,
  );
  const kept =
    saved.length === 0
      ? []
      : wrapped(label("export-saved", { what: saved.join(", ") }), RULE, room.width).slice(0, 3);
  const lines = linesOf(callout.shown.landed ? kept : [], RULE, "forward", {
    x: room.x,
    y: room.y + room.height - kept.length * RULE.size * LINE,
  });
  const rest = { ...room, height: room.height - kept.length * RULE.size * LINE };
  return [...(inRoom([equation], rest) ?? []), ...lines];
}

/** As the page has it before the pass, and v itself. */
function drawOpening({ opening, precision }: DockView, room: Box): readonly Shape[] {
  const { seeds, loss, coming, without } = opening;
  const meaning = loss && textOf(say("page-loss-meaning", { output: code(loss.name) }));
  const lines = [...without.map(noneSaid), meaning ?? ""].flatMap((each) =>
    wrapped(each, REPORT, room.width),
  );
  const product = wordsBlock(loss === null ? [] : lossOf(loss, precision), room.width);
  const equations = seeds.map(({ caption, value }) =>
    told(writtenValue(value, caption, precision), `${caption}: ${oneLine(value, precision).text}`),
  );
  const y = room.y + lines.length * REPORT.size * LINE;
  const order = drawOrder(coming, { width: room.width, height: room.height * MOST_ORDER });
  const start = y + product.height + GAP;
  const rest = { ...room, y: start, height: room.y + room.height - order.height - start };
  return [
    ...linesOf(lines, REPORT, "ink", room),
    moved(product.shapes, { x: room.x, y }),
    ...(inRoom(equations, rest) ?? []),
    moved(order.shapes, { x: room.x, y: rest.y + rest.height }),
  ];
}

/** `L = v·y = 1·4 + 1·6 = 10` */
function lossOf({ name, v, y, loss }: LossOnTop, precision: number): readonly (readonly Run[])[] {
  const number = (each: number): string => formatNumber(each, precision);
  const factor = (each: number): string => (each < 0 ? `(${number(each)})` : number(each));
  const run = (written: string, ink: Ink): Run => ({ text: written, ...SUM, ink });
  return [
    [run(`L = v·${name} = `, "ink")],
    ...v.map((each, at) => [
      ...(at === 0 ? [] : [run(" + ", "ink")]),
      run(factor(each), "gradient"),
      run("·", "ink"),
      run(factor(y[at] ?? 0), "forward"),
    ]),
    [run(" = ", "ink"), { ...run(number(loss), "ink"), bold: true }],
  ];
}

/** What the engine will run, in its order; as much of it as has room. */
function drawOrder(coming: readonly Coming[], room: Size): PlacedEquations {
  if (coming.length === 0) return { shapes: [], width: 0, height: 0 };
  const nodesIn = (all: readonly Coming[]): number => all.reduce((sum, { nodeCount }) => sum + nodeCount, 0);
  const lines = wrapped(label("player-order", { count: nodesIn(coming) }), REPORT, room.width);
  const top = lines.length * REPORT.size * LINE + GAP;
  const chips = coming.map(chipOf);
  for (let count = coming.length; ; count -= 1) {
    const left = label("player-order-more", { count: nodesIn(coming.slice(count)) });
    const more = count < coming.length ? [drawChip([{ text: left, ...QUIET, ink: "ink-quiet" }], null)] : [];
    let [x, y] = [0, top];
    const shapes = [...chips.slice(0, count), ...more].map((chip) => {
      if (x > 0 && x + chip.width > room.width) [x, y] = [0, y + CHIP + CHIP_GAP];
      x += chip.width + CHIP_GAP;
      return moved(chip.shapes, { x: x - chip.width - CHIP_GAP, y });
    });
    const height = y + CHIP;
    if (height > room.height && count > 0) continue;
    return {
      shapes: [...linesOf(lines, REPORT, "ink", { x: 0, y: 0 }), ...shapes],
      width: room.width,
      height,
    };
  }
}

function chipOf({ number, node, title, group, nodeCount, waitsFor, raises }: Coming): Drawn {
  const isLeaf = node.kind === "accumulate_grad";
  const aside = (written: string): Run => ({ text: written, ...QUIET, ink: "ink-quiet", gap: 5 });
  return drawChip(
    [
      { ...aside(String(number)), gap: 0 },
      { text: titled(title, group), ...REPORT, bold: true, ink: "ink", gap: 5 },
      ...(nodeCount > 1 ? [aside(label("player-nodes", { count: nodeCount }))] : []),
      ...(isLeaf ? [aside(".grad")] : []),
      ...(raises ? [{ ...aside(`✗ ${label("player-raised")}`), ink: "problem" } as const] : []),
      ...(waitsFor > 1 ? [aside(label("player-order-waits", { count: waitsFor }))] : []),
    ],
    isLeaf ? "accumulated" : "line-strong",
  );
}

interface Drawn {
  readonly shapes: readonly Shape[];
  readonly width: number;
}

function drawChip(written: readonly Run[], line: Ink | null): Drawn {
  const width = written.reduce((sum, run) => sum + (run.gap ?? 0) + widthOf(run.text, run), 2 * GAP);
  const frame = { x: 0, y: 0, width, height: CHIP };
  const radius = line === "accumulated" ? CHIP / 2 : 6;
  return {
    width,
    shapes: [
      ...(line === null
        ? []
        : [{ kind: "rect", box: frame, radius, stroke: { ink: line, width: 1.5 } } as const]),
      ...runs({ x: GAP, y: 0.68 * CHIP }, written),
    ],
  };
}

const CHIP = 30;
const CHIP_GAP = 7;
/** Of the room below the sentence. */
const MOST_ORDER = 0.6;

function told(equation: Equation, inShort: string): Told {
  return { equation, wholes: [equation], inShort, sum: null, wholeSum: null };
}

function linesOf(lines: readonly string[], letters: Letters, ink: Ink, { x, y }: Point): readonly Shape[] {
  return lines.map((line, at) =>
    text({ x, y: y + (at + 1) * letters.size * LINE - letters.size * 0.3 }, line, letters, ink),
  );
}

/** Contributions and their sum, in the room that they need; none where there is nothing to add. */
function drawSummands(
  { summands, shown }: VjpCallout | AccumulateCallout,
  sum: Gradient,
  caption: string,
  { precision, progress }: DockView,
  { x, y, width }: Box,
): { readonly shapes: readonly Shape[]; readonly height: number } {
  const line = writtenSummands(
    { summands, sum, caption },
    { letters: SUMMAND, precision, width, hasBars: false, progress: shown.summing ? progress : 1 },
  );
  if (line === null) return { shapes: [], height: 0 };
  return { shapes: [moved(shapesOf(line), { x, y })], height: line.height + GAP };
}

function drawVjp(callout: VjpCallout, view: DockView, room: Box): readonly Shape[] {
  const first = firstOperand(callout);
  const inOrder = [...callout.operands].sort(
    (a, b) => Number(b.argnum === first) - Number(a.argnum === first),
  );
  const given = inOrder.filter(({ returned }) => isTensor(returned));
  const shown = (given.length > 0 ? given : inOrder).slice(0, MOST_OPERANDS);
  const added = drawSummands(callout, callout.sum, callout.sumCaption, view, room);
  const left = given.length - shown.length;
  const missing = inOrder.filter((operand) => !shown.includes(operand) && !isTensor(operand.returned));
  const inShort = [
    ...missing.map(({ label: name, returned }) => `${name}: ${oneLine(returned, view.precision).text}`),
    ...(left > 0 ? [label("export-operands-more", { count: left })] : []),
  ].join(", ");
  const besides = inShort === "" ? [] : [inShort];
  const drawBelow = (rules: readonly string[], mayShrink: boolean): readonly Shape[] | null => {
    const lines = rules.filter((rule) => rule !== "").map((rule) => cut(rule, RULE, room.width));
    const start = { ...room, y: room.y + added.height };
    const y = start.y + lines.length * RULE.size * LINE + GAP;
    const body = { ...room, y, height: room.y + room.height - y };
    const equations = shown.map((operand) => operandEquation(callout, operand, view, body));
    const drawn = inRoom(equations, body, besides, mayShrink);
    return drawn && [...linesOf(callout.shown.rule ? lines : [], RULE, "ink", start), ...drawn];
  };
  const rules = shown.map((operand) => ruleOf(callout, operand));
  // An equation that can be read is worth more than the rules of those that are told in short.
  return [...added.shapes, ...(drawBelow(rules, false) ?? drawBelow(rules.slice(0, 1), true) ?? [])];
}

function ruleOf(
  { formulaCheck, operands }: VjpCallout,
  { vjp, label: name, isExplained }: OperandEquation,
): string {
  if (vjp === null || vjp.text === "" || formulaCheck === false) return "";
  const unchecked = formulaCheck === null && isExplained ? ` (${label("player-unchecked")})` : "";
  return `${operands.length > 1 ? `${name}: ` : ""}${label("player-rule-returns")} ${vjp.text}${unchecked}`;
}

function operandEquation(callout: VjpCallout, operand: OperandEquation, view: DockView, room: Size): Told {
  const { precision, progress } = view;
  const { shown } = callout;
  const inShort = `${returnedFor(operand)}: ${shown.product ? oneLine(operand.returned, precision).text : "·"}`;
  const factor = firstFactor(operand);
  if (factor === undefined || (!isTensor(operand.returned) && callout.problem === null))
    return told(writtenValue(operand.returned, returnedFor(operand), precision), inShort);
  const [form] = productForms(callout.node, operand, factor, callout.saved);
  const look = { shown, precision, isAlone: false };
  if (form === undefined) {
    return told(writtenInWords(operand, factor, { ...look, progress }), inShort);
  }
  const whole = { ...look, jacobian: factor.jacobian };
  const { isOneLine, most } = sizeOfProduct(form, whole, {
    ...room,
    sizes: NUMBER_SIZES,
    tallest: room.height,
  });
  const inPlace = { ...whole, isOneLine, most, pointed: null };
  const equation = writtenProduct(form, { ...inPlace, progress });
  const lines = isOneLine ? [...(form.before ?? []), form] : [form];
  const wholes = lines.map((_, line) => {
    const pointed = isOneLine ? { line, place: { row: 0, column: 0 } } : null;
    return writtenProduct(form, { ...inPlace, pointed, shown: ALL_SHOWN, progress: 1 });
  });
  const isTelling = form.result.matrix.cells.length > 0 && form.rule !== "moved";
  const inRows = { letters: SUM, width: room.width, size: SUM.size, hovered: null };
  const [sum = null, wholeSum = null] = isTelling
    ? [equation, ...wholes.slice(-1)].map((each) => each.sum(inRows))
    : [];
  return { equation, wholes, inShort, sum, wholeSum };
}

const ALL_SHOWN: Shown = {
  summing: false,
  filling: false,
  entering: false,
  v: true,
  rule: true,
  product: true,
  landed: true,
};
const BELOW = 4;
const BETWEEN = 16;
const COLUMN_GAP = 48;

/**
 * The equations one below the other, in the largest numbers in which all have room; what has none is told in short.
 * Null where not even the first has, and it may not shrink.
 */
function inRoom(
  equations: readonly Told[],
  room: Box,
  besides: readonly string[] = [],
  mayShrink = true,
): readonly Shape[] | null {
  for (let count = equations.length; count > 0; count -= 1) {
    const short = [...equations.slice(count).map(({ inShort }) => inShort), ...besides];
    const height = room.height - short.length * QUIET.size * LINE;
    const placed = placeAll(
      equations.slice(0, count),
      { width: room.width, height },
      mayShrink && count === 1,
    );
    if (placed === null) continue;
    const lines = linesOf(
      short.map((each) => cut(each, QUIET, room.width)),
      QUIET,
      "ink",
      { x: room.x, y: room.y + placed.height + GAP },
    );
    return [moved(placed.shapes, room), ...lines];
  }
  return equations.length === 0 ? [] : null;
}

interface PlacedEquations extends Size {
  readonly shapes: readonly Shape[];
}

/** In as many columns as give the largest numbers. */
function placeAll(all: readonly Told[], room: Size, isLast: boolean): PlacedEquations | null {
  let [best, columns] = [0, 1];
  for (let count = 1; count <= all.length; count += 1) {
    const width = widthOfColumn(room, count);
    // A sum takes more lines before it keeps its equation from standing alone.
    if (count > 1 && all.some(({ wholeSum }) => (wholeSum?.width ?? 0) > width)) break;
    const size = Math.min(...inColumns(all, count).map((each) => sizeOf(each, { ...room, width })));
    if (size > best) [best, columns] = [size, count];
  }
  if (best === 0 && !isLast) return null;
  let [x, width, height] = [0, 0, 0];
  const shapes = inColumns(all, columns).map((each): Shape => {
    const placed = together(each, (equation) =>
      lineOf(equation, best || SMALLEST, widthOfColumn(room, columns)),
    );
    const left = x;
    width = left + placed.width;
    height = Math.max(height, placed.height);
    x += Math.max(placed.width, ...each.map(({ wholeSum }) => wholeSum?.width ?? 0)) + COLUMN_GAP;
    return moved(placed.shapes, { x: left, y: 0 });
  });
  if (best > 0) return { shapes, width, height };
  const k = Math.min(1, room.width / width, room.height / height);
  return {
    shapes: [{ kind: "group", children: shapes, at: { x: 0, y: 0, k } }],
    width: width * k,
    height: height * k,
  };
}

function widthOfColumn({ width }: Size, count: number): number {
  return (width - (count - 1) * COLUMN_GAP) / count;
}

function inColumns(all: readonly Told[], count: number): readonly (readonly Told[])[] {
  const each = Math.ceil(all.length / count);
  return Array.from({ length: Math.ceil(all.length / each) }, (_, at) =>
    all.slice(at * each, (at + 1) * each),
  );
}

/** In which these have room, one below the other; 0 where there is none. */
function sizeOf(all: readonly Told[], room: Size): number {
  const height = all.reduce((left, { wholeSum }) => left - heightOfSum(wholeSum), room.height);
  const most = Math.max(1, ...all.map(({ wholes }) => wholes.length));
  const sizes = Array.from({ length: most }, (_, at) => {
    const shown = all.flatMap(({ wholes }) => wholes[at] ?? wholes.at(-1) ?? []);
    return sizeIn(shown, NUMBER_SIZES, { ...room, height }, BETWEEN) ?? 0;
  });
  return Math.min(...sizes);
}

function heightOfSum(sum: Block | null): number {
  return sum === null ? 0 : sum.height + BELOW;
}

function together(all: readonly Told[], lineFor: (equation: Equation) => Line): PlacedEquations {
  let [y, width] = [0, 0];
  const shapes = all.flatMap(({ equation, wholes, sum, wholeSum }): Shape[] => {
    const lines = wholes.map(lineFor);
    const high = Math.max(...lines.map((line) => line.height));
    const drawn = moved(shapesOf(lineFor(equation)), { x: 0, y });
    const below = sum === null ? [] : [moved(sum.shapes, { x: 0, y: y + high })];
    width = Math.max(width, ...lines.map((line) => line.width));
    y += high + heightOfSum(wholeSum) + BETWEEN;
    return [drawn, ...below];
  });
  return { shapes, width, height: y - BETWEEN };
}
