/** A gradcheck as it is shown: two Jacobians of the same size, a mark for every entry that matters, words for each. */
import type { Matrix } from "../model/matrix";
import { elementCount } from "../model/matrix";
import { formatNumber } from "../model/numbers";
import type { GradcheckReport, Problem, Real, TensorValue } from "../protocol/trace.gen";

/** One operand of one step (`stepIndex` over the whole trace, from 0), or what a whole pass gave each leaf. */
export type GradcheckQuestion =
  | { readonly stepIndex: number; readonly argnum: number }
  | { readonly pass: number };

/** Finds out by finite differences; a problem where that cannot be done now. */
export type AskGradcheck = (question: GradcheckQuestion) => Promise<GradcheckReport[] | Problem>;

/** `wrong`: differs from finite differences. `kink`: no derivative there to compare with. */
export type CellMark = "wrong" | "kink";

export interface GradcheckScene {
  /** Null where there is nothing to compare, or too much to write out. */
  readonly analytic: Matrix | null;
  readonly numeric: Matrix | null;
  readonly markAt: (row: number, column: number) => CellMark | null;
  /** One sentence per wrong entry and per kink, the first few. */
  readonly wrong: readonly string[];
  readonly kinks: readonly string[];
  /** How many sentences were left out. */
  readonly more: number;
  readonly tolerances: string;
}

const MOST_SENTENCES = 8;

export const VERDICTS: Readonly<Record<GradcheckReport["verdict"], string>> = {
  agrees: "Agrees with finite differences",
  differs: "Differs from finite differences",
  not_differentiable: "Not differentiable here",
  unavailable: "Cannot be compared",
};

export function drawGradcheck(report: GradcheckReport, precision: number): GradcheckScene {
  const marks = new Map<string, CellMark>();
  for (const { row, column } of report.kinks) marks.set(`${row},${column}`, "kink");
  for (const { row, column } of report.wrong) marks.set(`${row},${column}`, "wrong");
  const number = (value: Real): string => formatNumber(value, precision);
  const wrong = report.wrong.map(
    ({ row, column, analytic, numeric }) =>
      `Row ${row}, column ${column}: backward says ${number(analytic)}, finite differences ${number(numeric)}.`,
  );
  const kinks = report.kinks.map(
    ({ row, column, at, left, right, analytic }) =>
      `Row ${row}, column ${column}, at ${report.name} = ${number(at)}: the slope is ${number(left)} to the left and ` +
      `${number(right)} to the right; backward takes ${number(analytic)}.`,
  );
  return {
    analytic: jacobian(report, report.analytic),
    numeric: jacobian(report, report.numeric),
    markAt: (row, column) => marks.get(`${row},${column}`) ?? null,
    wrong: wrong.slice(0, MOST_SENTENCES),
    kinks: kinks.slice(0, MOST_SENTENCES),
    more: Math.max(0, wrong.length - MOST_SENTENCES) + Math.max(0, kinks.length - MOST_SENTENCES),
    tolerances:
      `Central differences in double precision, step ${number(report.step_size)}. An entry is right within ` +
      `${number(report.absolute_tolerance)} + ${number(report.relative_tolerance)} × its size.`,
  };
}

function jacobian({ output_shape, input_shape }: GradcheckReport, value: TensorValue | null): Matrix | null {
  if (value?.data === undefined) return null;
  return { rows: elementCount(output_shape), columns: elementCount(input_shape), cells: value.data };
}
