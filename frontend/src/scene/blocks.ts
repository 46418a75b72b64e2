/** The parts of a written equation as shapes: tables in brackets, values that are too large for one, operators. */
import type { Box, Point, Size } from "../layout/geometry";
import { isTensor, normOf } from "../model/gradients";
import type { Matrix } from "../model/matrix";
import { cellAt, largestMagnitude, matrixOf } from "../model/matrix";
import { formatNumber } from "../model/numbers";
import type { Gradient, TensorValue } from "../protocol/trace.gen";
import { missingMark } from "../words/missing";
import { label } from "../words/say";
import { shapeText } from "../words/values";
import { MOST_SHOWN, type Place, type Side } from "./form";
import type { CellMark } from "./gradcheck";
import { widthOf, wrapped } from "./letters";
import { type Ink, type Letters, moved, type Run, runs, type Shape, text } from "./shapes";
import { type Thumbnail, thumbnailOf, tintOf } from "./thumbnail";

/** One part of a line: its middle stands on the middle of the line. */
export interface Block extends Size {
  /** From its top to the middle of its table. */
  readonly middle: number;
  /** From its own top left corner. */
  readonly shapes: readonly Shape[];
  /** What it says beside its table, in reading order. */
  readonly above: string;
  readonly table: DrawnTable | null;
  readonly below: string;
  readonly act: Act | null;
  /** What it is made of, one below the other. */
  readonly stack?: readonly Block[];
}

export interface DrawnCell {
  readonly text: string;
  readonly isLit: boolean;
  readonly mark: CellMark | null;
}

/** The cells of a table, and where they stand in its block. */
export interface DrawnTable {
  readonly name: string;
  /** Of a product, which it is. */
  readonly side: Side | "result" | null;
  /** Of a product of several lines, in which it stands. */
  readonly line: number;
  /** The corner of the first cell. */
  readonly at: Point;
  readonly widths: readonly number[];
  readonly height: number;
  readonly cells: readonly (readonly DrawnCell[])[];
  /** Of the whole table, the first cell that is drawn; and how large the whole is. */
  readonly first: Place;
  readonly rows: number;
  readonly columns: number;
}

/** What can be asked for at a place of a block, where somebody answers. */
export interface Act {
  readonly kind: "meaning" | "numbers" | "jacobian" | "summands";
  readonly box: Box;
  /** What the button there is called. */
  readonly name: string;
  /** Whose numbers. */
  readonly value?: TensorValue;
}

export interface Captioned {
  readonly caption: string;
  readonly captionInk?: Ink;
  /** Below the table. */
  readonly shape: string | readonly Run[];
  /** In words, below that. */
  readonly note?: string;
  /** How wide words may be over and under a narrower table, whose cells are then as narrow as can be. */
  readonly across?: number | undefined;
}

export interface TableLook extends Captioned {
  /** For whoever does not see it; the caption where there is none. */
  readonly name?: string;
  readonly side?: Side | "result";
  readonly line?: number;
  readonly size: number;
  readonly precision: number;
  /** Rows and columns that are drawn, of a table that has more, */
  readonly most?: number;
  /** and a cell that is among them. */
  readonly near?: Place;
  readonly isWritten?: (place: Place) => boolean;
  readonly isLit?: (place: Place) => boolean;
  /** Does not take part in what is lit. */
  readonly isAside?: (place: Place) => boolean;
  /** What is wrong with an entry. */
  readonly markAt?: (place: Place) => CellMark | null;
  /** Whether its caption can be asked what it means. */
  readonly isAsked?: boolean;
}

const CAPTION: Letters = { size: 13, face: "sans" };
const CAPTION_HEIGHT = 20;
const LEAST_CELL = 2.7;
const CELL_HEIGHT = 1.5;
const CELL_PADDING = 0.7;
const LEAST_PADDING = 0.25;
export const CELL_GAP = 3;
const BRACKET = 7;
/** Of so many rows or columns the cells are tinted; of fewer, what is lit is all that is coloured. */
const TINTED_FROM = 7;
const DROP = 0.36;
const NARROWEST_NOTE = 150;
const NARROWEST_CAPTION = 200;
const SMALL = 14;
const DIGITS_OF_SMALL = 3;
const MARKS = { wrong: "✗", kink: "∠" } as const;
/** As a finger needs it. */
const TARGET_PX = 24;

