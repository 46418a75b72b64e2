import { expect, it } from "vitest";
import { isExpression } from "./session.svelte";

it.each([
  ["sin(x*y) + x", true],
  ["(x == y) * 2", true],
  ["x ** 2", true],
  ["", false],
  ["y = x * 2", false],
  ["x += 1", false],
  ["print(x)", false],
  ["import torch", false],
  ["x\ny", false],
  ["x; y", false],
])("%j is an expression: %s", (source, expected) => {
  expect(isExpression(source)).toBe(expected);
});
