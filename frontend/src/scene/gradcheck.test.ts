import { describe, expect, it } from "vitest";
import type { Cell, GradcheckReport, TensorValue } from "../protocol/trace.gen";
import { drawGradcheck } from "./gradcheck";

function tensor(shape: number[], data: Cell[]): TensorValue {
  return { shape, dtype: "float64", data } as TensorValue;
}

/** relu of [-1, 0] and a wrong square, as the server spells it. */
const REPORT: GradcheckReport = {
  name: "x",
  argnum: 0,
  output_nr: 0,
  verdict: "differs",
  because: { kind: "check-zeros" },
  output_shape: [2],
  input_shape: [2],
  analytic: tensor([2, 2], [2, 0, 0, 0]),
  numeric: tensor([2, 2], [3, 0, 0, 0.5]),
  step_size: 1e-6,
  absolute_tolerance: 1e-5,
  relative_tolerance: 1e-3,
  wrong: [{ row: 0, column: 0, analytic: 2, numeric: 3 }],
  kinks: [{ row: 1, column: 1, analytic: 0, left: 0, right: 1, at: 0 }],
};

describe("drawGradcheck", () => {
  it("lays out both Jacobians as rows of outputs by columns of the operand", () => {
    const scene = drawGradcheck({ ...REPORT, output_shape: [2, 1], input_shape: [1, 2] }, 4);
    expect(scene.analytic).toEqual({ rows: 2, columns: 2, cells: [2, 0, 0, 0] });
    expect(scene.numeric?.cells).toEqual([3, 0, 0, 0.5]);
  });

  it("marks wrong entries and kinks, and nothing else", () => {
    const { markAt } = drawGradcheck(REPORT, 4);
    expect([markAt(0, 0), markAt(0, 1), markAt(1, 0), markAt(1, 1)]).toEqual(["wrong", null, null, "kink"]);
  });

  it("says each mark in a sentence, and the tolerances", () => {
    const scene = drawGradcheck(REPORT, 4);
    expect(scene.wrong).toEqual(["Row 0, column 0: backward says 2, finite differences 3."]);
    expect(scene.kinks[0]).toContain(
      "at x = 0: the slope is 0 to the left and 1 to the right; backward takes 0",
    );
    expect(scene.tolerances).toContain("10⁻⁶");
    expect(scene.more).toBe(0);
  });

  it("counts what it leaves out", () => {
    const wrong = Array.from({ length: 11 }, (_, row) => ({ row, column: 0, analytic: 1, numeric: 2 }));
    const scene = drawGradcheck({ ...REPORT, wrong, kinks: [] }, 4);
    expect(scene.wrong).toHaveLength(8);
    expect(scene.more).toBe(3);
  });

  it("has no tables where nothing could be compared", () => {
    const scene = drawGradcheck(
      { ...REPORT, verdict: "unavailable", analytic: null, numeric: null, wrong: [], kinks: [] },
      4,
    );
    expect(scene.analytic).toBeNull();
    expect(scene.numeric).toBeNull();
  });
});
