/** The parts of a written equation as shapes: tables in brackets, values that are too large for one, operators. */
import type { Point, Size } from "../layout/geometry";
import { isTensor, normOf } from "../model/gradients";
import type { Matrix } from "../model/matrix";
import { cellAt, largestMagnitude, matrixOf } from "../model/matrix";
import { formatNumber } from "../model/numbers";
import type { Gradient, TensorValue } from "../protocol/trace.gen";
import { missingMark } from "../words/missing";
import { label } from "../words/say";
import { shapeText } from "../words/values";
import type { Place } from "./form";
import { widthOf, wrapped } from "./letters";
import { type Ink, type Letters, moved, type Shape, text } from "./shapes";
import { thumbnailOf, tintOf } from "./thumbnail";

/** One part of a line: its middle stands on the middle of the line. */
export interface Block extends Size {
  /** From its top to the middle of its table. */
  readonly middle: number;
  /** From its own top left corner. */
  readonly shapes: readonly Shape[];
  /** The middle of a cell, where it has cells. */
  readonly cellAt: ((place: Place) => Point) | null;
}

export interface TableLook {
  readonly caption: string;
  readonly captionInk?: Ink;
  /** Below the table. */
  readonly shape: string;
  /** In words, below that. */
  readonly note?: string;
  readonly size: number;
  readonly digits: number;
  readonly isWritten: (place: Place) => boolean;
  readonly isLit: (place: Place) => boolean;
}

const CAPTION: Letters = { size: 13, face: "sans" };
const CAPTION_HEIGHT = 20;
const LEAST_CELL = 2.7;
const CELL_HEIGHT = 1.75;
const CELL_PADDING = 0.7;
const GAP = 3;
const BRACKET = 7;
const MOST_SHOWN = 12;
/** Of so many rows or columns the cells are tinted; of fewer, what is lit is all that is coloured. */
const TINTED_FROM = 7;
const DROP = 0.36;
const NARROWEST_NOTE = 150;

export function tableBlock(matrix: Matrix, look: TableLook): Block {
  const rows = Math.min(matrix.rows, MOST_SHOWN);
  const columns = Math.min(matrix.columns, MOST_SHOWN);
  const { size } = look;
  const isTinted = rows >= TINTED_FROM || columns >= TINTED_FROM;
  const largest = largestMagnitude(matrix.cells);
  const letters: Letters = { size, face: "mono", bold: true };
  const written = (place: Place): string =>
    look.isWritten(place) ? formatNumber(cellAt(matrix, place.row, place.column), look.digits) : "·";
  const widths = Array.from({ length: columns }, (_, column) => {
    const widest = Array.from({ length: rows }, (__, row) =>
      widthOf(formatNumber(cellAt(matrix, row, column), look.digits), letters),
    );
    return Math.max(LEAST_CELL * size, ...widest.map((width) => width + CELL_PADDING * size));
  });
  const lefts = widths.map((_, at) => BRACKET + GAP + sum(widths.slice(0, at)) + at * GAP);
  const height = CELL_HEIGHT * size;
  const more = (matrix.columns > columns ? size : 0) + GAP;
  const table = {
    width: 2 * BRACKET + 2 * GAP + sum(widths) + (columns - 1) * GAP + more - GAP,
    height: rows * (height + GAP) + 2 * GAP + (matrix.rows > rows ? size : 0),
  };
  const topOf = (row: number): number => 2 * GAP - 1 + row * (height + GAP);
  const shapes: Shape[] = [...brackets(table)];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const place = { row, column };
      const [x, y, width] = [lefts[column] ?? 0, topOf(row), widths[column] ?? 0];
      const cell = cellAt(matrix, row, column);
      const isShown = look.isWritten(place);
      const tint = isTinted && isShown ? tintOf(cell, largest) : null;
      const isLit = look.isLit(place);
      if (tint !== null || isLit)
        shapes.push({
          kind: "rect",
          box: { x, y, width, height },
          radius: 4,
          fill: isLit ? "gradient-soft" : (tint ?? "surface"),
          ...(isLit && { stroke: { ink: "gradient", width: 2 } }),
        });
      const isZero = isShown && cell === 0;
      const face = { ...letters, bold: !isZero };
      const at = { x: x + width / 2, y: y + height / 2 + DROP * size };
      shapes.push(text(at, written(place), face, isZero || !isShown ? "ink-quiet" : "ink", "middle"));
    }
  }
  const quiet: Letters = { size, face: "mono" };
  if (matrix.columns > columns)
    shapes.push(
      text({ x: table.width - BRACKET - size / 2, y: table.height / 2 }, "…", quiet, "ink-quiet", "middle"),
    );
  if (matrix.rows > rows)
    shapes.push(
      text({ x: table.width / 2, y: table.height - size * 0.4 }, "⋮", quiet, "ink-quiet", "middle"),
    );
  const centreOf = ({ row, column }: Place): Point => ({
    x: (lefts[column] ?? 0) + (widths[column] ?? 0) / 2,
    y: topOf(row) + height / 2,
  });
  return captioned({ ...table, shapes, cellAt: centreOf }, look);
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

