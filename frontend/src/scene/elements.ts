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
import type { Factoring, Place, ProductForm, Rule, Term } from "./form";
import {
  derivative,
  MOST_SHOWN,
  placeOf,
  reproduces,
  returnedFor,
  samePlace,
  sizes,
  V_CAPTION,
} from "./form";

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
  const factors = factorsOf(links, rule, left, result);
  const byInput = Array.from({ length: full.columns }, (): Link[] => []);
  for (const link of links) byInput[link.input]?.push(link);
  const termsAt = ({ row, column }: Place): readonly Term[] =>
    (byInput[row * result.columns + column] ?? []).map(({ output, input, factor }) => ({
      left: placeOf(left, output),
      right: factors === null ? null : factors.placeOf(output, input),
      a: cellAt(left, 0, output),
      b: factor,
    }));
  if (!reproduces(result, termsAt)) return null;
  const right: Factoring | null =
    factors === null
      ? null
      : {
          role: "jacobian",
          caption: label("player-entries-of", { jacobian: derivative(operand) }),
          matrix: factors.matrix,
          shape: sizes(factors.shape === "v" ? v.shape : factors.shape === "result" ? returned.shape : []),
          flattenedFrom: null,
        };
  return {
    view: "elements",
    rule,
    operator: right === null ? "→" : factors?.shape === "v" ? "⊙" : "×",
    isTrue: true,
    left: { role: "v", caption: V_CAPTION, matrix: left, shape: sizes(v.shape), flattenedFrom: null },
    result: {
      role: "result",
      caption: returnedFor(operand),
      matrix: result,
      shape: sizes(returned.shape),
      flattenedFrom: null,
    },
    rightAt: () => right,
    termsAt,
    resultOf: (side, place, current) =>
      places(result).find((each) => termsAt(each).some((term) => isAt(term[side], place))) ?? current,
  };
}

function isAt(a: Place | null, b: Place): boolean {
  return a !== null && samePlace(a, b);
}

function places(matrix: Matrix): readonly Place[] {
  return matrix.cells.map((_, index) => placeOf(matrix, index));
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

interface Factors {
  readonly matrix: Matrix;
  /** Whose shape the table has; `one`: a single number for all. */
  readonly shape: "v" | "result" | "one";
  placeOf(output: number, input: number): Place;
}

/** What the entries are multiplied with on their way; null where that is 1 for all. */
function factorsOf(links: readonly Link[], rule: Rule, left: Matrix, result: Matrix): Factors | null {
  const [first] = links;
  const isOne =
    first !== undefined && links.every(({ factor }) => toNumber(factor) === toNumber(first.factor));
  if (rule !== "entries" && (first === undefined || (isOne && toNumber(first.factor) === 1))) return null;
  if (rule !== "entries" && isOne)
    return {
      matrix: { rows: 1, columns: 1, cells: [first.factor] },
      shape: "one",
      placeOf: () => ({ row: 0, column: 0 }),
    };
  const isOfV = rule !== "dealt";
  const like = isOfV ? left : result;
  const cells: Cell[] = like.cells.map(() => 0);
  for (const { output, input, factor } of links) cells[isOfV ? output : input] = factor;
  return {
    matrix: { ...like, cells },
    shape: isOfV ? "v" : "result",
    placeOf: (output, input) => placeOf(like, isOfV ? output : input),
  };
}
