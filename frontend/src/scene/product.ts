/**
 * The ways to write v times J = returned in numbers, the most readable first. A form is offered only if its numbers
 * reproduce what the engine returned; the full J is shown in any case, and says where they do not (`isTrue`). Beside
 * the moves that the server tells there are forms of a J that is written out: entry by entry, and as rows.
 */
import { isTensor } from "../model/gradients";
import type { Matrix } from "../model/matrix";
import { cellAt, elementCount, inPairs, jacobianMatrix, matrixOf } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Cell, LocalJacobian, Node, TensorValue } from "../protocol/trace.gen";
import { label } from "../words/say";
import { shapeText } from "../words/values";
import type { Factor, OperandEquation, Saved } from "./equation";
import type { Factoring, Place, ProductForm, Rule, Term } from "./form";
import { derivative, MOST_SHOWN, placeOf, reproduces, returnedFor, sizes, tableOf, V_CAPTION } from "./form";
import { movedForm } from "./moves";
import type { View } from "./views";

/** What can be shown of one operand's product, one form per view; empty where numbers are missing. */
export function productForms(
  node: Node,
  operand: OperandEquation,
  factor: Factor,
  saved: readonly Saved[],
): readonly ProductForm[] {
  const { v } = factor;
  const { returned } = operand;
  if (!isTensor(v) || !isTensor(returned)) return [];
  const [real, pairs, sent] = [operandInPairs(operand), inPairs(v), inPairs(returned)];
  const told = (form: ProductForm): ProductForm => ({
    ...form,
    left: pairs === v ? form.left : withParts(form.left),
    result: sent === returned ? form.result : withParts(form.result),
  });
  const many = manyVs(real, sent);
  if (many !== null) return [told(many)];
  if (arrivedCount(operand) > 1) return [];
  const moved = movedForm(node, operand, saved, returned);
  const others = [
    elementByElement(real, factor, pairs, sent),
    stackOfRows(real, factor, pairs, sent),
    fullJacobian(real, sent),
  ].map((form) => form && told(form));
  // Of several lines only the one at work may have room: rows of v that meet a J are easier to see at once.
  const forms = (moved?.before ? [...others, moved] : [moved, ...others]).filter((form) => form !== null);
  return forms.filter(({ view }, at) => forms.findIndex((each) => each.view === view) === at);
}

/** Of complex numbers J is the real one between their real and imaginary parts. */
function operandInPairs(operand: OperandEquation): OperandEquation {
  const factors = operand.factors.map((each) => (isTensor(each.v) ? { ...each, v: inPairs(each.v) } : each));
  return { ...operand, factors };
}

function withParts(table: Factoring): Factoring {
  return { ...table, caption: `${table.caption} (Re, Im)` };
}

/** An entry of J that is not zero. */
interface Link {
  readonly output: number;
  readonly input: number;
  readonly factor: Cell;
}

/**
 * Entry by entry, in the tensors' own shapes: where each row or each column of J has one entry that is not zero, it
 * says where an entry of v goes and what it is multiplied with on the way.
 */
function elementByElement(
  operand: OperandEquation,
  { jacobian }: Factor,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const full = jacobian === null ? null : jacobianMatrix(jacobian);
  const left = matrixOf(v);
  const result = matrixOf(returned);
  if (full === null || left === null || result === null || full.cells.length < 2) return null;
  if (left.cells.length !== full.rows || result.cells.length !== full.columns) return null;
  if (Math.max(left.rows, left.columns, result.rows, result.columns) > MOST_SHOWN) return null;
  const links = linksOf(full);
  const rule = ruleOf(links, full, String(v.shape) === String(returned.shape));
  if (rule === null) return null;
  const factors = factorsOf(links, rule, left);
  if (factors === undefined) return null;
  const isOwn = rule === "entries";
  const byInput = Array.from({ length: full.columns }, (): Link[] => []);
  for (const link of links) byInput[link.input]?.push(link);
  const termsAt = ({ row, column }: Place): readonly Term[] =>
    (byInput[row * result.columns + column] ?? []).map(({ output, factor }) => ({
      left: placeOf(left, output),
      right: factors === null ? null : placeOf(factors, isOwn ? output : 0),
      a: cellAt(left, 0, output),
      b: factor,
    }));
  if (!reproduces(result, termsAt)) return null;
  const caption = label("player-entries-of", { jacobian: derivative(operand) });
  const right = factors && tableOf("jacobian", caption, factors, sizes(isOwn ? v.shape : []));
  return {
    view: "elements",
    rule,
    operator: isOwn ? "⊙" : factors === null ? "→" : "×",
    isTrue: true,
    left: tableOf("v", V_CAPTION, left, sizes(v.shape)),
    result: tableOf("result", returnedFor(operand), result, sizes(returned.shape)),
    rightAt: () => right,
    termsAt,
  };
}

function linksOf(full: Matrix): readonly Link[] {
  return full.cells.flatMap((factor, index) =>
    toNumber(factor) === 0
      ? []
      : [{ output: Math.floor(index / full.columns), input: index % full.columns, factor }],
  );
}

