/**
 * A vjp as lines of v times J, one per move that the trace has for it. What a move relates is read off its letters or its
 * list of cells; nothing here knows an operation. Two tables that meet as matrices stand as such: the letters of the
 * result say which is on the left, and which of both is turned.
 */
import { isTensor } from "../model/gradients";
import { cellAt, elementCount, indicesOf, type Matrix, matrixOf } from "../model/matrix";
import { meetingsOf, namedValue } from "../model/meetings";
import type { Cell, Move, MoveSource, Node, TensorValue } from "../protocol/trace.gen";
import { transposedText } from "../words/names";
import { label } from "../words/say";
import { shapeText } from "../words/values";
import type { OperandEquation, Saved } from "./equation";
import type { Factoring, Operator, Place, ProductForm, Rule, Size, Term } from "./form";
import { placeOf, reproduces, returnedFor, sizes, tableOf, V_CAPTION } from "./form";

/** A table as it is written. */
interface Written {
  readonly matrix: Matrix;
  readonly shape: readonly Size[];
  readonly isTurned: boolean;
  /** The tensor's own shape, where the table shows it in another. */
  readonly readFrom: string | null;
  placeOf(cell: number): Place;
}

interface Table {
  readonly value: TensorValue;
  readonly role: "v" | "jacobian";
  readonly name: string;
  /** What is said of it beside its name, such as that it acts as J. */
  readonly caption: (name: string) => string;
  /** The line that makes it. */
  readonly from?: number;
}

/** The last line, with those before it; null where a number is missing. */
export function movedForm(
  node: Node,
  operand: OperandEquation,
  saved: readonly Saved[],
  returned: TensorValue,
): ProductForm | null {
  const lines: ProductForm[] = [];
  const made: TensorValue[] = [];
  for (const move of operand.moves) {
    const value = move.value ?? returned;
    const tables = move.of.map((source) => sourceOf(source, node, operand, saved, made));
    const line = lineOf(move, tables, value, lines.length, operand);
    if (line === null) return null;
    lines.push(line);
    made.push(value);
  }
  const last = lines.pop();
  if (last === undefined) return null;
  const view = [...lines, last].some((line) => line.view === "matrices") ? "matrices" : "elements";
  return { ...last, view, ...(lines.length > 0 && { before: lines }) };
}

function sourceOf(
  source: MoveSource,
  node: Node,
  operand: OperandEquation,
  saved: readonly Saved[],
  made: readonly TensorValue[],
): Table | null {
  const plain = (name: string): string => name;
  if (source.grad_output !== undefined) {
    const v = operand.factors.find(({ outputNr }) => outputNr === source.grad_output)?.v;
    const caption = (name: string): string => (name === "v" ? V_CAPTION : label("player-v-transposed"));
    return v !== undefined && isTensor(v) ? { value: v, role: "v", name: "v", caption } : null;
  }
  const role = "jacobian";
  if (source.move !== undefined) {
    const value = made[source.move];
    if (value === undefined) return null;
    return { value, role, name: lineName(operand.moves, source.move), caption: plain, from: source.move };
  }
  const isJacobian = operand.moves.length === 1 && !operand.isUnproven;
  const caption = isJacobian ? (factor: string) => label("player-acts-as-j", { factor }) : plain;
  if (source.value !== undefined) {
    const { value, text: name = "" } = source;
    if (source.classes_minus !== true) return { value, role, name, caption };
    return { value, role, name, caption: (shares) => label("player-class-minus-shares", { shares }) };
  }
  const kept = saved.find(({ name }) => name === source.operand);
  const input = node.inputs.find(({ name }) => name === source.operand);
  const value = namedValue(node, source.operand);
  const name = (input && operand.names.get(input.argnum)) ?? kept?.label ?? source.operand ?? "";
  return value == null ? null : { value, role, name, caption };
}

/** Of two tables of which one row and one column are followed at a time; the server tells no larger ones. */
const MOST_MET = 32;

/** Longer text does not fit over a table. */
const LONGEST_NAME = 36;

/** `sum(v * p)`; `(1)` where that is long, as equations are numbered. */
function lineName(moves: readonly Move[], line: number): string {
  const text = (moves[line]?.text ?? "").replaceAll(", keepdim=True", "");
  return text !== "" && text.length <= LONGEST_NAME ? text : `(${line + 1})`;
}

const RULES = {
  scale: "entries",
  meet: "terms",
  fold: "folded",
  deal: "dealt",
  travel: "moved",
  slide: "terms",
  win: "moved",
  subtract: "entries",
} as const satisfies Record<Move["verb"], Rule>;

