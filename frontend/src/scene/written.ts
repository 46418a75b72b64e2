/** What the dock writes of a stop, part by part: v times J = returned, one sum of it, contributions, `.grad`, a forward operation. */
import { between, type Point, type Size } from "../layout/geometry";
import { isTensor, normOf } from "../model/gradients";
import { cellAt, elementCount, type Matrix, matrixOf } from "../model/matrix";
import { formatNumber, toNumber } from "../model/numbers";
import type { Gradient } from "../protocol/trace.gen";
import { label } from "../words/say";
import { structureText } from "../words/structure";
import { shapeText } from "../words/values";
import {
  type Block,
  cellCentre,
  digitsAt,
  flowing,
  inLine,
  type Line,
  namedBlock,
  operatorBlock,
  overlay,
  pictureBlock,
  tableBlock,
  valueBlock,
  wordsBlock,
} from "./blocks";
import type {
  AccumulateCallout,
  Factor,
  ForwardCallout,
  OperandEquation,
  Shown,
  VjpCallout,
} from "./equation";
import { refusedFor } from "./equation";
import {
  agreesAt,
  derivative,
  type Factoring,
  MOST_SHOWN,
  type Place,
  type ProductForm,
  placeOf,
  type Rule,
  returnedFor,
  type Side,
  samePlace,
  type Term,
  V_CAPTION,
} from "./form";
import type { CellMark } from "./gradcheck";
import { widthOf } from "./letters";
import { addingAt, multiplyingAt, type Spot, shareOf } from "./multiplying";
import { oneLine } from "./oneline";
import type { Ink, Letters, Run, Shape } from "./shapes";
import { text } from "./shapes";
import { thumbnailOf } from "./thumbnail";
import { ease } from "./tokens";

/**
 * The parts of one equation, at a size of its numbers; what is written together stays together.
 * @param across as in `Captioned`
 */
export type Parts = (size: number, across?: number) => readonly (readonly Block[])[];

/** Tried in turn where parts have no room side by side. */
const NARROWER = [150, 100] as const;

export interface Equation {
  readonly parts: Parts;
  /** Whether its tables and captions can be narrower, `across`. */
  readonly isFlexible?: boolean;
  /** Each part is a line of its own. */
  readonly isStacked?: boolean;
  /** What flies over the parts. */
  readonly over?: (line: Line, size: number) => readonly Shape[];
}

/** In one line where it has room, else in rows, as few as narrower tables and captions make it. */
export function lineOf(equation: Equation, size: number, width: number): Line {
  const line = flown(equation, size, width);
  const above = equation.over?.(line, size) ?? [];
  return above.length === 0
    ? line
    : { ...line, blocks: [...line.blocks, { block: overlay(above), at: { x: 0, y: 0 } }] };
}

function flown({ parts, isFlexible, isStacked }: Equation, size: number, width: number): Line {
  const drawn = parts(size);
  if (isStacked) return flowing([drawn], 0);
  const whole = inLine(drawn.flat());
  if (whole.width <= width) return whole;
  const narrower = isFlexible ? NARROWER : [];
  return flowing([drawn, ...narrower.map((across) => parts(size, across))], width);
}

/** Numbers stay in one line down to here; smaller ones would be harder to read than two rows. */
const IN_ONE_LINE = 15;

/** The largest of `sizes` in which all have room, one below the other; null where none is small enough. */
export function sizeIn(
  equations: readonly Equation[],
  sizes: readonly number[],
  room: Size,
  between: number,
): number | null {
  const fits = (size: number, isWhole: boolean): boolean => {
    const lines = equations.map((equation) =>
      flown(equation, size, isWhole ? Number.POSITIVE_INFINITY : room.width),
    );
    const height = lines.reduce((total, line) => total + line.height + between, -between);
    return height <= room.height && lines.every((line) => line.width <= room.width);
  };
  const large = sizes.filter((size) => size >= IN_ONE_LINE);
  return firstOf(large, (size) => fits(size, true)) ?? firstOf(sizes, (size) => fits(size, false));
}