/** Null where rows and columns of J both have several entries: no entry goes its own way. */
function ruleOf(links: readonly Link[], full: Matrix, isSameShape: boolean): Rule | null {
  const isDiagonal = full.rows === full.columns && links.every(({ output, input }) => output === input);
  const isPlain = links.every(({ factor }) => toNumber(factor) === 1);
  if (isDiagonal && isSameShape) return isPlain && links.length === full.rows ? "moved" : "entries";
  const outputs = new Set(links.map(({ output }) => output)).size;
  const inputs = new Set(links.map(({ input }) => input)).size;
  if (outputs === links.length && inputs === links.length) return "moved";
  if (inputs === links.length) return "dealt";
  return outputs === links.length ? "folded" : null;
}

/** What v is multiplied with: each entry with its own factor, or all with one number; null where that is 1. */
function factorsOf(links: readonly Link[], rule: Rule, left: Matrix): Matrix | null | undefined {
  if (rule === "entries") {
    const cells: Cell[] = left.cells.map(() => 0);
    for (const { output, factor } of links) cells[output] = factor;
    return { ...left, cells };
  }
  const [one = 1, other] = new Set(links.map(({ factor }) => toNumber(factor)));
  if (other !== undefined) return undefined;
  return one === 1 ? null : { rows: 1, columns: 1, cells: [one] };
}

/** v as one row times the whole J. */
function fullJacobian(operand: OperandEquation, returned: TensorValue): ProductForm | null {
  return timesJacobian(operand, arrivedParts(operand), returned, null);
}

/**
 * Several v's for one operand: m of them stacked (`is_grads_batched`), [m, out] × J = [m, in], and one from each output
 * of the node, side by side with their Jacobians one below the other.
 */
function manyVs(operand: OperandEquation, returned: TensorValue): ProductForm | null {
  const parts = arrivedParts(operand);
  const isBatch = returned.shape.length === (parts[0]?.jacobian.input_shape.length ?? 0) + 1;
  if (!isBatch && parts.length < 2) return null;
  const form = timesJacobian(operand, parts, returned, isBatch ? (returned.shape[0] ?? 1) : null);
  return form?.isTrue ? form : null;
}

/** A v with the Jacobian of the output at which it arrived. */
interface Part {
  readonly v: TensorValue;
  readonly jacobian: LocalJacobian;
  readonly matrix: Matrix;
}

function arrivedParts({ factors }: OperandEquation): readonly Part[] {
  return factors.flatMap(({ v, jacobian }) => {
    const matrix = jacobian === null ? null : jacobianMatrix(jacobian);
    return isTensor(v) && v.data !== undefined && jacobian !== null && matrix !== null
      ? [{ v, jacobian, matrix }]
      : [];
  });
}

/** @param stacked how many v's each output has; null where they are not stacked */
function timesJacobian(
  operand: OperandEquation,
  parts: readonly Part[],
  returned: TensorValue,
  stacked: number | null,
): ProductForm | null {
  const [first] = parts;
  if (first === undefined || parts.length !== arrivedCount(operand)) return null;
  const m = stacked ?? 1;
  const vs = parts.map(({ v, matrix }) => rowsOf(v, m, matrix.rows));
  const jacobian = below(parts.map(({ matrix }) => matrix));
  const result = rowsOf(returned, m, jacobian.columns);
  if (!vs.every((each) => each !== null) || result === null) return null;
  if (Math.max(m, jacobian.rows, jacobian.columns) > MOST_SHOWN) return null;
  const isOne = parts.length === 1;
  const batch = sizes(stacked === null ? [] : [m]);
  const rows = sizes([jacobian.rows], true);
  const columns = sizes([jacobian.columns]);
  const left = tableOf("v", manyCaption(parts.length, stacked), beside(vs), [...batch, ...rows]);
  const partial = derivative(operand, isOne ? "player-partial" : "player-partial-outputs");
  const right = tableOf("jacobian", partial, jacobian, [...rows, ...columns]);
  const caption =
    stacked === null ? returnedFor(operand) : label("player-returned-rows", { name: operand.name });
  return rowsTimes(
    "jacobian",
    isOne ? flattened(left, first.v) : left,
    () => right,
    flattened(tableOf("result", caption, result, [...batch, ...columns]), returned),
  );
}

/** Rows, each times the J of its row. */
function rowsTimes(
  view: View,
  left: Factoring,
  jacobianOf: (row: number) => Factoring,
  result: Factoring,
): ProductForm {
  const termsAt = (place: Place) => rowMeetsColumn(left.matrix, jacobianOf(place.row).matrix, place);
  return {
    view,
    rule: "terms",
    operator: "×",
    isTrue: reproduces(result.matrix, termsAt),
    left,
    result,
    rightAt: ({ row }) => jacobianOf(row),
    termsAt,
  };
}

/** A tensor as so many rows; null where it has other numbers, or none that are written out. */
function rowsOf({ data }: TensorValue, rows: number, columns: number): Matrix | null {
  return data?.length === rows * columns ? { rows, columns, cells: data } : null;
}

