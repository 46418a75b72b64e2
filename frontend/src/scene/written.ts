/** What the dock writes of a stop, part by part: v times J = returned, one sum of it, contributions, `.grad`, a forward operation. */
import type { Point, Size } from "../layout/geometry";
import { isTensor, normOf } from "../model/gradients";
import type { Matrix } from "../model/matrix";
import { formatNumber } from "../model/numbers";
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
import {
  derivative,
  type Factoring,
  type Place,
  type ProductForm,
  returnedFor,
  type Side,
  samePlace,
  V_CAPTION,
} from "./form";
import type { CellMark } from "./gradcheck";
import { widthOf } from "./letters";
import { multiplyingAt, type Spot } from "./multiplying";
import { oneLine } from "./oneline";
import type { Ink, Letters, Run, Shape } from "./shapes";
import { text } from "./shapes";
import { firstEntry, sumAt } from "./sum";
import { ease } from "./tokens";

/** The parts of one equation, at a size of its numbers; what is written together stays together. */
export type Parts = (size: number) => readonly (readonly Block[])[];

export interface Equation {
  readonly parts: Parts;
  /** What flies over the parts. */
  readonly over?: (line: Line, size: number) => readonly Shape[];
}

/** In one line where it has room, else in rows. */
export function lineOf({ parts, over }: Equation, size: number, width: number): Line {
  const drawn = parts(size);
  const whole = inLine(drawn.flat());
  const line = whole.width <= width ? whole : flowing(drawn, width);
  const above = over?.(line, size) ?? [];
  return above.length === 0
    ? line
    : { ...line, blocks: [...line.blocks, { block: overlay(above), at: { x: 0, y: 0 } }] };
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
      lineOf(equation, size, isWhole ? Number.POSITIVE_INFINITY : room.width),
    );
    const height = lines.reduce((total, line) => total + line.height + between, -between);
    return height <= room.height && lines.every((line) => line.width <= room.width);
  };
  return (
    sizes.find((size) => size >= IN_ONE_LINE && fits(size, true)) ??
    sizes.find((size) => fits(size, false)) ??
    null
  );
}

/** Where an equation of the page stands. */
export interface Room extends Size {
  /** Of its numbers, the largest first. */
  readonly sizes: readonly number[];
}

/** From this type scale on, a page is read from the last row, */
const PROJECTED_FROM = 1.5;
/** and no number is smaller. */
const LEAST_PROJECTED = 16.5;

export function numberSizes(typeScale: number): readonly number[] {
  return [22, 20, 18, 16.5, 15, 14, 13].filter(
    (size) => typeScale < PROJECTED_FROM || size >= LEAST_PROJECTED,
  );
}

/** The largest size in which it has room, else the smallest. */
export function sizeInRoom(equation: Equation, room: Room): number {
  return sizeIn([equation], room.sizes, room, 0) ?? Math.min(...room.sizes);
}

export function lineInRoom(equation: Equation, room: Room): Line {
  return lineOf(equation, sizeInRoom(equation, room), room.width);
}

export interface ProductLook {
  readonly shown: Shown;
  /** 0 to 1, of the motion in which the entries of the result come about. */
  readonly progress: number;
  readonly precision: number;
  /** The entry whose sum is told; null: the first. */
  readonly pointed: Place | null;
  /** The local Jacobian without v and product. */
  readonly isAlone: boolean;
  readonly jacobian: Factor["jacobian"];
  /** Whether v can be asked what it means. */
  readonly isAsked?: boolean;
}

export interface WrittenProduct extends Equation {
  /** The entry at work, or pointed at. */
  readonly current: Place;
  /** Its sum, in lines as wide as `width`; null while there is nothing of it. */
  readonly sum: (
    letters: Letters,
    width: number,
    hovered: { side: Side; place: Place } | null,
  ) => Block | null;
}