/** Draws its parts once at each size, however often that is tried. */
function remembered(equation: Equation): Equation {
  const drawn: Record<string, ReturnType<Parts>> = {};
  return { ...equation, parts: (...at) => (drawn[String(at)] ??= equation.parts(...at)) };
}

/** The first of some that are alike from there on; null where there is none. Few are looked at. */
function firstOf(sizes: readonly number[], isAlike: (size: number) => boolean): number | null {
  let [before, from] = [-1, sizes.length];
  while (from - before > 1) {
    const middle = (before + from) >> 1;
    if (isAlike(sizes[middle] as number)) from = middle;
    else before = middle;
  }
  return sizes[from] ?? null;
}

/** Where an equation of the page stands. */
export interface Room extends Size {
  /** Of its numbers, the largest first. */
  readonly sizes: readonly number[];
  /** So high an equation may be that would not be whole otherwise. */
  readonly tallest: number;
}

export interface DockRoom extends Room {
  /** From below the sentence down, without gaps and a sum: for what stands above and below the equation as well. */
  readonly whole: number;
}

/** From this type scale on, a page is read from the last row, */
const PROJECTED_FROM = 1.5;
/** and no number is smaller. */
const LEAST_PROJECTED = 16.5;

export function numberSizes(typeScale: number): readonly number[] {
  const least = typeScale >= PROJECTED_FROM ? LEAST_PROJECTED : 12;
  return [22, 20, 18, 16.5, 15, 14, 13, 12].filter((size) => size >= least);
}

/** The largest size in which it has room, else the smallest. */
export function sizeInRoom(equation: Equation, room: Room): number {
  return wholeIn(equation, room) ?? Math.min(...room.sizes);
}

function wholeIn(equation: Equation, room: Room): number | null {
  const known = remembered(equation);
  const within = (height: number) => sizeIn([known], room.sizes, { ...room, height }, 0);
  return within(room.height) ?? within(room.tallest);
}

export interface ProductLook {
  readonly shown: Shown;
  /** 0 to 1, of the motion in which the entries of the result come about. */
  readonly progress: number;
  readonly precision: number;
  /** The entry whose sum is told; null: the first. */
  readonly pointed: Entry | null;
  /** The local Jacobian without v and product. */
  readonly isAlone: boolean;
  readonly jacobian: Factor["jacobian"];
  /** Of a product in several lines, the one at work and no other. */
  readonly isOneLine?: boolean;
  /** Rows and columns of a table that has more, those at work among them. */
  readonly most?: number;
  /** Whether v can be asked what it means. */
  readonly isAsked?: boolean;
}

/** An entry of a line of the product. */
export interface Entry {
  readonly line: number;
  readonly place: Place;
}

export interface WrittenProduct extends Equation {
  /** The entry at work, or pointed at. */
  readonly current: Entry;
  /** Its sum; null while there is nothing of it. */
  readonly sum: (look: SumLook) => Block | null;
}

/** v and J in numbers, and what is made of them; where that takes several lines, one below the other. */
export function writtenProduct(form: ProductForm, look: ProductLook): WrittenProduct {
  const { shown, progress, pointed, isAlone } = look;
  const forms = isAlone ? [form] : [...(form.before ?? []), form];
  const isMoving = shown.entering && progress < 1;
  const share = (at: number): number => (isMoving ? shareOf(at, forms.length, progress) : 1);
  const atWork = forms.findIndex((_, at) => share(at) < 1);
  const current = isMoving
    ? Math.max(0, atWork)
    : Math.min(pointed?.line ?? (shown.product ? forms.length : 1) - 1, forms.length - 1);
  const isMade = (at: number): boolean => shown.product && share(at) >= 1;
  const lines = forms.map((each, at) => {
    const place = at === pointed?.line ? pointed.place : null;
    const isLast = at === forms.length - 1 || look.isOneLine === true;
    const seen = { hasV: isSummed(shown, progress), isCurrent: at === current, isLast, isMade };
    return writtenLine(each, { ...look, ...seen, pointed: place, progress: share(at) }, at);
  });
  const line = lines[current];
  const isStacked = lines.length > 1 && look.isOneLine !== true;
  return {
    parts: (...at) =>
      isStacked ? lines.map(({ parts }) => parts(...at).flat()) : (line?.parts(...at) ?? []),
    isFlexible: true,
    isStacked,
    over: (drawn, size) => lines.flatMap(({ over }) => over(drawn, size)),
    current: { line: current, place: line?.current ?? { row: 0, column: 0 } },
    sum: (sumLook) => (shown.product && !isAlone && line ? line.sum(sumLook) : null),
  };
}

