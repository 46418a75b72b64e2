import { expect, it } from "vitest";
import type { LocalJacobian } from "../protocol/trace.gen";
import { structureText } from "./structure";

const reduction = (data: readonly number[], output: number[], input: number[]): LocalJacobian =>
  ({
    argnum: 0,
    output_nr: 0,
    structure: "copy_to_summands",
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
])("J of %s is told by its weights", (_, data, output, input, expected) => {
  expect(structureText(reduction(data, output, input))).toMatch(expected);
});

it.each([
  ["expand", [1, 1, 1], /several times: /],
  ["x * y with y = [10, 20, 30]", [10, 20, 30], /with a factor/],
])("J of %s is a repetition", (_, data, expected) => {
  const copied = { ...reduction(data, [3], []), structure: "sum_over_copies" as const };
  expect(structureText(copied)).toMatch(expected);
});