/** v and J in numbers, and what is made of them. */
export function writtenProduct(form: ProductForm, look: ProductLook): WrittenProduct {
  const { shown, progress, precision, pointed, isAlone } = look;
  const isMoving = shown.entering && progress < 1;
  const moving = multiplyingAt(form, isMoving ? progress : 1);
  const { rows, columns } = form.result.matrix;
  const current = isMoving
    ? moving.current
    : pointed === null
      ? firstEntry(form)
      : { row: Math.min(pointed.row, rows - 1), column: Math.min(pointed.column, columns - 1) };
  const terms = form.termsAt(current);
  const right = form.rightAt(current);
  const isRevealed = ({ role }: Factoring): boolean =>
    role === "v" ? shown.v : role === "jacobian" ? shown.rule : shown.product;
  const block = (table: Factoring, side: Side | "result", size: number): Block =>
    tableBlock(table.matrix, {
      name:
        table.role === "v" ? "v" : label(table.role === "jacobian" ? "player-jacobian" : "player-v-times-j"),
      side,
      caption: table.caption,
      captionInk: table.role === "jacobian" ? "forward" : "gradient",
      shape: shapeOf(table),
      note: structureOf(table, form, look.jacobian),
      size,
      precision,
      isAsked: look.isAsked === true && table.role === "v",
      isWritten: (place) => isRevealed(table) && (side !== "result" || moving.isWritten(place)),
      isLit: (place) => {
        if (!shown.product || isAlone) return false;
        if (side === "result") return samePlace(place, current);
        return terms.some((term) => term[side] !== null && samePlace(term[side], place));
      },
    });
  const parts: Parts = (size) => {
    if (isAlone)
      return [
        [
          form.left.role === "jacobian" || right === null
            ? block(form.left, "left", size)
            : block(right, "right", size),
        ],
      ];
    return [
      [block(form.left, "left", size)],
      ...(right === null ? [] : [[operatorBlock(form.operator), block(right, "right", size)]]),
      [
        form.isTrue || !shown.product || isMoving
          ? operatorBlock(right === null ? form.operator : "=")
          : operatorBlock("≠", "problem"),
        block(form.result, "result", size),
      ],
    ];
  };
  const flights = shown.product && !isAlone ? moving.flights : [];
  const over = (line: Line, size: number): readonly Shape[] => {
    const spot = ({ table, place }: Spot): Point | null => {
      const found = line.blocks.find(({ block }) => block.table?.side === table);
      const centre = found?.block.table ? cellCentre(found.block.table, place) : null;
      return found === undefined || centre === null
        ? null
        : { x: found.at.x + centre.x, y: found.at.y + centre.y };
    };
    return flights.flatMap(({ from, to, share, value }) => {
      const [start, end] = [spot(from), spot(to)];
      if (start === null || end === null) return [];
      const at = { x: start.x + (end.x - start.x) * share, y: start.y + (end.y - start.y) * share };
      return chip(formatNumber(value, digitsAt(size, precision)), at, size);
    });
  };
  return {
    parts,
    over,
    current,
    sum: (letters, width, hovered) =>
      shown.product && !isAlone
        ? sumBlock(form, current, moving, { letters, width, hovered, precision })
        : null,
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
  if (!isTold || table.role !== "jacobian" || form.view !== "jacobian" || table.matrix.cells.length < 2)
    return "";
  return structureText(jacobian);
}

interface SumLook {
  readonly letters: Letters;
  readonly width: number;
  readonly hovered: { side: Side; place: Place } | null;
  readonly precision: number;
}

/** `3·1 + 2·0 = 3, entry 1 of 2`. */
function sumBlock(
  form: ProductForm,
  current: Place,
  moving: ReturnType<typeof multiplyingAt>,
  { letters, width, hovered, precision }: SumLook,
): Block | null {
  const sum = sumAt(form, current, moving);
  if (sum.terms.length === 0 && !sum.isSummed) return null;
  const space = letters.size / 2;
  const quiet: Letters = { size: letters.size * 0.84, face: "sans" };
  const run = (written: string, ink: Ink, look: Letters = letters, gap = 0): Run => ({
    text: written,
    ...look,
    ink,
    gap,
  });
  const number = (cell: Parameters<typeof formatNumber>[0]): string => formatNumber(cell, precision);
  const groups: Run[][] = sum.terms.map((term, at) => {
    const { a, b, right } = term;
    const isFaint = a === 0 || b === 0;
    const place = hovered === null ? null : term[hovered.side];
    const bold = { ...letters, bold: hovered !== null && place !== null && samePlace(place, hovered.place) };
    const ink = (isV: boolean): Ink => (isFaint ? "ink-quiet" : isV ? "gradient" : "ink");
    return [
      ...(at > 0 ? [run("+", "ink-quiet", letters, space)] : []),
      run(number(a), ink(form.left.role === "v"), bold, at > 0 ? space : 0),
      ...(right === null ? [] : [run("·", "ink-quiet"), run(number(b), ink(form.left.role !== "v"), bold)]),
    ];
  });
  if (sum.isSummed) {
    if (sum.terms.length === 0) groups.push([run("0", "ink")]);
    if (sum.leftOut > 0) {
      const more = label(sum.isRestZero ? "player-more-zeros" : "player-more-terms", { count: sum.leftOut });
      groups.push([run(sum.terms.length > 0 ? `+ ${more}` : more, "ink-quiet", quiet, space)]);
    }
    const total = run(number(sum.total), "ink", { ...letters, bold: true }, space);
    if (form.isTrue) groups.push([run("=", "ink-quiet", letters, space), total]);
    else
      groups.push(
        [run("=", "ink-quiet", letters, space), run(number(sum.product), "ink", letters, space)],
        [
          run("≠", "problem", letters, space),
          total,
          run(label("player-backward-returned"), "problem", quiet, space),
        ],
      );
    if (sum.entries > 1) {
      const entry = label("player-entry-of", { entry: String(sum.entry), total: String(sum.entries) });
      groups.push([run(entry, "ink-quiet", quiet, 2 * space)]);
    }
  }
  return wordsBlock(groups, width);
}

export interface WordsLook {
  readonly shown: Shown;
  /** The motion of the product is over. */
  readonly isWritten: boolean;
  readonly precision: number;
  readonly isAlone: boolean;
  /** Whether a Jacobian that was left out while tracing can be asked for, and numbers that are only summed up. */
  readonly canCompute?: boolean;
  readonly hasNumbers?: boolean;
}

/** v times J = returned where J is not written out: pictures, shapes, and J described. */
export function writtenInWords(operand: OperandEquation, { v, jacobian }: Factor, look: WordsLook): Equation {
  const { returned } = operand;
  const { shown, isWritten, precision, isAlone, canCompute = false, hasNumbers = false } = look;
  const outputShape = jacobian?.output_shape ?? (isTensor(v) ? v.shape : []);
  const inputShape = jacobian?.input_shape ?? (isTensor(returned) ? returned : operand.value)?.shape ?? [];
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
      const local = pictureBlock(seen, around, isAsked);
      const value = (gradient: Gradient, caption: string, name: string, isRevealed: boolean): Block =>
        valueBlock(gradient, {
          caption,
          captionInk: "gradient",
          name,
          size,
          precision,
          isRevealed,
          hasNumbers,
        });
      if (isAlone) return [[local]];
      return [
        [value(v, V_CAPTION, "v", shown.v)],
        [operatorBlock("×"), local],
        [operatorBlock("="), value(returned, returnedFor(operand), label("player-v-times-j"), isWritten)],
      ];
    },
  };
}