export interface ProductSize {
  readonly size: number;
  readonly isOneLine: boolean;
  readonly most: number;
}

/** Rows and columns of a table that are drawn where it has no room as it is. */
const PARTS = [MOST_SHOWN, 8, 6, 4, 3, 2, 1] as const;

/**
 * The size in which a product has room at any time of its motion; where it has none, of several lines one at a time,
 * and of its tables a part.
 */
export function sizeOfProduct(
  form: ProductForm,
  look: Omit<ProductLook, "progress" | "pointed">,
  room: Room,
): ProductSize {
  const still = { ...look, progress: 1 };
  const whole = wholeIn(writtenProduct(form, { ...still, pointed: null }), room);
  if (whole !== null) return { size: whole, isOneLine: false, most: MOST_SHOWN };
  const first = { row: 0, column: 0 };
  const lines = [...(form.before ?? []), form].map((_, line) => ({ line, place: first }));
  const sizes = (most: number): readonly (number | null)[] =>
    lines.map((pointed) => {
      return wholeIn(writtenProduct(form, { ...still, isOneLine: true, most, pointed }), room);
    });
  const least = Math.min(...room.sizes);
  const most = PARTS.find((each) => sizes(each).every((size) => size !== null)) ?? (PARTS.at(-1) as number);
  return { size: Math.min(...sizes(most).map((size) => size ?? least)), isOneLine: true, most };
}

/** By these, entries that have met a number go to places of their own: no product has that shape. */
const PLACING: ReadonlySet<Rule> = new Set(["dealt", "folded", "moved"]);

interface LineLook extends Omit<ProductLook, "pointed"> {
  readonly pointed: Place | null;
  readonly hasV: boolean;
  readonly isCurrent: boolean;
  /** Of several, the one that has room for shapes. */
  readonly isLast: boolean;
  /** Whether a line has made its result. */
  readonly isMade: (line: number) => boolean;
}

function writtenLine(form: ProductForm, look: LineLook, at: number) {
  const { shown, progress, precision, pointed, isAlone, isCurrent, isMade } = look;
  const isMoving = shown.entering && progress < 1;
  const moving = multiplyingAt(form, progress);
  const { rows, columns } = form.result.matrix;
  const current = isMoving
    ? moving.current
    : pointed === null
      ? firstEntry(form)
      : { row: Math.min(pointed.row, rows - 1), column: Math.min(pointed.column, columns - 1) };
  const terms = form.termsAt(current);
  const right = form.rightAt(current);
  /** By row: whether it meets another table than the one that is drawn. */
  const isApart = form.result.matrix.cells
    .slice(0, rows)
    .map((_, row) => form.rightAt({ ...current, row })?.caption !== right?.caption);
  const isRevealed = ({ role, from }: Factoring): boolean => {
    if (role === "result") return shown.product;
    if (from !== undefined) return isMade(from);
    return role === "v" ? look.hasV : shown.rule;
  };
  const block = (table: Factoring, side: Side | "result", size: number, across?: number): Block =>
    tableBlock(table.matrix, {
      across,
      name: table.from === undefined ? nameOf(table) : table.caption,
      side,
      line: at,
      caption: table.caption,
      captionInk: table.role === "jacobian" ? "forward" : "gradient",
      shape: look.isLast ? shapeOf(table) : "",
      note: structureOf(table, form, look.jacobian),
      size,
      precision,
      ...(look.most !== undefined && { most: look.most }),
      near: side === "result" ? current : (terms.find((term) => term[side] !== null)?.[side] ?? current),
      isAsked: look.isAsked === true && table.role === "v",
      isWritten: (place) => isRevealed(table) && (side !== "result" || moving.isWritten(place)),
      isLit: (place) => {
        if (!shown.product || isAlone || !isCurrent) return false;
        if (side === "result") return samePlace(place, current);
        return terms.some((term) => term[side] !== null && samePlace(term[side], place));
      },
      isAside: ({ row }) => side !== "right" && isApart[row] === true,
    });
  const parts: Parts = (size, across) => {
    if (isAlone)
      return [
        [
          form.left.role === "jacobian" || right === null
            ? block(form.left, "left", size)
            : block(right, "right", size),
        ],
      ];
    return [
      [block(form.left, "left", size, across)],
      ...(right === null ? [] : [[operatorBlock(form.operator), block(right, "right", size, across)]]),
      [
        form.isTrue || !shown.product || isMoving
          ? operatorBlock(right === null ? form.operator : PLACING.has(form.rule) ? "→" : "=")
          : operatorBlock("≠", "problem"),
        block(form.result, "result", size, across),
      ],
    ];
  };
  const flights = shown.product && !isAlone ? moving.flights : [];
  const over = (line: Line, size: number): readonly Shape[] =>
    flights.flatMap(({ from, to, share, value }) => {
      const [start, end] = [spotIn(line, from, at), spotIn(line, to, at)];
      if (start === null || end === null) return [];
      return chip(formatNumber(value, digitsAt(size, precision)), between(start, end, share), size);
    });
  const sum = (sumLook: SumLook): Block | null => sumBlock(form, current, moving, sumLook, precision);
  return { parts, over, current, sum };
}