function lineOf(
  move: Move,
  tables: readonly (Table | null)[],
  value: TensorValue,
  at: number,
  operand: OperandEquation,
): ProductForm | null {
  const [first, second = null] = tables;
  if (first == null || tables.includes(null)) return null;
  const shapes = [
    ...move.of.map(({ shape }, each) => shape ?? tables[each]?.value.shape ?? []),
    move.shape ?? value.shape,
  ];
  const meetings = meetingsOf(move, shapes);
  const met = second === null ? null : asMet(move, first, second, value);
  // What meets another table is read in the shape in which it does: a batch of numbers as a column.
  const readAs = second === null ? [] : move.of.map(({ shape }) => shape);
  const asIs = [first.value, second?.value ?? null, value].map(
    (each, at) => each && asItIs(each, readAs[at]),
  );
  const [mine, theirs, result] = met?.tables ?? asIs;
  if (mine == null || result == null || (second !== null && theirs == null)) return null;
  const terms = result.matrix.cells.map((): Term[] => []);
  for (const { result: into, first: from, second: beside } of meetings) {
    const { row, column } = result.placeOf(into);
    const left = mine.placeOf(from);
    const right = beside === null || !theirs ? null : theirs.placeOf(beside);
    const a = cellOf(mine, left);
    const list = terms[row * result.matrix.columns + column];
    if (move.verb === "subtract" && right !== null && theirs)
      list?.push({ left, right: null, a, b: 1 }, { left: null, right, a: cellOf(theirs, right), b: -1 });
    else list?.push({ left, right, a, b: right === null || !theirs ? 1 : cellOf(theirs, right) });
  }
  const isByRow = met?.how === "by row";
  const ordered = met === null ? terms : terms.map((each) => each.map(ARRANGED[met.how]));
  const termsAt = ({ row, column }: Place): readonly Term[] =>
    ordered[row * result.matrix.columns + column] ?? [];
  if (!reproduces(result.matrix, termsAt)) return null;
  const isLast = move.value === undefined;
  const factors = [factoring(first, mine), factoring(second, theirs)];
  const [left = null, right = null] = met?.how === "swapped" ? factors.toReversed() : factors;
  if (left === null) return null;
  const rightTable = met !== null && right !== null && !isByRow ? matching(right, -2) : right;
  return {
    view: (met !== null && !isByRow) || move.verb === "slide" ? "matrices" : "elements",
    rule: RULES[move.verb],
    operator: operatorOf(move, first, second, met !== null),
    isTrue: true,
    left: met === null ? left : matching(left, -1),
    result: isLast
      ? tableOf("result", returnedFor(operand), result.matrix, sizes(value.shape))
      : { ...tableOf("result", lineName(operand.moves, at), result.matrix, sizes(value.shape)), from: at },
    rightAt: ({ row, column }) =>
      isByRow && second !== null && theirs
        ? standing(second, theirs, row * result.matrix.columns + column)
        : rightTable,
    termsAt,
  };
}

/** One of its sizes must agree with the table beside it. */
function matching(table: Factoring, at: number): Factoring {
  const { shape } = table;
  return { ...table, shape: shape.with(at, { size: shape.at(at)?.size ?? 1, matching: true }) };
}

const ARRANGED = {
  "in order": (term) => term,
  swapped: ({ left, right, a, b }) => ({ left: right, right: left, a: b, b: a }),
  "by row": (term) => ({ ...term, right: term.right && { row: term.right.column, column: 0 } }),
} as const satisfies Record<Met["how"], (term: Term) => Term>;

/** One row of a table, as the column that a row meets. */
function standing(table: Table, { matrix, isTurned }: Written, row: number): Factoring {
  const jacobian = isTurned ? transposedText(table.name) : table.name;
  const cells = matrix.cells.slice(row * matrix.columns, (row + 1) * matrix.columns);
  const column = { rows: cells.length, columns: 1, cells };
  const caption = table.caption(label("player-jacobian-of-row", { jacobian, row: String(row + 1) }));
  const shape = [...sizes([cells.length], true), ...sizes([1])];
  return { ...tableOf(table.role, caption, column, shape), ...madeIn(table) };
}

function cellOf({ matrix }: Written, { row, column }: Place): Cell {
  return cellAt(matrix, row, column);
}

function factoring(table: Table | null, written: Written | null | undefined): Factoring | null {
  if (table === null || written == null) return null;
  const { role, name } = table;
  const caption = table.caption(written.isTurned ? transposedText(name) : name);
  return {
    ...tableOf(role, caption, written.matrix, written.shape, written.readFrom),
    ...madeIn(table),
  };
}

/** The line that makes a table, where one does. */
function madeIn({ from }: Table): Pick<Factoring, "from"> {
  return from === undefined ? {} : { from };
}

function operatorOf({ verb }: Move, first: Table, second: Table | null, isOfMatrices: boolean): Operator {
  if (verb === "subtract") return "−";
  if (verb === "slide") return "∗";
  if (second === null) return "→";
  const isNumber = [first, second].some(({ value }) => elementCount(value.shape) === 1);
  if (isOfMatrices || isNumber) return "×";
  return verb === "meet" ? "·" : "⊙";
}

function asItIs(value: TensorValue, shape: readonly number[] = value.shape): Written | null {
  const matrix = matrixOf({ ...value, shape: [...shape] });
  if (matrix === null) return null;
  return {
    matrix,
    shape: sizes(shape),
    isTurned: false,
    readFrom: shape === value.shape ? null : shapeText(value.shape),
    placeOf: (cell) => placeOf(matrix, cell),
  };
}

