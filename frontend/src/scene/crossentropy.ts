/**
 * Cross-entropy behind its log-softmax: v names one class per row, and y - p says what each score gets of it, where p is
 * the softmax and y is 1 at that class. As v is -1/N there, that is (p - y)/N.
 */
import type { Matrix } from "../model/matrix";
import { cellAt, matrixOf } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Node, TensorValue } from "../protocol/trace.gen";
import { label } from "../words/say";
import type { OperandEquation } from "./equation";
import type { Factoring, Place, ProductForm, Term } from "./form";
import { MOST_SHOWN, reproduces, returnedFor, sizes, V_CAPTION } from "./form";

export function classMinusShares(
  node: Node,
  operand: OperandEquation,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  const output = node.outputs[0]?.value ?? null;
  if (node.name !== "LogSoftmaxBackward0" || output === null) return null;
  const logs = matrixOf(output);
  const left = matrixOf(v);
  const result = matrixOf(returned);
  if (logs === null || left === null || result === null || logs.cells.length !== left.cells.length)
    return null;
  if (Math.max(left.rows, left.columns) > MOST_SHOWN) return null;
  const classes = classesOf(left);
  if (classes === null) return null;
  const cells = logs.cells.map((cell, index) => {
    const isClass = index % logs.columns === classes[Math.floor(index / logs.columns)];
    return (isClass ? 1 : 0) - Math.exp(toNumber(cell));
  });
  const shares: Matrix = { ...logs, cells };
  const termsAt = ({ row, column }: Place): readonly Term[] => {
    const place = { row, column: classes[row] ?? 0 };
    return [
      {
        left: place,
        right: { row, column },
        a: cellAt(left, row, place.column),
        b: cellAt(shares, row, column),
      },
    ];
  };
  if (!reproduces(result, termsAt)) return null;
  const table = { shape: sizes(v.shape), flattenedFrom: null };
  const right: Factoring = {
    ...table,
    role: "jacobian",
    caption: label("player-class-minus-shares", { name: operand.name }),
    matrix: shares,
  };
  return {
    view: "elements",
    rule: "dealt",
    operator: "×",
    isTrue: true,
    left: { ...table, role: "v", caption: V_CAPTION, matrix: left },
    result: { ...table, role: "result", caption: returnedFor(operand), matrix: result },
    rightAt: () => right,
    termsAt,
    resultOf: (side, place, current) => (side === "right" ? place : { ...current, row: place.row }),
  };
}

/** The column of the only entry of each row that is not zero; null where a row has none or several. */
function classesOf(v: Matrix): readonly number[] | null {
  const found = Array.from({ length: v.rows }, (_, row) =>
    Array.from({ length: v.columns }, (_cell, column) => column).filter(
      (column) => toNumber(cellAt(v, row, column)) !== 0,
    ),
  );
  return found.every(({ length }) => length === 1) ? found.map(([column]) => column ?? 0) : null;
}