function nameOf({ role }: Factoring): string {
  return role === "v" ? "v" : label(role === "jacobian" ? "player-jacobian" : "player-v-times-j");
}

/** Where a cell stands in a line; null for one that is not drawn. */
function spotIn(line: Line, { table, place }: Spot, at = 0): Point | null {
  const found = line.blocks.find(({ block }) => block.table?.side === table && block.table.line === at);
  const centre = found?.block.table ? cellCentre(found.block.table, place) : null;
  return found === undefined || centre === null
    ? null
    : { x: found.at.x + centre.x, y: found.at.y + centre.y };
}

function chip(written: string, at: Point, size: number, isHeld = false): readonly Shape[] {
  const letters: Letters = { size, face: "mono", bold: true };
  const width = widthOf(written, letters) + 12;
  const box = { x: at.x - width / 2, y: at.y - 0.75 * size, width, height: 1.5 * size };
  return [
    {
      kind: "rect",
      box,
      radius: 6,
      fill: isHeld ? "surface" : "gradient-soft",
      stroke: { ink: isHeld ? "accumulated" : "gradient", width: 1.5 },
    },
    text({ x: at.x, y: at.y + 0.36 * size }, written, letters, "ink", "middle"),
  ];
}

const SHAPE: Letters = { size: 13, face: "sans" };

/** `[2 × 3]`; sizes that must agree with those beside them stand out. */
function shapeOf({ shape, flattenedFrom }: Factoring): readonly Run[] {
  const run = (written: string, ink: Ink, bold = false): Run => ({ ...SHAPE, text: written, ink, bold });
  const from = flattenedFrom === null ? "" : ` ${label("player-from", { name: flattenedFrom })}`;
  if (shape.length === 0) return [run(`${label("player-scalar")}${from}`, "ink-quiet")];
  const each = shape.flatMap(({ size, matching }, at) => [
    ...(at > 0 ? [run(" × ", "ink-quiet")] : []),
    matching ? run(String(size), "gradient", true) : run(String(size), "forward"),
  ]);
  return [run("[", "ink-quiet"), ...each, run(`]${from}`, "ink-quiet")];
}

function structureOf(table: Factoring, form: ProductForm, jacobian: Factor["jacobian"]): string {
  const isTold = jacobian !== null && jacobian.structure !== null && jacobian.structure !== "dense";
  // With those of other outputs below it, it is no longer diagonal.
  const isWhole = isTold && elementCount(jacobian.output_shape) === table.matrix.rows;
  if (!isWhole || table.role !== "jacobian" || form.view !== "jacobian" || table.matrix.cells.length < 2)
    return "";
  return structureText(jacobian);
}

