import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { flatten, inputControls, nest, sliderRange, withEntry } from "../embed/inputs";
import { sampleTrace } from "../model/samples";
import { emptyTrace, foldEvents, type PassState } from "../model/trace";
import { atHand } from "../protocol/samples";
import type { Event, PassStarted, TensorValue } from "../protocol/trace.gen";
import {
  keepsItsV,
  oneHot,
  ones,
  passToSet,
  randomGradient,
  readGradient,
  whereVComesFrom,
  whyKept,
  writeNested,
} from "./gradient";

const tensor = (shape: number[], data: TensorValue["data"] | null, dtype = "float32"): TensorValue =>
  data == null ? { shape, dtype } : { shape, dtype, data };

function traceWith(inputs: Record<string, TensorValue>, leaves: Record<string, TensorValue>) {
  const nodes = Object.entries(leaves).map(([leaf, value], index) => {
    return { id: `n${index}`, kind: "accumulate_grad", leaf, input: leaf, outputs: [{ value, name: leaf }] };
  });
  const given = Object.entries(inputs).map(([name, value]) => ({ name, value }));
  const events = [
    { seq: 0, type: "started", inputs: given },
    { seq: 1, type: "pass_started", pass: 0, graph: { nodes, edges: [], groups: [] } },
  ] as unknown as Event[];
  return foldEvents(emptyTrace(), events);
}

describe("input controls", () => {
  it("are no leaves of a later pass, which the program has changed", () => {
    const trace = sampleTrace("why-grad-output");
    const later = trace.passes.map((pass) => ({ ...pass, started: { ...pass.started, number: 317 } }));
    expect(inputControls({ ...trace, passes: later }, {})).toEqual([]);
    expect(inputControls(trace, {})).toHaveLength(3);
  });

  it("are the free variables and the leaves, each entry under the name one would write", () => {
    const controls = inputControls(
      traceWith({ x: tensor([], [2]) }, { W: tensor([2, 2], [1, 2, 3, "NaN"]), x: tensor([], [2]) }),
      {},
    );
    expect(controls.map((control) => control.entries.map((entry) => entry.name))).toEqual([
      ["x"],
      ["W[0][0]", "W[0][1]", "W[1][0]", "W[1][1]"],
    ]);
    const [, W] = controls;
    if (W?.entries[1] === undefined) throw new Error("no control");
    expect(W.entries[3]?.value).toBeNaN();
    expect(withEntry(W, W.entries[1], 9)).toEqual(nest([1, 9, 3, "NaN"], [2, 2]));
    // What was set, not what the run on screen used.
    const [set] = inputControls(traceWith({ p: tensor([2], [2, 3]) }, {}), { p: [7, 3] });
    expect(set?.entries.map((entry) => entry.value)).toEqual([7, 3]);
  });

  it("leave large, summarised and complex values to the program", () => {
    const large = { a: tensor([13], new Array(13).fill(0)), b: tensor([9], null) };
    const trace = traceWith({}, { ...large, c: tensor([1], [[1, 2]], "complex64") });
    expect(inputControls(trace, {}).map((control) => control.entries.length)).toEqual([0, 0, 0]);
  });
});

it("nests any shape so that flattening gives the entries back", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }), (shape) => {
      const flat = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, index) => index);
      expect(flatten(nest(flat, shape))).toEqual(flat);
    }),
  );
});

it("finds a round range round any value", () => {
  expect(sliderRange(2, false)).toEqual({ min: -5, max: 5, step: 0.05 });
  expect(sliderRange(3, true)).toEqual({ min: -10, max: 10, step: 1 });
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), (value) => {
      const { min, max } = sliderRange(value, false);
      expect(min <= value && value <= max).toBe(true);
    }),
  );
});

describe("the external gradient", () => {
  it.each([
    ["1", 1],
    ["[0.2, .8]", [0.2, 0.8]],
    ["tensor([1., -2.,])", [1, -2]],
    ["0.2, 0.8", [0.2, 0.8]],
    ["[1, 0], [0, inf]", nest([1, 0, 0, "Infinity"], [2, 2])],
    ["torch.tensor([1e3, inf, -inf, nan])", [1000, "Infinity", "-Infinity", "NaN"]],
  ])("reads %s", (text, value) => expect(readGradient(text)).toEqual(value));

  it.each(["", "x", "[1, 2", "{}", "null", '["1"]'])("does not read %j", (text) =>
    expect(readGradient(text)).toBeNull(),
  );

  it("writes what it reads", () => {
    const cells = fc.array(fc.oneof(fc.integer(), fc.constantFrom("NaN", "Infinity", "-Infinity")));
    fc.assert(fc.property(cells, (value) => isDeepStrictEqual(readGradient(writeNested(value)), value)));
  });

  it("has the ready-made choices in the output's shape", () => {
    expect([ones([2, 1]), ones([])]).toEqual([[[1], [1]], 1]);
    expect(oneHot([3], 1)).toEqual([0, 1, 0]);
    expect(randomGradient([2], () => 0.75)).toEqual([1, 1]);
  });
});

it.each(atHand("used-twice", "double-backward", "map", "sin-expression", "weights-as-v", "rows-of-j"))(
  "keeps the v of %s where it is the 1 of a scalar, and lets others be set",
  (slug) => {
    const trace = sampleTrace(slug);
    const lines = { "used-twice": [10], "double-backward": [2, 7, 11] }[slug];
    expect(passToSet(trace)).toEqual(lines ? null : trace.passes[0]);
    expect(keepsItsV(trace)).toBe(lines !== undefined);
    const unbegun = trace.passes.map((pass) => ({
      ...pass,
      started: { ...pass.started, outputs: [] },
      steps: [],
    }));
    expect(keepsItsV({ ...trace, passes: unbegun })).toBe(false);
    if (lines) expect(whereVComesFrom(trace).match(/\d+/g)?.map(Number)).toEqual(lines);
  },
);

it("says why the v of a program cannot be set", () => {
  const pass = sampleTrace("attention").passes[0] as PassState;
  const output = pass.started.outputs[0] as PassStarted["outputs"][number];
  const one = { ...output, seed: tensor([2], [1, 2]) };
  const given = (outputs: PassStarted["outputs"], more = {}) =>
    whyKept({ ...pass, started: { ...pass.started, ...more, outputs } });
  expect(given([one])).toBeNull();
  const reasons = [
    given([one, one]),
    given([{ ...one, seed_requires_grad: true }]),
    given([one], { batch: 3 }),
    given([one], { number: 4 }),
    given([{ ...one, seed: tensor([900], null) }]),
  ];
  expect(new Set([null, ...reasons]).size).toBe(6);
  expect(keepsItsV(emptyTrace())).toBe(false);
});