/** A tensor by its letters, without those of size 1 that stand nowhere else. */
interface Lettered {
  readonly value: TensorValue;
  readonly letters: readonly string[];
  readonly shape: readonly number[];
}

interface Met {
  readonly tables: readonly (Written | null)[];
  /** With the second table on the left; by row: each row of the first meets that row of the second, as a column. */
  readonly how: "in order" | "swapped" | "by row";
}

/** Two tables whose rows and columns meet: the letters of each are those of a batch, its own, and those that meet. */
function asMet({ verb, axes, of }: Move, first: Table, second: Table, value: TensorValue): Met | null {
  if ((verb !== "meet" && verb !== "scale") || axes === undefined) return null;
  if (of.some(({ shape }) => shape !== undefined)) return null;
  const written = axes.split(/,|->/);
  const values = [first.value, second.value, value];
  const size = new Map<string, number>();
  for (const [at, { shape }] of values.entries())
    for (const [axis, letter] of [...(written[at] ?? "")].entries())
      size.set(letter, Math.max(size.get(letter) ?? 1, shape[axis] ?? 1));
  const lettered = values.map((each, at): Lettered => {
    const others = written.filter((_, other) => other !== at).join("");
    const kept = [...(written[at] ?? "")].map((letter, axis) => ({ letter, size: each.shape[axis] ?? 1 }));
    // Along an axis of size 1 a table is read at 0, whatever its letter is.
    const told = kept.filter(
      ({ letter, size: own }) => own > 1 || (size.get(letter) === 1 && others.includes(letter)),
    );
    return {
      value: each,
      letters: told.map(({ letter }) => letter),
      shape: told.map(({ size: own }) => own),
    };
  });
  const [mine = [], theirs = [], result = []] = lettered.map(({ letters }) => letters);
  const batch = mine.filter((letter) => theirs.includes(letter) && result.includes(letter));
  const meeting = mine.filter((letter) => theirs.includes(letter) && !result.includes(letter));
  const own = (letters: readonly string[]): readonly string[] =>
    letters.filter((letter) => result.includes(letter) && !batch.includes(letter));
  if (meeting.length > 0 && batch.length > 0 && own(mine).length + own(theirs).length === 0) {
    const order = [...result, ...meeting];
    const tables = lettered.slice(0, 2).map((each) => inRows(each, order, 0, meeting.length, false));
    return { tables: [...tables, asItIs(value)], how: "by row" };
  }
  const isSwapped = own(theirs).length > 0 && own(mine).includes(result.at(-1) ?? "");
  const [left, right] = isSwapped ? [theirs, mine] : [mine, theirs];
  const columns = result.slice(result.findLastIndex((letter) => !own(right).includes(letter)) + 1);
  // Letters of one batch alone, over which the other table is repeated, stand among those of the batch.
  const lead = result.slice(0, result.length - columns.length);
  const rows = own(left);
  const isWhole =
    lead.every((letter) => left.includes(letter) || right.includes(letter)) &&
    (meeting.length > 0 ? rows.length + columns.length > 0 : rows.length > 0 && columns.length > 0);
  if (!isWhole || (rows.length > 0 && lead.at(-1) !== rows.at(-1))) return null;
  const tables = lettered.map((each, at) => {
    if (at === 2) return inRows(each, result, batch.length, columns.length, false);
    const isLeft = at === (isSwapped ? 1 : 0);
    const stacked = lead.filter((letter) => (isLeft ? left : right).includes(letter));
    return isLeft
      ? inRows(each, [...stacked, ...meeting], batch.length, meeting.length, true)
      : inRows(each, [...stacked, ...meeting, ...columns], stacked.length, columns.length, false);
  });
  return { tables, how: isSwapped ? "swapped" : "in order" };
}

/** A tensor as matrices one below the other, its letters in an order in which those of a batch come first. */
function inRows(
  { value, letters, shape }: Lettered,
  order: readonly string[],
  batch: number,
  across: number,
  isLeft: boolean,
): Written | null {
  const { data } = value;
  if (data === undefined || letters.length !== order.length) return null;
  const counts = order.map((letter) => shape[letters.indexOf(letter)] ?? 1);
  const columns = elementCount(counts.slice(order.length - across));
  if (Math.max(columns, data.length / columns) > MOST_MET) return null;
  const cellIn = (cell: number): number => {
    const along = indicesOf(cell, shape);
    return order.reduce(
      (flat, letter, at) => flat * (counts[at] ?? 1) + (along[letters.indexOf(letter)] ?? 0),
      0,
    );
  };
  const cells: Cell[] = [];
  for (const [cell, entry] of data.entries()) cells[cellIn(cell)] = entry;
  const matrix = { rows: data.length / columns, columns, cells };
  const down = counts.slice(batch, order.length - across);
  return {
    matrix,
    // Rows of a batch that meet nothing of theirs are told as the batch; what meets is one size.
    shape: sizes([
      ...counts.slice(0, batch),
      ...(isLeft && down.length > 0 ? down : [elementCount(down)]),
      columns,
    ]),
    isTurned: order.length === 1 ? across === 0 : String(letters) !== String(order),
    readFrom: null,
    placeOf: (cell) => placeOf(matrix, cellIn(cell)),
  };
}