export interface SumLook {
  readonly letters: Letters;
  /** Of its lines. */
  readonly width: number;
  /** Of the numbers in the tables, which have as many digits. */
  readonly size: number;
  readonly hovered: { side: Side; place: Place } | null;
}

/** The entry that is told where nobody points at another: the first that is not the product, else not zero. */
function firstEntry({ result: { matrix }, isTrue, termsAt }: ProductForm): Place {
  const at = matrix.cells.findIndex((cell, index) =>
    isTrue ? toNumber(cell) !== 0 : !agreesAt(matrix, termsAt, placeOf(matrix, index)),
  );
  return placeOf(matrix, Math.max(0, at));
}

const MOST_TERMS = 6;

/** `3·1 + 2·0 = 3, entry 1 of 2`: the products in an entry as far as they have fallen in, and what they add up to. */
function sumBlock(
  form: ProductForm,
  current: Place,
  moving: ReturnType<typeof multiplyingAt>,
  { letters, width, size, hovered }: SumLook,
  precision: number,
): Block | null {
  const { matrix } = form.result;
  const all = form.termsAt(current);
  const isZero = ({ a, b }: Term): boolean => a === 0 || b === 0;
  const told = all.length <= MOST_TERMS ? all : all.filter((term) => !isZero(term)).slice(0, MOST_TERMS);
  const terms = told.filter((term) => all.indexOf(term) < moving.landed);
  const isSummed = moving.isWritten(current);
  if (terms.length === 0 && !isSummed) return null;
  const space = letters.size / 2;
  const quiet: Letters = { size: letters.size * 0.84, face: "sans" };
  const run = (written: string, ink: Ink, look: Letters = letters, gap = 0): Run => ({
    text: written,
    ...look,
    ink,
    gap,
  });
  const number = (cell: Parameters<typeof formatNumber>[0]): string =>
    formatNumber(cell, digitsAt(size, precision));
  const groups: Run[][] = terms.map((term, at) => {
    const { a, b, right } = term;
    const place = hovered === null ? null : term[hovered.side];
    const bold = { ...letters, bold: hovered !== null && place !== null && samePlace(place, hovered.place) };
    const ink = (isV: boolean): Ink => (isZero(term) ? "ink-quiet" : isV ? "gradient" : "ink");
    return [
      ...(term.left === null
        ? [run("−", "ink-quiet", letters, space)]
        : at > 0
          ? [run("+", "ink-quiet", letters, space)]
          : []),
      run(number(a), ink(form.left.role === "v"), bold, at > 0 ? space : 0),
      ...(term.left === null || right === null
        ? []
        : [run("·", "ink-quiet"), run(number(b), ink(form.left.role !== "v"), bold)]),
    ];
  });
  if (isSummed) {
    if (terms.length === 0) groups.push([run("0", "ink")]);
    const leftOut = all.filter((term) => !told.includes(term));
    if (leftOut.length > 0) {
      const key = leftOut.every(isZero) ? "player-more-zeros" : "player-more-terms";
      const more = label(key, { count: leftOut.length });
      groups.push([run(terms.length > 0 ? `+ ${more}` : more, "ink-quiet", quiet, space)]);
    }
    const total = run(
      number(cellAt(matrix, current.row, current.column)),
      "ink",
      { ...letters, bold: true },
      space,
    );
    // Where backward returned something else than v times J, both are told.
    const product = all.reduce((sum, { a, b }) => sum + toNumber(a) * toNumber(b), 0);
    if (agreesAt(matrix, form.termsAt, current)) groups.push([run("=", "ink-quiet", letters, space), total]);
    else
      groups.push(
        [run("=", "ink-quiet", letters, space), run(number(product), "ink", letters, space)],
        [
          run("≠", "problem", letters, space),
          total,
          run(label("player-backward-returned"), "problem", quiet, space),
        ],
      );
  }
  const block = wordsBlock(groups, width);
  if (!isSummed || matrix.cells.length < 2) return block;
  const nth = current.row * matrix.columns + current.column + 1;
  const entry = label("player-entry-of", { entry: String(nth), total: String(matrix.cells.length) });
  const longer = wordsBlock([...groups, [run(entry, "ink-quiet", quiet, 2 * space)]], width);
  // What is lit says the same: it is worth no line.
  return longer.height > block.height ? block : longer;
}

