import fc from "fast-check";
import { expect, it } from "vitest";
import { NAMESPACE, readMessage, SETTABLE } from "./messages";

const hello = { ns: NAMESPACE, v: 1 };
const TYPES = ["goto", "set", "export", "next", "hello", "__proto__", "constructor"];
const FIELDS = ["step", "phase", "inputs", "kind"];

it("reads what it should", () => {
  const goto = { ...hello, type: "goto", step: 3, phase: 2 };
  expect(readMessage(goto)).toEqual({ kind: "message", message: { type: "goto", step: 3, phase: 2 } });
  expect(readMessage({ ...hello, type: "set", theme: "dark", projector: true, onclick: "x" })).toEqual({
    kind: "message",
    message: { type: "set", settings: { theme: "dark", projector: "true" }, inputs: null },
  });
});

it.each([
  { ...hello, type: "goto" },
  { ...hello, type: "goto", step: 1, phase: 6 },
  { ...hello, type: "goto", step: 1e12 },
  { ...hello, type: "set", theme: {} },
  { ...hello, type: "set", inputs: { x: "__import__" } },
  { ...hello, type: "export", kind: "../../etc/passwd" },
  { ...hello, type: "registerPlugin", args: [] },
  { ns: NAMESPACE, type: "next" },
])("refuses %j", (data) => {
  expect(readMessage(data)).toEqual({ kind: "unreadable" });
});

it("leaves a prototype's fields alone", () => {
  expect(readMessage(Object.create({ ...hello, type: "next" }))).toEqual({ kind: "foreign" });
  expect(readMessage(JSON.parse('{"__proto__": {"ns": "gradwalk", "v": 1, "type": "next"}}'))).toEqual({
    kind: "foreign",
  });
});

it("takes a thousand messages of any kind without an exception", () => {
  const near = fc.record(
    {
      ns: fc.constantFrom(NAMESPACE, "agv", "reveal", ""),
      v: fc.constantFrom(1, 2, "1"),
      type: fc.oneof(fc.constantFrom(...TYPES), fc.string()),
      ...Object.fromEntries([...FIELDS, ...SETTABLE].map((name) => [name, fc.anything()])),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(near, fc.anything({ withNullPrototype: true }), fc.string()), (data) => {
      const reading = readMessage(data);
      if (reading.kind !== "message") return;
      expect(data).toHaveProperty("ns", NAMESPACE);
      if (reading.message.type === "goto") expect(Number.isInteger(reading.message.step)).toBe(true);
      if (reading.message.type === "set") {
        expect(Object.values(reading.message.settings).every((text) => typeof text === "string")).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});