/** What was given for an operand where that is no product: nothing, or v as it is. */
export function writtenValue(value: Gradient, caption: string, precision: number): Equation {
  return {
    parts: (size) => [
      [valueBlock(value, { caption, captionInk: "gradient", size, precision, isRevealed: true })],
    ],
  };
}

/** How far both terms lean towards their sum on the way. */
const LEAN_PX = 48;

/** `.grad` before + arrived = after. */
export function writtenAccumulation(
  callout: AccumulateCallout,
  progress: number,
  precision: number,
  hasNumbers = false,
): Equation {
  const noneOf = (gradient: Gradient) =>
    !isTensor(gradient) && ["not_computed", "undefined"].includes(gradient.missing) ? { none: "None" } : {};
  const { leaf, before, arrived, after, shown } = callout;
  const share = shown.landed ? ease(progress) : 1;
  const leaning = share < 1 ? Math.sin(share * Math.PI) * LEAN_PX : 0;
  return {
    parts: (size) => {
      const look = { size, precision, hasNumbers };
      const held = (caption: string, value: Gradient, isRevealed: boolean): Block =>
        valueBlock(value, { ...look, caption, captionInk: "accumulated", isRevealed, ...noneOf(value) });
      const came = valueBlock(arrived, {
        ...look,
        caption: label("player-arrived"),
        captionInk: "gradient",
        isRevealed: true,
      });
      const sum = held(label("player-grad-after", { leaf }), after, shown.landed);
      return [
        [leaningBy(held(label("player-grad-before", { leaf }), before, shown.rule), leaning)],
        [operatorBlock("+"), leaningBy(came, leaning)],
        [
          operatorBlock("="),
          share < 1 ? { ...sum, shapes: [{ kind: "group", children: sum.shapes, opacity: share }] } : sum,
        ],
      ];
    },
  };
}

