import { afterEach, describe, expect, it } from "vitest";
import { readSample } from "../protocol/samples";
import { EMPTY_ADDRESS } from "./address";
import { isExpression, Session } from "./session.svelte";

const SAMPLE = readSample("x-times-x");

describe("v and inputs", () => {
  const session = new Session();
  const program = { ...EMPTY_ADDRESS, source: "x * y", inputs: { x: 2 }, gradOutput: 3 };
  const given = () => [session.address.inputs, session.address.gradOutput];

  // There is no server here: what was asked for is called off.
  afterEach(() => session.stop());

  it("go when its code changes, come back with it, and stay when only comments and spaces change", () => {
    session.open(program);
    session.source = "x * y + x";
    expect(given()).toEqual([{}, null]);
    session.source = "#@ note a product\nx*y\n";
    expect(given()).toEqual([{ x: 2 }, 3]);
  });

  it("stay when they were set after the change, and only they", () => {
    session.open({ ...program, inputs: { x: 2, y: 5 } });
    session.source = "x * y + x";
    session.setInput("x", 7);
    expect(given()).toEqual([{ x: 7 }, null]);
    session.setGradOutput(4);
    expect(given()).toEqual([{ x: 7 }, 4]);
    session.source = "x * y + x + y";
    expect(given()).toEqual([{}, null]);
  });

  it("are those of the last program that was opened", () => {
    session.open(program);
    session.setGradOutput(4);
    session.open({ ...EMPTY_ADDRESS, source: "x * x" });
    expect(given()).toEqual([{}, null]);
    session.source = "x * y";
    expect(given()).toEqual([{}, null]);
  });

  it("stay with a trace that was made with them", () => {
    session.adopt({ ...SAMPLE, source: "y = x * x", options: { grad_output: 3 }, events: [] });
    expect(given()).toEqual([{}, 3]);
    session.source = "y = x * x\nz = y * y";
    expect(given()).toEqual([{}, null]);
  });

  it("hold no v that the program leaves no place for", () => {
    session.adopt({ ...SAMPLE, options: { ...SAMPLE.options, grad_output: [0, 1, 0] } });
    expect(session.address.gradOutput).toBeNull();
  });
});

it.each([
  ["sin(x*y) + x", true],
  ["(x == y) * 2", true],
  ["x ** 2", true],
  ["", false],
  ["x += 1", false],
  ["print(x)", false],
  ["import torch", false],
  ["x; y", false],
])("%j is an expression: %s", (source, expected) => {
  expect(isExpression(source)).toBe(expected);
});