/** Whether v is there: it may still be a sum that comes about. */
function isSummed(shown: Shown, progress: number): boolean {
  return shown.v && !(shown.summing && progress < 1);
}

export interface WordsLook {
  readonly shown: Shown;
  readonly progress: number;
  readonly precision: number;
  readonly isAlone: boolean;
  /** Whether a Jacobian that was left out while tracing can be asked for, and numbers that are only summed up. */
  readonly canCompute?: boolean;
  readonly hasNumbers?: boolean;
}

/** v times J = returned where J is not written out: pictures, shapes, and J described. */
export function writtenInWords(operand: OperandEquation, { v, jacobian }: Factor, look: WordsLook): Equation {
  const { returned } = operand;
  const { shown, progress, precision, isAlone, canCompute = false, hasNumbers = false } = look;
  const outputShape = jacobian?.output_shape ?? (isTensor(v) ? v.shape : []);
  const inputShape = jacobian?.input_shape ?? (isTensor(returned) ? returned : operand.value)?.shape ?? [];
  const isWritten = shown.product && (!shown.entering || progress >= 1);
  const kept = isTensor(returned) ? undefined : returned.dropped;
  const refused = refusedFor(operand);
  const seen = jacobian !== null && "shape" in jacobian.value ? jacobian.value : null;
  const isAsked = canCompute && seen === null && jacobian !== null && jacobian.structure !== "too_large";
  const words =
    jacobian?.structure && !isAsked
      ? structureText(jacobian)
      : label(
          isAsked
            ? "player-compute-jacobian"
            : operand.isExplained
              ? "player-not-written-out"
              : "player-not-yet",
        );
  const note = seen !== null && !jacobian?.structure ? "" : words;
  return {
    parts: (size) => {
      const around = {
        caption: derivative(operand),
        captionInk: "forward" as const,
        shape: `${shapeText(outputShape)} × ${shapeText(inputShape)}`,
        note,
      };
      const value = (
        gradient: Gradient,
        caption: string,
        name: string,
        isThere: boolean,
        captionInk: Ink = "gradient",
      ): Block =>
        valueBlock(gradient, {
          caption,
          captionInk,
          name,
          size,
          precision,
          isWritten: () => isThere,
          hasNumbers,
        });
      // Nothing is multiplied where backward raised; what J is, is all the more wanted.
      const isRaised = seen !== null && jacobian?.differences?.verdict === "raised";
      const matrix = isRaised && { ...seen, shape: [elementCount(outputShape), elementCount(inputShape)] };
      const local = matrix
        ? value(matrix, around.caption, "J", true, "forward")
        : pictureBlock(seen, around, isAsked);
      if (isAlone) return [[local]];
      const isStack = isTensor(v) && jacobian !== null && v.shape.length > outputShape.length;
      const called = isStack ? label("player-row-vs", { count: v.shape[0] ?? 0 }) : V_CAPTION;
      const operands = [[value(v, called, "v", isSummed(shown, progress))], [operatorBlock("×"), local]];
      if (refused !== null && isWritten) {
        const caption = label("player-refused-for", { name: operand.name });
        return [
          ...operands,
          [operatorBlock("≠", "problem"), value(refused, caption, caption, true, "problem")],
        ];
      }
      return [
        ...operands,
        [
          operatorBlock("="),
          value(kept ?? returned, returnedFor(operand), label("player-v-times-j"), isWritten),
        ],
      ];
    },
  };
}

/** What was given for an operand where that is no product: nothing, or v as it is. */
export function writtenValue(value: Gradient, caption: string, precision: number): Equation {
  return {
    parts: (size) => [[valueBlock(value, { caption, captionInk: "gradient", size, precision })]],
  };
}

