import { describe, expect, it } from "vitest";
import { ATOM, bare, cut, embedded, levelOf, sidesOf } from "./python";

const at = (line: number, column: number, end_line: number, end_column: number) => ({
  line,
  column,
  end_line,
  end_column,
});

describe("a piece of the program", () => {
  it.each([
    ["y = sin(x*y) + x", at(1, 4, 1, 16), "sin(x*y) + x"],
    ["y = torch.stack([\n    a,\n    b,\n])", at(1, 4, 4, 2), "torch.stack([a, b,])"],
    ["a += b", at(1, 0, 1, 6), null],
    ["x, y = p", at(1, 0, 1, 4), null],
    ["for row in rows: pass", at(1, 0, 1, 16), null],
    ["y = (a  # first\n + b)", at(1, 5, 2, 4), null],
    ["f(x)[0] <= 2", at(1, 0, 1, 12), "f(x)[0] <= 2"],
    ["x = '+'.join(s)", at(1, 4, 1, 15), "'+'.join(s)"],
  ])("%s", (source, span, expected) => {
    expect(cut(source, span)).toBe(expected);
  });

  it.each([
    ["x", true],
    ["model.0.weight", true],
    ["f(a + b)[c - d].T", true],
    ["1e-3", true],
    ["-x", false],
    ["x**2", false],
    ["a @ b", false],
    ["a if b else c", false],
    ["not a", false],
    ["w (2)", true],
  ])("%s holds together: %s", (text, expected) => {
    expect(levelOf(text) === ATOM).toBe(expected);
    expect(embedded(text)).toBe(expected ? text : `(${text})`);
  });

  it.each([
    ["w * x + b", ["w * x", "b"]],
    ["a - b - c", ["a - b", "c"]],
    ["(a + b) * c", ["a + b", "c"]],
    ["a @ (b * c)", ["a", "b * c"]],
    ["a * -b", ["a", "-b"]],
    ["f(x)", null],
    ["-x", null],
  ])("the sides of %s", (text, expected) => {
    expect(sidesOf(text)).toEqual(expected);
  });

  it("loses brackets round the whole only", () => {
    expect(bare(" ((a + b)) ")).toBe("a + b");
    expect(bare("(a) + (b)")).toBe("(a) + (b)");
  });
});
