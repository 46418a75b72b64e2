/** A gradcheck as it is shown: two Jacobians of the same size, a mark for every entry that matters, words for each. */
import type { Matrix } from "../model/matrix";
import { elementCount } from "../model/matrix";
import { formatNumber } from "../model/numbers";
import type { GradcheckReport, Real, TensorValue } from "../protocol/trace.gen";
import { type Key, label } from "../words/say";

/** One operand of one step (`stepIndex` over the whole trace, from 0), or what a whole pass gave each leaf. */
export type GradcheckQuestion =
  | { readonly stepIndex: number; readonly argnum: number }
  | { readonly pass: number };

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
  /** Of which output of several, or of which leaf. */
  readonly verdict: string;
}

const MOST_SENTENCES = 8;

const VERDICTS = {
  agrees: "player-agrees",
  differs: "player-differs",
  not_differentiable: "player-not-differentiable",
  unavailable: "player-incomparable",
} as const satisfies Record<GradcheckReport["verdict"], Key>;

/** @param isOneOfMany its operand has several Jacobians, one for each output */
export function drawGradcheck(
  report: GradcheckReport,
  precision: number,
  isOneOfMany = false,
): GradcheckScene {
  const marks = new Map<string, CellMark>();
  for (const { row, column } of report.kinks) marks.set(`${row},${column}`, "kink");
  for (const { row, column } of report.wrong) marks.set(`${row},${column}`, "wrong");
  const number = (value: Real): string => formatNumber(value, precision);
  const wrong = report.wrong.map(({ row, column, analytic, numeric }) =>
    label("player-wrong-entry", {
      row: String(row),
      column: String(column),
      analytic: number(analytic),
      numeric: number(numeric),
    }),
  );
  const kinks = report.kinks.map(({ row, column, at, left, right, analytic }) =>
    label("player-kink", {
      row: String(row),
      column: String(column),
      name: report.name,
      at: number(at),
      left: number(left),
      right: number(right),
      analytic: number(analytic),
    }),
  );
  return {
    analytic: jacobian(report, report.analytic),
    numeric: jacobian(report, report.numeric),
    markAt: (row, column) => marks.get(`${row},${column}`) ?? null,
    wrong: wrong.slice(0, MOST_SENTENCES),
    kinks: kinks.slice(0, MOST_SENTENCES),
    verdict: verdictOf(report, isOneOfMany),
    more: Math.max(0, wrong.length - MOST_SENTENCES) + Math.max(0, kinks.length - MOST_SENTENCES),
    tolerances: label("player-tolerances", {
      step: number(report.step_size),
      absolute: number(report.absolute_tolerance),
      relative: number(report.relative_tolerance),
    }),
  };
}

function verdictOf(
  { verdict: kind, argnum, name, output_nr }: GradcheckReport,
  isOneOfMany: boolean,
): string {
  const verdict = label(VERDICTS[kind]);
  if (argnum === null) return label("player-verdict-grad", { verdict, leaf: name });
  if (!isOneOfMany || output_nr === null) return label("player-verdict", { verdict });
  return label("player-verdict-output", { verdict, output: String(output_nr) });
}

function jacobian({ output_shape, input_shape }: GradcheckReport, value: TensorValue | null): Matrix | null {
  if (value?.data === undefined) return null;
  return { rows: elementCount(output_shape), columns: elementCount(input_shape), cells: value.data };
}