export function digitsAt(size: number, precision: number): number {
  return size < SMALL ? Math.min(precision, DIGITS_OF_SMALL) : precision;
}

export function tableBlock(matrix: Matrix, look: TableLook): Block {
  const { most = MOST_SHOWN, near } = look;
  const rows = Math.min(matrix.rows, most);
  const columns = Math.min(matrix.columns, most);
  const first = {
    row: firstShown(near?.row, rows, matrix.rows),
    column: firstShown(near?.column, columns, matrix.columns),
  };
  const {
    size,
    isWritten = () => true,
    isLit = () => false,
    isAside = () => false,
    markAt = () => null,
  } = look;
  const digits = digitsAt(size, look.precision);
  const isTinted = rows >= TINTED_FROM || columns >= TINTED_FROM;
  const largest = isTinted ? largestMagnitude(matrix.cells) : 0;
  const letters: Letters = { size, face: "mono", bold: true };
  const number = (place: Place): string => formatNumber(cellAt(matrix, place.row, place.column), digits);
  const placeAt = (row: number, column: number): Place => ({
    row: first.row + row,
    column: first.column + column,
  });
  const numbers = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => number(placeAt(row, column))),
  );
  const padding = look.across === undefined ? CELL_PADDING : LEAST_PADDING;
  const widths = Array.from({ length: columns }, (_, column) => {
    const widest = numbers.map((inRow) => widthOf(inRow[column] ?? "", letters));
    return Math.max(LEAST_CELL * size, ...widest.map((width) => width + padding * size));
  });
  const height = CELL_HEIGHT * size;
  // Room for a sign on both sides of what is left out, so that nothing moves where others are drawn.
  const [across, down] = [matrix.columns > columns ? size : 0, matrix.rows > rows ? size : 0];
  const box = {
    width: 2 * (BRACKET + CELL_GAP + across) + sum(widths) + (columns - 1) * CELL_GAP,
    height: rows * (height + CELL_GAP) + 2 * CELL_GAP + 2 * down,
  };
  const cells = numbers.map((inRow, row) =>
    inRow.map((written, column): DrawnCell => {
      const place = placeAt(row, column);
      return { text: isWritten(place) ? written : "·", isLit: isLit(place), mark: markAt(place) };
    }),
  );
  const at = { x: BRACKET + CELL_GAP + across, y: 2 * CELL_GAP - 1 + down };
  const { name = look.caption, side = null, line = 0 } = look;
  const whole = { rows: matrix.rows, columns: matrix.columns };
  const table: DrawnTable = { name, side, line, at, widths, height, cells, first, ...whole };
  const shapes: Shape[] = [...brackets(box)];
  for (const [row, inRow] of cells.entries()) {
    for (const [column, drawn] of inRow.entries()) {
      const place = placeAt(row, column);
      const cell = cellAt(matrix, place.row, place.column);
      const tint = isTinted && isWritten(place) ? tintOf(cell, largest) : null;
      shapes.push(...drawCell(drawn, cellBox(table, place), tint, letters, cell === 0 || isAside(place)));
    }
  }
  const quiet: Letters = { size, face: "mono" };
  const sign = (x: number, y: number, written: string): void => {
    shapes.push(text({ x, y }, written, quiet, "ink-quiet", "middle"));
  };
  if (first.column > 0) sign(BRACKET + size / 2, box.height / 2, "…");
  if (first.column + columns < matrix.columns) sign(box.width - BRACKET - size / 2, box.height / 2, "…");
  if (first.row > 0) sign(box.width / 2, size, "⋮");
  if (first.row + rows < matrix.rows) sign(box.width / 2, box.height - size * 0.4, "⋮");
  return captioned(
    { ...box, shapes, table },
    look,
    look.isAsked ? { kind: "meaning", name: look.caption } : null,
  );
}