/** A table or picture between its caption and its shape, all on one middle. */
function captioned(
  inner: Size & { readonly shapes: readonly Shape[]; readonly cellAt: Block["cellAt"] },
  {
    caption,
    captionInk = "ink-quiet",
    shape,
    note = "",
  }: Pick<TableLook, "caption" | "captionInk" | "shape" | "note">,
): Block {
  const room = Math.max(inner.width, NARROWEST_NOTE);
  const above = wrapped(caption, CAPTION, Math.max(room, 220));
  const below = [shape, ...wrapped(note, CAPTION, room)].filter((line) => line !== "");
  const width = Math.max(inner.width, ...[...above, ...below].map((line) => widthOf(line, CAPTION)));
  const top = above.length * CAPTION_HEIGHT * 0.85 + 4;
  const left = (width - inner.width) / 2;
  const line = (y: number, written: string, ink: Ink): Shape =>
    text({ x: width / 2, y }, written, CAPTION, ink, "middle");
  const { cellAt: inTable } = inner;
  return {
    width,
    height: top + inner.height + below.length * CAPTION_HEIGHT,
    middle: top + inner.height / 2,
    shapes: [
      ...above.map((written, at) => line(12 + at * CAPTION_HEIGHT * 0.85, written, captionInk)),
      moved(inner.shapes, { x: left, y: top }),
      ...below.map((written, at) =>
        line(top + inner.height + 15 + at * CAPTION_HEIGHT * 0.9, written, "ink-quiet"),
      ),
    ],
    cellAt: inTable && ((place) => ({ x: inTable(place).x + left, y: inTable(place).y + top })),
  };
}

export interface ValueLook {
  readonly caption: string;
  readonly captionInk?: Ink;
  readonly size: number;
  readonly precision: number;
  readonly isRevealed: boolean;
  /** Where it holds no tensor, in place of the reason. */
  readonly none?: string;
}

const MOST_CELLS = 144;
const PICTURE_CELLS = 16;

/** A value with its own caption: its numbers where they have room, else a picture with its norm, else why there is none. */
export function valueBlock(value: Gradient | null, look: ValueLook): Block {
  const { caption, captionInk, size, precision, isRevealed } = look;
  const around = { caption, ...(captionInk && { captionInk }) };
  if (value === null || !isTensor(value)) {
    const words = value === null ? label("player-not-observed") : (look.none ?? missingMark(value));
    return captioned(boxed(words), { ...around, shape: "" });
  }
  const shape = shapeText(value.shape);
  const matrix = matrixOf(value);
  if (matrix !== null && matrix.cells.length <= MOST_CELLS)
    return tableBlock(matrix, {
      ...around,
      shape,
      size,
      digits: precision,
      isWritten: () => isRevealed,
      isLit: () => false,
    });
  const picture = isRevealed ? thumbnailOf(value, PICTURE_CELLS, PICTURE_CELLS) : null;
  if (picture === null) return captioned(boxed("·"), { ...around, shape });
  const note = `${label("player-norm")} ${formatNumber(normOf(value), precision)}`;
  return captioned({ ...picture, cellAt: null }, { ...around, shape, note });
}

/** A matrix that is told in words, or seen as a picture. */
export function pictureBlock(value: TensorValue | null, caption: string, shape: string, note: string): Block {
  const picture = value === null ? null : thumbnailOf(value, PICTURE_CELLS, PICTURE_CELLS);
  if (picture === null) return captioned(boxed(note), { caption, shape });
  return captioned({ ...picture, cellAt: null }, { caption, shape, note });
}

function boxed(words: string): Size & { shapes: readonly Shape[]; cellAt: null } {
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
    text({ x: width / 2, y: 10 + 20 * at + 15 }, line, letters, "ink-quiet", "middle"),
  );
  return { width, height, shapes: [frame, ...said], cellAt: null };
}

export function operatorBlock(sign: string, ink: Ink = "ink-quiet"): Block {
  const letters: Letters = { size: 22, face: "sans" };
  const width = widthOf(sign, letters);
  const shapes = [text({ x: 0, y: 14 + DROP * 22 }, sign, letters, ink)];
  return { width, height: 28, middle: 14, shapes, cellAt: null };
}

/** Blocks side by side; the left end of each, and where their common middle is. */
export interface Line extends Size {
  readonly blocks: readonly { readonly block: Block; readonly at: Point }[];
}

const BETWEEN = 12;

export function inLine(blocks: readonly Block[]): Line {
  const middle = Math.max(0, ...blocks.map((block) => block.middle));
  const below = Math.max(0, ...blocks.map((block) => block.height - block.middle));
  let x = 0;
  const placed = blocks.map((block) => {
    const at = { x, y: middle - block.middle };
    x += block.width + BETWEEN;
    return { block, at };
  });
  return { blocks: placed, width: Math.max(0, x - BETWEEN), height: middle + below };
}

/** Lines one below the other, their left ends on one edge. */
export function stacked(lines: readonly Line[]): Line {
  let y = 0;
  const blocks = lines.flatMap((line) => {
    const top = y;
    y += line.height + 6;
    return line.blocks.map(({ block, at }) => ({ block, at: { x: at.x, y: at.y + top } }));
  });
  return { blocks, width: Math.max(0, ...lines.map(({ width }) => width)), height: Math.max(0, y - 6) };
}