function leaningBy(block: Block, x: number): Block {
  return x === 0
    ? block
    : { ...block, shapes: [{ kind: "group", children: block.shapes, at: { x, y: 0, k: 1 } }] };
}

const MOST_OPERANDS = 6;

/** Operands in, results out; of many operands, how many are left out. */
export function writtenForward(callout: ForwardCallout, precision: number, hasNumbers = false): Equation {
  return {
    parts: (size) => {
      const look = { size, precision, captionInk: "forward" as const, hasNumbers };
      const operands = callout.operands
        .slice(0, MOST_OPERANDS)
        .map(({ name, value }) => valueBlock(value, { ...look, caption: name, isRevealed: true }));
      const left = callout.operands.length - operands.length;
      const more = left > 0 ? [operatorBlock(label("export-operands-more", { count: left }))] : [];
      const outputs = callout.outputs.slice(0, MOST_OPERANDS).map(({ name, value }) =>
        valueBlock(value, {
          ...look,
          caption: name ?? label("player-result"),
          isRevealed: callout.shown.product,
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

/** Contributions and their sum; of many, the largest, and all as bars where that is wanted. Null where there is nothing to add. */
export function writtenSummands(
  {
    summands,
    sum,
    caption,
  }: { readonly summands: VjpCallout["summands"]; readonly sum: Gradient; readonly caption: string },
  {
    letters,
    precision,
    width,
    hasBars,
  }: { letters: Letters; precision: number; width: number; hasBars: boolean },
): Line | null {
  if (summands.length < 2) return null;
  const norms = summands.map(({ value }) => (isTensor(value) ? normOf(value) : 0));
  const isLong = summands.length > MOST_SUMMANDS;
  const all = summands.map((summand, at) => ({ ...summand, norm: norms[at] ?? 0 }));
  const shown = isLong ? all.toSorted((a, b) => b.norm - a.norm).slice(0, LARGEST_SUMMANDS) : all;
  const named = (value: Gradient, below: string, isSum: boolean): Block =>
    namedBlock({ text: oneLine(value, precision).text, ...letters, ink: "gradient" }, below, isSum);
  const terms = shown.map(({ value, from }, at) => {
    const block = named(value, label("player-from", { name: from }), false);
    return at === 0 ? [block] : [operatorBlock("+"), block];
  });
  const more = isLong
    ? [[operatorBlock("+"), restBlock(summands.length - LARGEST_SUMMANDS, norms, hasBars)]]
    : [];
  return flowing([...terms, ...more, [operatorBlock("="), named(sum, caption, true)]], width);
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

const MOST_MEDIUM_COLUMNS = 6;

/** A table by itself. */
export function plainTable(
  name: string,
  matrix: Matrix,
  precision: number,
  markAt?: (row: number, column: number) => CellMark | null,
): Line {
  const size = matrix.columns <= MOST_MEDIUM_COLUMNS ? 16 : 13;
  const marks = markAt && { markAt: ({ row, column }: Place) => markAt(row, column) };
  return inLine([tableBlock(matrix, { name, caption: "", shape: "", size, precision, ...marks })]);
}