/** The first of so many rows or columns, of which one must be among them. */
function firstShown(near: number | undefined, shown: number, all: number): number {
  return Math.max(0, Math.min((near ?? 0) - shown + 1, all - shown));
}

function drawCell(
  { text: written, isLit, mark }: DrawnCell,
  box: Box,
  tint: ReturnType<typeof tintOf>,
  letters: Letters,
  standsBack: boolean,
): readonly Shape[] {
  const shapes: Shape[] = [];
  const ink = mark !== null ? "problem" : "gradient";
  if (tint !== null || isLit || mark !== null)
    shapes.push({
      kind: "rect",
      box,
      radius: 4,
      fill: isLit ? "gradient-soft" : (tint ?? "surface"),
      ...((isLit || mark !== null) && {
        stroke: { ink, width: 2, ...(mark === "kink" && { dash: "4 3" }) },
      }),
    });
  const isQuiet = written === "·" || standsBack;
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 + DROP * letters.size };
  shapes.push(text(at, written, { ...letters, bold: !isQuiet }, isQuiet ? "ink-quiet" : "ink", "middle"));
  if (mark !== null) {
    const small: Letters = { size: Math.round(letters.size * 0.75), face: "sans", bold: true };
    const corner = { x: box.x + box.width - 4, y: box.y + small.size };
    shapes.push(text(corner, MARKS[mark], small, "problem", "middle"));
  }
  return shapes;
}

function cellBox({ at, widths, height, first }: DrawnTable, place: Place): Box {
  const [row, column] = [place.row - first.row, place.column - first.column];
  return {
    x: at.x + sum(widths.slice(0, column)) + column * CELL_GAP,
    y: at.y + row * (height + CELL_GAP),
    width: widths[column] ?? 0,
    height,
  };
}

