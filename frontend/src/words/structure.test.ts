import { expect, it } from "vitest";
import type { LocalJacobian } from "../protocol/trace.gen";
import { structureText } from "./structure";

const jacobian = (data: readonly number[], output: number[], input: number[]): LocalJacobian =>
  ({
    argnum: 0,
    output_nr: 0,
    structure: input.length > 0 ? "copy_to_summands" : "sum_over_copies",
    value: { dtype: "float32", shape: [...output, ...input], data },
    output_shape: output,
    input_shape: input,
  }) as unknown as LocalJacobian;

it.each([
  ["sum()", [1, 1, 1, 1], [], [2, 2], /^a sum: .* copies v/],
  ["sum(dim=1)", [1, 1, 0, 0, 0, 0, 1, 1], [2], [2, 2], /^a sum: .* copies v/],
  ["mean()", [1 / 3, 1 / 3, 1 / 3], [], [3], /same share of v/],
  ["nll_loss of two rows", [0, -0.5, 0, 0, 0, -0.5], [], [2, 3], /its own weight/],
  ["a dot product with constants", [2, 3], [], [2], /its own weight/],
  ["expand", [1, 1, 1], [3], [], /several times: /],
  ["x * y with y = [10, 20, 30]", [10, 20, 30], [3], [], /with a factor/],
])("J of %s is told by its weights", (_, data, output, input, expected) => {
  expect(structureText(jacobian(data, output, input))).toMatch(expected);
});