/** `.grad` before + arrived = after: entry by entry, both fall into the sum. */
export function writtenAccumulation(
  callout: AccumulateCallout,
  progress: number,
  precision: number,
  hasNumbers = false,
): Equation {
  const noneOf = (gradient: Gradient) =>
    !isTensor(gradient) && ["not_computed", "undefined"].includes(gradient.missing) ? { none: "None" } : {};
  const { leaf, before, arrived, after, shown } = callout;
  const matrix = isTensor(after) ? matrixOf(after) : null;
  const isMoving = shown.landed && progress < 1;
  const way = addingAt(matrix?.cells.length ?? 1, isMoving ? progress : 1);
  const isThere = ({ row, column }: Place): boolean =>
    shown.landed && way(matrix === null ? 0 : row * matrix.columns + column) >= 1;
  return {
    parts: (size) => {
      const look = { size, precision, hasNumbers };
      const held = { ...look, captionInk: "accumulated" } as const;
      const was = label("player-grad-before", { leaf });
      const came = label("player-arrived");
      return [
        [
          valueBlock(before, {
            ...held,
            caption: was,
            side: "left",
            isWritten: () => shown.rule,
            ...noneOf(before),
          }),
        ],
        [
          operatorBlock("+"),
          valueBlock(arrived, {
            ...look,
            caption: came,
            captionInk: "gradient",
            side: "right",
            isWritten: () => isSummed(shown, progress),
          }),
        ],
        [
          operatorBlock("="),
          valueBlock(after, {
            ...held,
            caption: label("player-grad-after", { leaf }),
            side: "result",
            isWritten: isThere,
            ...noneOf(after),
          }),
        ],
      ];
    },
    over: (line, size) => {
      if (!isMoving || matrix === null) return [];
      return matrix.cells.flatMap((_, index) => {
        const share = way(index);
        if (share <= 0 || share >= 1) return [];
        const place = placeOf(matrix, index);
        const to = spotIn(line, { table: "result", place });
        return (["left", "right"] as const).flatMap((table) => {
          const value = table === "left" ? before : arrived;
          const cell = isTensor(value) ? value.data?.[index] : undefined;
          const from = spotIn(line, { table, place });
          if (from === null || to === null || cell === undefined) return [];
          const written = formatNumber(cell, digitsAt(size, precision));
          return chip(written, between(from, to, ease(share)), size, table === "left");
        });
      });
    },
  };
}

const MOST_OPERANDS = 6;

/** Operands in, results out; of many operands, how many are left out. */
export function writtenForward(callout: ForwardCallout, precision: number, hasNumbers = false): Equation {
  return {
    parts: (size) => {
      const look = { size, precision, captionInk: "forward" as const, hasNumbers };
      const operands = callout.operands
        .slice(0, MOST_OPERANDS)
        .map(({ name, value }) => valueBlock(value, { ...look, caption: name }));
      const left = callout.operands.length - operands.length;
      const more = left > 0 ? [operatorBlock(label("export-operands-more", { count: left }))] : [];
      const outputs = callout.outputs.slice(0, MOST_OPERANDS).map(({ name, value }) =>
        valueBlock(value, {
          ...look,
          caption: name ?? label("player-result"),
          isWritten: () => callout.shown.product,
        }),
      );
      const inTurn = operands.map((block, at) => (at === 0 ? [block] : [operatorBlock(","), block]));
      return [...inTurn, ...(more.length > 0 ? [more] : []), [operatorBlock("→"), ...outputs]];
    },
  };
}

const MOST_SUMMANDS = 6;
const LARGEST_SUMMANDS = 3;
const BAR_PX = 3;
const BARS_PX = 40;

export interface SummandsLook {
  readonly letters: Letters;
  readonly precision: number;
  readonly width: number;
  /** Whether all are to be seen, as bars. */
  readonly hasBars: boolean;
  /** 0 to 1, of the motion in which they fall into their sum. */
  readonly progress: number;
}

