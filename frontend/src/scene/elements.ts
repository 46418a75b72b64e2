/**
 * Entry by entry, in the tensors' own shapes: where each row or each column of J has one entry that is not zero, it
 * says where an entry of v goes and what it is multiplied with on the way.
 */
import type { Matrix } from "../model/matrix";
import { cellAt, jacobianMatrix, matrixOf } from "../model/matrix";
import { toNumber } from "../model/numbers";
import type { Cell, TensorValue } from "../protocol/trace.gen";
import { label } from "../words/say";
import type { Factor, OperandEquation } from "./equation";
import type { Place, ProductForm, Rule, Term } from "./form";
import { derivative, MOST_SHOWN, placeOf, reproduces, returnedFor, sizes, tableOf, V_CAPTION } from "./form";

/** An entry of J that is not zero. */
interface Link {
  readonly output: number;
  readonly input: number;
  readonly factor: Cell;
}

export function elementByElement(
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
