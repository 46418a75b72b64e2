/** What the server answers besides traces; mirrors server/gradwalk/protocol/answers.py. */
import type { Real, TensorValue } from "./trace.gen";

export interface GradcheckCell {
  /** Of the flattened output, row-major. */
  readonly row: number;
  /** Of the flattened operand. */
  readonly column: number;
  readonly analytic: Real;
  readonly numeric: Real;
}

/** An entry where the function has a corner, a jump or the edge of its domain. */
export interface GradcheckKink {
  readonly row: number;
  readonly column: number;
  readonly analytic: Real;
  /** Slope to smaller values; NaN beyond the domain. */
  readonly left: Real;
  readonly right: Real;
  /** The operand's entry. */
  readonly at: Real;
}

/** An analytic Jacobian beside finite differences, in double precision. */
export interface GradcheckReport {
  readonly name: string;
  /** Null for the whole program. */
  readonly argnum: number | null;
  readonly output_nr: number | null;
  readonly verdict: "agrees" | "differs" | "not_differentiable" | "unavailable";
  readonly because: string;
  readonly output_shape: number[];
  readonly input_shape: number[];
  /** Null where the verdict is `unavailable`. */
  readonly analytic: TensorValue | null;
  readonly numeric: TensorValue | null;
  readonly step_size: number;
  readonly absolute_tolerance: number;
  readonly relative_tolerance: number;
  /** The first 256. */
  readonly wrong: GradcheckCell[];
  readonly kinks: GradcheckKink[];
}