/** Contributions and their sum; of many, the largest, and all as bars where that is wanted. Null where there is nothing to add. */
export function writtenSummands(
  {
    summands,
    sum,
    caption,
  }: { readonly summands: VjpCallout["summands"]; readonly sum: Gradient; readonly caption: string },
  { letters, precision, width, hasBars, progress }: SummandsLook,
): Line | null {
  if (summands.length < 2) return null;
  const norms = summands.map(({ value }) => (isTensor(value) ? normOf(value) : 0));
  const isLong = summands.length > MOST_SUMMANDS;
  const all = summands.map((summand, at) => ({ ...summand, norm: norms[at] ?? 0 }));
  const shown = isLong ? all.toSorted((a, b) => b.norm - a.norm).slice(0, LARGEST_SUMMANDS) : all;
  const named = (value: Gradient, below: string, isSum: boolean): Block => {
    const { kind, text: written } = oneLine(value, precision);
    const picture = kind === "shape" && isTensor(value) ? thumbnailOf(value, 2) : null;
    return namedBlock({ text: written, ...letters, ink: "gradient" }, below, {
      isSum,
      isThere: !isSum || progress >= 1,
      picture,
    });
  };
  const terms = shown.map(({ value, from }, at) => {
    const block = named(value, label("player-from", { name: from }), false);
    return at === 0 ? [block] : [operatorBlock("+"), block];
  });
  const more = isLong
    ? [[operatorBlock("+"), restBlock(summands.length - LARGEST_SUMMANDS, norms, hasBars)]]
    : [];
  const line = flowing([[...terms, ...more, [operatorBlock("="), named(sum, caption, true)]]], width);
  if (progress <= 0 || progress >= 1) return line;
  const centreOf = ({ block, at }: Line["blocks"][number]): Point => ({
    x: at.x + block.width / 2,
    y: at.y + letters.size * 0.65,
  });
  const last = line.blocks.at(-1);
  const flights = shown.flatMap(({ value }, at) => {
    // Between two of them stands a sign.
    const part = line.blocks[2 * at];
    if (part === undefined || last === undefined) return [];
    const way = between(centreOf(part), centreOf(last), ease(progress));
    return chip(oneLine(value, precision).text, way, letters.size);
  });
  return { ...line, blocks: [...line.blocks, { block: overlay(flights), at: { x: 0, y: 0 } }] };
}

/** `497 more`, and how large each contribution is. */
function restBlock(count: number, norms: readonly number[], hasBars: boolean): Block {
  const words = wordsBlock(
    [[{ text: label("player-summands-more", { count }), size: 15, face: "sans", ink: "ink-quiet" }]],
    400,
  );
  const most = Math.max(...norms.filter(Number.isFinite), 0) || 1;
  const height = (norm: number): number => Math.max(1, Math.min(1, norm / most) * BARS_PX);
  const bars: Shape = {
    kind: "path",
    d: norms.map((norm, at) => `M${BAR_PX * at + 1} ${words.height + 4 + BARS_PX}v${-height(norm)}`).join(""),
    stroke: { ink: "gradient", width: 2 },
  };
  const box = { x: 0, y: -4, width: words.width, height: 24 };
  return {
    ...words,
    middle: 12,
    act: { kind: "summands", name: label("player-summands-more", { count }), box },
    ...(hasBars && {
      width: Math.max(words.width, BAR_PX * norms.length),
      height: words.height + 4 + BARS_PX,
      shapes: [...words.shapes, bars],
      below: label("player-summand-sizes"),
    }),
  };
}

/** An equation that may be as high as it likes: of its tables, as much as has room. */
export function lineWithin(equation: (most: number) => Equation, width: number): Line {
  const line = (most: number): Line => lineOf(equation(most), 0, width);
  return line(PARTS.find((most) => line(most).width <= width) ?? 1);
}

const MOST_MEDIUM_COLUMNS = 6;

/** Of the numbers in a table that is as large as it is. */
export function sizeOfTable({ columns }: Matrix, most: number = MOST_SHOWN): number {
  return Math.min(columns, most) <= MOST_MEDIUM_COLUMNS ? 16 : 13;
}

/** A table by itself. */
export function plainTable(
  name: string,
  matrix: Matrix,
  precision: number,
  markAt?: (row: number, column: number) => CellMark | null,
): Line {
  const marks = markAt && { markAt: ({ row, column }: Place) => markAt(row, column) };
  return inLine([
    tableBlock(matrix, { name, caption: "", shape: "", size: sizeOfTable(matrix), precision, ...marks }),
  ]);
}
