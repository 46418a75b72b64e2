import { describe, expect, it } from "vitest";
import { DecodeError, Decoder, decodeDocument } from "./decode";
import { readSample } from "./samples";
import type { Step } from "./trace.gen";
import { readValue } from "./values";

const stdout = (seq: number) => ({ seq, type: "stdout", text: "hi\n" });
const step = (seq: number, grad_outputs: unknown[]) => ({ seq, type: "step", index: seq, grad_outputs });

describe("a batch", () => {
  const read = (items: unknown) => new Decoder().readBatch(JSON.stringify(items));

  it.each([
    ["an object", {}, /should be a list/],
    ["an event type of the future", [{ seq: 0, type: "oracle" }], /"oracle"/],
    ["a type inherited from Object", [{ seq: 0, type: "toString" }], /"toString"/],
    ["a lost event", [stdout(0), stdout(2)], /event 2 follows event 0/],
    ["a newer format", [{ seq: 0, type: "started", format: 3 }], /has format 3/],
    ["the number of a value that did not come", [step(0, [7])], /value that is lost/],
  ])("refuses %s", (_, items, message) => {
    expect(() => read(items)).toThrow(DecodeError);
    expect(() => read(items)).toThrow(message);
  });

  it("refuses text that is not JSON", () => {
    expect(() => new Decoder().readBatch("[{")).toThrow(/cut short/);
  });
});

describe("values", () => {
  const value = { shape: [], dtype: "float32", data: [2] };

  it("stand wherever their numbers do, as one object", () => {
    const decoder = new Decoder();
    const [first] = decoder.read([{ ...step(0, [0, { missing: "undefined" }]), values: [value] }]);
    const [second] = decoder.read([step(1, [0])]);
    expect(first).toMatchObject({ type: "step", index: 0, grad_outputs: [value, { missing: "undefined" }] });
    expect(first).not.toHaveProperty("values");
    expect((second as Step).grad_outputs[0]).toBe((first as Step).grad_outputs[0]);
  });

  it("are unpacked to the shortest decimals of their dtype", () => {
    const floats = [0.1, 16777216, -0, 1.17549435e-38, 3.4028235e38, 0.333333343, Number.NaN, -Infinity];
    const bytes = new Uint8Array(Float32Array.from(floats).buffer);
    const packed = btoa(String.fromCharCode(...bytes));
    const { data } = readValue({ shape: [8], dtype: "float32", packed });
    expect(data).toEqual([0.1, 16777216, -0, 1.1754944e-38, 3.4028235e38, 0.33333334, "NaN", "-Infinity"]);
    expect(readValue({ shape: [4], dtype: "complex64", packed }).data?.[0]).toEqual([0.1, 16777216]);
    expect(readValue({ shape: [2], dtype: "bool", packed: btoa("\x01\x00") }).data).toEqual([true, false]);
  });
});

const document = readSample("x-times-x");

it.each([
  [{ ...document, format: 7 }, /has format 7/],
  [{ id: "a" }, /not a gradwalk trace/],
  [{ ...document, events: null }, /no events/],
  [{ ...document, source: 3 }, /header/],
])("refuses a document %#", (broken, message) => {
  expect(() => decodeDocument(JSON.stringify(broken))).toThrow(message);
});