/** The middle of a cell, in its block; null for what is not drawn, as of a very large table. */
export function cellCentre(table: DrawnTable, place: Place): Point | null {
  const { first } = table;
  if (table.cells[place.row - first.row]?.[place.column - first.column] === undefined) return null;
  const { x, y, width, height } = cellBox(table, place);
  return { x: x + width / 2, y: y + height / 2 };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function brackets({ width, height }: Size): readonly Shape[] {
  const stroke = { ink: "ink", width: 2 } as const;
  return [
    {
      kind: "path",
      d: `M${BRACKET} 1H4Q1 1 1 4V${height - 4}Q1 ${height - 1} 4 ${height - 1}H${BRACKET}`,
      stroke,
    },
    {
      kind: "path",
      d: `M${width - BRACKET} 1H${width - 4}Q${width - 1} 1 ${width - 1} 4V${height - 4}Q${width - 1} ${height - 1} ${width - 4} ${height - 1}H${width - BRACKET}`,
      stroke,
    },
  ];
}

interface Inner extends Size {
  readonly shapes: readonly Shape[];
  readonly table?: DrawnTable | null;
  /** What it says itself, where it is no table. */
  readonly said?: string;
}

/** A table or picture between its caption and its shape, all on one middle. */
function captioned(
  inner: Inner,
  { caption, captionInk = "ink-quiet", shape, note = "", across: most }: Captioned,
  act: Omit<Act, "box"> | null = null,
): Block {
  const room = Math.max(inner.width, most ?? NARROWEST_NOTE);
  const captionRoom = Math.max(room, most ?? NARROWEST_CAPTION);
  const above = caption.split("\n").flatMap((each) => wrapped(each, CAPTION, captionRoom));
  const sizes = typeof shape === "string" ? [quiet(shape)] : shape;
  const notes = note.split("\n").flatMap((each) => wrapped(each, CAPTION, room));
  const below = [
    sizes,
    ...notes.map((each, at): readonly Run[] =>
      act?.kind === "numbers" && at === notes.length - 1
        ? [{ ...quiet(each), ink: "forward" }]
        : [quiet(each)],
    ),
  ].filter((line) => widthOfRuns(line) > 0);
  const widths = [...above.map((line) => widthOf(line, CAPTION)), ...below.map(widthOfRuns)];
  const width = Math.max(inner.width, ...widths);
  const top = above.length === 0 ? 0 : above.length * CAPTION_HEIGHT * 0.85 + 4;
  const left = (width - inner.width) / 2;
  const { table = null } = inner;
  const height = top + inner.height + below.length * CAPTION_HEIGHT;
  const asked = act?.kind === "meaning" ? top - TARGET_PX - 6 : height - TARGET_PX - 2;
  const across = Math.max(TARGET_PX, (act?.kind === "meaning" ? widths[0] : widths.at(-1)) ?? 0);
  return {
    width,
    height,
    middle: top + inner.height / 2,
    shapes: [
      ...above.map((written, at) =>
        text({ x: width / 2, y: 12 + at * CAPTION_HEIGHT * 0.85 }, written, CAPTION, captionInk, "middle"),
      ),
      moved(inner.shapes, { x: left, y: top }),
      ...below.flatMap((line, at) =>
        runs({ x: width / 2, y: top + inner.height + 15 + at * CAPTION_HEIGHT * 0.9 }, line, "middle"),
      ),
    ],
    above: [caption, inner.said ?? ""].filter((each) => each !== "").join(" "),
    table: table && { ...table, at: { x: table.at.x + left, y: table.at.y + top } },
    below: below.map((line) => line.map((run) => run.text).join("")).join(" "),
    act: act && { ...act, box: { x: (width - across) / 2, y: asked, width: across, height: TARGET_PX } },
  };
}

function quiet(written: string): Run {
  return { ...CAPTION, text: written, ink: "ink-quiet" };
}

function widthOfRuns(line: readonly Run[]): number {
  return line.reduce((total, run) => total + (run.gap ?? 0) + widthOf(run.text, run), 0);
}

export interface ValueLook {
  readonly caption: string;
  readonly captionInk?: Ink;
  readonly name?: string;
  readonly size: number;
  readonly precision: number;
  readonly side?: Side | "result";
  readonly isWritten?: (place: Place) => boolean;
  /** Where it holds no tensor, in place of the reason. */
  readonly none?: string;
  /** Whether all numbers of a value that is only summed up can be asked for. */
  readonly hasNumbers?: boolean;
}

const MOST_CELLS = 144;
const PICTURE_CELLS = 16;
const PICTURE_CELL_PX = 8;

/** A value with its own caption: its numbers where they have room, else a picture with figures, else why there is none. */
export function valueBlock(value: Gradient | null, look: ValueLook): Block {
  const { precision, isWritten = () => true } = look;
  if (value === null || !isTensor(value)) {
    const words = value === null ? label("player-not-observed") : (look.none ?? missingMark(value));
    return captioned(boxed(words), { ...look, shape: "" });
  }
  const shape = shapeText(value.shape);
  const matrix = matrixOf(value);
  if (matrix !== null && matrix.cells.length <= MOST_CELLS) return tableBlock(matrix, { ...look, shape });
  const isSeen = isWritten({ row: 0, column: 0 });
  const picture = isSeen ? thumbnailOf(value, PICTURE_CELLS, PICTURE_CELLS, PICTURE_CELL_PX) : null;
  if (picture === null) return captioned(boxed("·"), { ...look, shape });
  const isAsked = look.hasNumbers === true && value.summary !== undefined;
  const ask = label("player-all-numbers");
  const note = [...figuresOf(value, precision), ...(isAsked ? [ask] : [])].join("\n");
  const act = { kind: "numbers", name: ask, value } as const;
  return captioned(picture, { ...look, shape, note }, isAsked ? act : null);
}

/** `min −2 · max 3`, two to a line. */
function figuresOf(value: TensorValue, precision: number): readonly string[] {
  const { summary } = value;
  const number = formatNumber;
  if (summary === undefined) return [`${label("player-norm")} ${number(normOf(value), precision)}`];
  const figures = [
    `${label("player-min")} ${number(summary.min, precision)}`,
    `${label("player-max")} ${number(summary.max, precision)}`,
    `${label("player-mean")} ${number(summary.mean, precision)}`,
    `${label("player-norm")} ${number(summary.norm, precision)}`,
  ];
  const odd = [
    ["player-zeros", summary.zeros],
    ["player-nans", summary.nans],
    ["player-infinite", summary.infs],
  ] as const;
  for (const [key, count] of odd) if (count > 0) figures.push(`${label(key)} ${count}`);
  return Array.from({ length: Math.ceil(figures.length / 2) }, (_, at) =>
    figures.slice(2 * at, 2 * at + 2).join(" · "),
  );
}

/** A matrix that is told in words, or seen as a picture; `isAsked`: it can be computed. */
export function pictureBlock(
  value: TensorValue | null,
  around: Captioned & { readonly note: string },
  isAsked: boolean,
): Block {
  const picture = value === null ? null : thumbnailOf(value, PICTURE_CELLS, PICTURE_CELLS, PICTURE_CELL_PX);
  if (picture !== null) return captioned(picture, around);
  const { note, ...named } = around;
  const block = captioned(boxed(note, isAsked ? "forward" : "ink-quiet"), named);
  const { width, middle } = block;
  const box = { x: 0, y: middle - TARGET_PX / 2 - 8, width, height: TARGET_PX + 16 };
  return isAsked ? { ...block, act: { kind: "jacobian", name: note, box } } : block;
}

function boxed(words: string, ink: Ink = "ink-quiet"): Inner {
  const letters: Letters = { size: 15, face: "sans" };
  const lines = wrapped(words, letters, 210);
  const width = Math.max(44, ...lines.map((line) => widthOf(line, letters) + 28));
  const height = 20 + 20 * Math.max(1, lines.length);
  const frame: Shape = {
    kind: "rect",
    box: { x: 0, y: 0, width, height },
    radius: 8,
    stroke: { ink: "line-strong", width: 2, dash: "5 4" },
  };
  const said = lines.map((line, at) =>
    text({ x: width / 2, y: 10 + 20 * at + 15 }, line, letters, ink, "middle"),
  );
  return { width, height, shapes: [frame, ...said], said: words };
}

const OPERATOR: Letters = { size: 22, face: "sans" };

export function operatorBlock(sign: string, ink: Ink = "ink-quiet"): Block {
  const shapes = [text({ x: 0, y: 14 + DROP * OPERATOR.size }, sign, OPERATOR, ink)];
  return { ...PLAIN, width: widthOf(sign, OPERATOR), height: 28, middle: 14, shapes, above: sign };
}

const PLAIN = { above: "", table: null, below: "", act: null } as const;

interface NamedLook {
  readonly isSum: boolean;
  readonly isThere: boolean;
  readonly picture: Thumbnail | null;
}

/** A value on one line, above where it is from, as one part of a line; a dot in its place until it is there. */
export function namedBlock(written: Run, below: string, { isSum, isThere, picture }: NamedLook): Block {
  const beside = picture === null ? 0 : picture.width + 6;
  const [across, under] = [beside + widthOf(written.text, written), widthOf(below, CAPTION)];
  const width = Math.max(across, under);
  const left = (width - across) / 2;
  const y = written.size;
  const bottom = y + 6 + CAPTION.size + 4;
  const line = (at: number): Shape => ({
    kind: "path",
    d: `M${left} ${at}h${across}`,
    stroke: { ink: written.ink, width: 1.2 },
  });
  return {
    ...PLAIN,
    width,
    height: bottom,
    middle: written.size * 0.65,
    shapes: [
      ...(picture === null || !isThere
        ? []
        : [moved(picture.shapes, { x: left, y: (y + 6 - picture.height) / 2 })]),
      ...(isThere
        ? runs({ x: left + beside, y }, [written])
        : runs({ x: width / 2, y }, [{ ...written, text: "·" }], "middle")),
      ...(isSum ? [line(y + 3), line(y + 6)] : []),
      text({ x: width / 2, y: bottom - 2 }, below, CAPTION, "ink-quiet", "middle"),
    ],
    above: `${isThere ? written.text : "·"} ${below}`,
  };
}

const RUN_LINE = 1.45;

/** Words in their own inks, in lines as wide as `width`; each group stays together. */
export function wordsBlock(groups: readonly (readonly Run[])[], width: number): Block {
  const lines: Run[][] = [];
  let room = 0;
  for (const group of groups) {
    const across = widthOfRuns(group);
    const last = lines.at(-1);
    if (last !== undefined && room + across <= width) {
      last.push(...group);
      room += across;
    } else {
      lines.push(group.map((run, at) => (at === 0 ? { ...run, gap: 0 } : run)));
      room = across;
    }
  }
  const size = Math.max(0, ...groups.flat().map((run) => run.size));
  return {
    ...PLAIN,
    width: Math.max(0, ...lines.map(widthOfRuns)),
    height: lines.length * size * RUN_LINE,
    middle: 0,
    shapes: lines.flatMap((line, at) => runs({ x: 0, y: (at + 0.76) * size * RUN_LINE }, line)),
    above: groups
      .flat()
      .map((run) => `${run.gap ? " " : ""}${run.text}`)
      .join(""),
  };
}

/** Shapes over a line, which take no room. */
export function overlay(shapes: readonly Shape[]): Block {
  return { ...PLAIN, width: 0, height: 0, middle: 0, shapes };
}

/** One below the other, the first on the middle of the line. */
export function stacked(stack: readonly [Block, ...Block[]]): Block {
  return {
    ...stack[0],
    width: Math.max(...stack.map(({ width }) => width)),
    height: stack.reduce((total, { height }) => total + height + BETWEEN_ROWS, -BETWEEN_ROWS),
    stack,
  };
}

/** Blocks side by side; the left end of each, and where their common middle is. */
export interface Line extends Size {
  readonly blocks: readonly { readonly block: Block; readonly at: Point }[];
}

const BETWEEN = 12;
const BETWEEN_ROWS = 6;

export function inLine(blocks: readonly Block[]): Line {
  const middle = Math.max(0, ...blocks.map((block) => block.middle));
  const below = Math.max(0, ...blocks.map((block) => block.height - block.middle));
  let x = 0;
  const placed = blocks.flatMap((block) => {
    const left = x;
    let y = middle - block.middle;
    x += block.width + BETWEEN;
    return (block.stack ?? [block]).map((each) => {
      const at = { x: left + (block.width - each.width) / 2, y };
      y += each.height + BETWEEN_ROWS;
      return { block: each, at };
    });
  });
  return { blocks: placed, width: Math.max(0, x - BETWEEN), height: middle + below };
}

/**
 * Parts side by side, in a new row where one has no room any more; the last of a row on the right.
 * @param versions the same parts, the wide ones first: a row is of the first in which it has room
 */
export function flowing(versions: readonly (readonly (readonly Block[])[])[], width: number): Line {
  const lines: Line[] = [];
  const within = (from: number, to: number): Line | undefined =>
    versions.map((parts) => inLine(parts.slice(from, to).flat())).find((line) => line.width <= width);
  let start = 0;
  for (const [at, part] of versions.at(-1)?.entries() ?? []) {
    const longer = at > 0 ? within(start, at + 1) : undefined;
    if (longer === undefined) {
      start = at;
      lines.push(within(at, at + 1) ?? inLine(part));
    } else lines[lines.length - 1] = longer;
  }
  const widest = Math.max(0, ...lines.map((line) => line.width));
  let y = 0;
  const blocks = lines.flatMap((line) => {
    const corner = { x: widest - line.width, y };
    y += line.height + BETWEEN_ROWS;
    return line.blocks.map(({ block, at }) => ({ block, at: { x: at.x + corner.x, y: at.y + corner.y } }));
  });
  return { blocks, width: widest, height: Math.max(0, y - BETWEEN_ROWS) };
}

export function shapesOf({ blocks }: Line): readonly Shape[] {
  return blocks.map(({ block, at }) => moved(block.shapes, at));
}
