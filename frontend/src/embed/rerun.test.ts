import fc from "fast-check";
import { expect, it } from "vitest";
import { emptyTrace } from "../model/trace";
import { type Inputs, Rerun, readInputs, runnerOf } from "./rerun";

it("reads numbers and nested lists of numbers by name", () => {
  const inputs = { x: 2, W: [[1, -2.5]], "model.0.weight": [1] };
  expect({ ...readInputs(inputs) }).toEqual(inputs);
});

it.each([
  null,
  [],
  { x: "2" },
  { x: { value: 2 } },
  { x: Number.NaN },
  { "x;import os": 1 },
  { "": 1 },
  { x: [[[[[1]]]]] },
  { x: Array(300).fill(1) },
  { x: new Array(2) },
  Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`x${n}`, n])),
])("refuses %j", (value) => {
  expect(readInputs(value)).toBeNull();
});

it("never gives anything but numbers, whatever comes", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true }), (value) => {
      const inputs = readInputs(value);
      if (inputs !== null) expect(JSON.stringify(Object.values(inputs))).toMatch(/^[[\]\d.,e+-]*$/);
    }),
    { numRuns: 2000 },
  );
});

it("knows the programs that a server keeps", () => {
  expect(runnerOf(`https://h/embed/${"a".repeat(40)}/trace.json`)).not.toBeNull();
  for (const src of [null, "lesson.kit.json", `https://h/api/traces/${"a".repeat(40)}`])
    expect(runnerOf(src)).toBeNull();
});

it("runs one at a time, the newest wish last", async () => {
  const [ran, shown]: [Inputs[], Inputs[]] = [[], []];
  const run: ConstructorParameters<typeof Rerun>[0] = async (inputs, ontrace) => {
    ran.push(inputs);
    await new Promise(setImmediate);
    ontrace({ ...emptyTrace(), finished: {} as never });
  };
  const rerun = new Rerun(
    run,
    (_trace, inputs) => shown.push(inputs),
    () => undefined,
  );
  await Promise.all([1, 2, 3].map((x) => rerun.ask({ x })));
  expect(ran).toEqual([{ x: 1 }, { x: 3 }]);
  expect(shown).toEqual([{ x: 3 }]);
});