/** @param rows how many v's each output has; null where they are not stacked */
function manyCaption(count: number, rows: number | null): string {
  if (count > 1 && rows !== null) return label("player-outputs-vs-rows", { count, rows: String(rows) });
  if (rows !== null) return label("player-row-vs", { count: rows });
  return count > 1 ? label("player-outputs-vs", { count }) : V_CAPTION;
}

/** Where each row of the output depends on the same row of the input only: the blocks of J on its diagonal. */
interface Blocks {
  /** The axes that count the rows. */
  readonly batch: readonly number[];
  readonly blocks: readonly Matrix[];
}

/** A batch: rows of v, each times the J of its row. */
function stackOfRows(
  operand: OperandEquation,
  { jacobian }: Factor,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const { batch, blocks } = (jacobian && blocksOf(jacobian)) ?? { batch: [], blocks: [] };
  const [first] = blocks;
  if (first === undefined || Math.max(blocks.length, first.rows, first.columns) > MOST_SHOWN) return null;
  const left = rowsOf(v, blocks.length, first.rows);
  const result = rowsOf(returned, blocks.length, first.columns);
  if (left === null || result === null) return null;
  const isShared = blocks.every(({ cells }) => cells.every((cell, at) => cell === first.cells[at]));
  const [rows, columns] = [sizes([first.rows], true), sizes([first.columns])];
  const partial = derivative(operand);
  const jacobianOf = (row: number): Factoring => {
    const caption = isShared
      ? label("player-jacobian-each-row", { jacobian: partial })
      : label("player-jacobian-of-row", { jacobian: partial, row: String(row + 1) });
    return tableOf("jacobian", caption, blocks[row] ?? first, [...rows, ...columns]);
  };
  const form = rowsTimes(
    "matrices",
    flattened(tableOf("v", V_CAPTION, left, [...sizes(batch), ...rows]), v),
    jacobianOf,
    flattened(tableOf("result", returnedFor(operand), result, [...sizes(batch), ...columns]), returned),
  );
  return form.isTrue ? form : null;
}

function blocksOf(jacobian: LocalJacobian): Blocks | null {
  const full = jacobianMatrix(jacobian);
  if (full === null) return null;
  const { output_shape: out, input_shape: into } = jacobian;
  // The more axes count rows, the smaller the J of one of them.
  for (let axes = Math.min(out.length, into.length); axes > 0; axes -= 1) {
    const batch = out.slice(0, axes);
    if (String(batch) !== String(into.slice(0, axes))) continue;
    const count = elementCount(batch);
    if (count < 2 || full.cells.length === count * count) continue;
    const blocks = cutOnDiagonal(full, count);
    if (blocks !== null) return { batch, blocks };
  }
  return null;
}

/** Null where something beside the blocks is not zero. */
function cutOnDiagonal(full: Matrix, count: number): readonly Matrix[] | null {
  const [rows, columns] = [full.rows / count, full.columns / count];
  const isBeside = full.cells.some(
    (cell, index) =>
      toNumber(cell) !== 0 &&
      Math.floor(index / full.columns / rows) !== Math.floor((index % full.columns) / columns),
  );
  if (isBeside) return null;
  return Array.from({ length: count }, (_, block) => ({
    rows,
    columns,
    cells: Array.from({ length: rows * columns }, (_cell, at) =>
      cellAt(full, block * rows + Math.floor(at / columns), block * columns + (at % columns)),
    ),
  }));
}

function below(matrices: readonly Matrix[]): Matrix {
  return {
    rows: matrices.reduce((sum, { rows }) => sum + rows, 0),
    columns: matrices[0]?.columns ?? 0,
    cells: matrices.flatMap(({ cells }) => cells),
  };
}

function beside(matrices: readonly Matrix[]): Matrix {
  const rows = matrices[0]?.rows ?? 0;
  const cells = Array.from({ length: rows }, (_, row) =>
    matrices.flatMap((matrix) => matrix.cells.slice(row * matrix.columns, (row + 1) * matrix.columns)),
  ).flat();
  return { rows, columns: matrices.reduce((sum, { columns }) => sum + columns, 0), cells };
}

/** The products of a row of `left` and a column of `right`. */
function rowMeetsColumn(left: Matrix, right: Matrix, { row, column }: Place): readonly Term[] {
  return Array.from({ length: left.columns }, (_, k) => ({
    left: { row, column: k },
    right: { row: k, column },
    a: cellAt(left, row, k),
    b: cellAt(right, k, column),
  }));
}

/** A table of a tensor, told where that has more axes than the table has sizes. */
function flattened(table: Factoring, value: TensorValue): Factoring {
  return value.shape.length > table.shape.length
    ? { ...table, flattenedFrom: shapeText(value.shape) }
    : table;
}

/** How many outputs sent a gradient: one of several alone does not make up what was returned. */
function arrivedCount(operand: OperandEquation): number {
  return operand.factors.filter(({ v }) => isTensor(v)).length;
}
