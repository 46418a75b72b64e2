import { describe, expect, it } from "vitest";
import type { Cell, GradcheckReport, TensorValue } from "../protocol/trace.gen";
import { drawGradcheck } from "./gradcheck";

const tensor = (data: Cell[]): TensorValue => ({ shape: [2, 2], dtype: "float64", data });

/** relu of [-1, 0] and a wrong square, as the server spells it. */
const REPORT: GradcheckReport = {
  name: "x",
  argnum: 0,
  output_nr: 0,
  verdict: "differs",
  because: { kind: "check-zeros" },
  output_shape: [2],
  input_shape: [2],
  analytic: tensor([2, 0, 0, 0]),
  numeric: tensor([3, 0, 0, 0.5]),
  step_size: 1e-6,
  absolute_tolerance: 1e-5,
  relative_tolerance: 1e-3,
  wrong: [{ row: 0, column: 0, analytic: 2, numeric: 3 }],
  kinks: [{ row: 1, column: 1, analytic: 0, left: 0, right: 1, at: 0 }],
};

describe("drawGradcheck", () => {
  it("lays out rows of outputs by columns of the operand, and says each mark in a sentence", () => {
    const scene = drawGradcheck({ ...REPORT, output_shape: [2, 1], input_shape: [1, 2] }, 4);
    expect(scene.analytic).toEqual({ rows: 2, columns: 2, cells: [2, 0, 0, 0] });
    const marks = [0, 1].flatMap((row) => [0, 1].map((column) => scene.markAt(row, column)));
    expect(marks).toEqual(["wrong", null, null, "kink"]);
    expect(scene.wrong).toEqual(["Row 0, column 0: backward says 2, finite differences 3."]);
    expect(scene.kinks[0]).toContain("the slope is 0 to the left and 1 to the right; backward takes 0");
    expect(scene.tolerances).toContain("10⁻⁶");
  });

  it("counts what it leaves out, and has no tables where nothing could be compared", () => {
    const wrong = Array.from({ length: 11 }, (_, row) => ({ row, column: 0, analytic: 1, numeric: 2 }));
    const scene = drawGradcheck({ ...REPORT, analytic: null, numeric: null, wrong, kinks: [] }, 4);
    expect([scene.wrong.length, scene.more, scene.analytic, scene.numeric]).toEqual([8, 3, null, null]);
  });
});
