import { describe, expect, expectTypeOf, it } from "vitest";
import { DecodeError, decodeBatch, decodeDocument } from "./decode";
import { assertNever } from "./exhaustive";
import type { Event, Real } from "./trace.gen";

const stdout = (seq: number) => ({ seq, type: "stdout", text: "hi\n" });
const finished = (seq: number) => ({
  seq,
  type: "finished",
  passes: 0,
  steps: 0,
  problems: 0,
  truncated: null,
});

describe("a batch", () => {
  it("comes out in its order", () => {
    expect(decodeBatch(JSON.stringify([stdout(3), finished(4)])).map((event) => event.seq)).toEqual([3, 4]);
  });

  it.each([
    ["text that is not JSON", "[{", /cut short/],
    ["an object", "{}", /should be a list/],
    ["an event type of the future", JSON.stringify([{ seq: 0, type: "oracle" }]), /"oracle"/],
    ["a type inherited from Object", JSON.stringify([{ seq: 0, type: "toString" }]), /"toString"/],
    ["a lost event", JSON.stringify([stdout(1), finished(3)]), /event 3 follows event 1/],
    ["a newer format", JSON.stringify([{ seq: 0, type: "started", format: 3 }]), /has format 3/],
  ])("refuses %s", (_, text, message) => {
    expect(() => decodeBatch(text)).toThrow(DecodeError);
    expect(() => decodeBatch(text)).toThrow(message);
  });
});

describe("a document", () => {
  const document = { format: 1, id: "a", source: "", options: {}, versions: {}, events: [stdout(0)] };

  it("opens", () => {
    expect(decodeDocument(JSON.stringify(document)).events).toHaveLength(1);
  });

  it.each([
    [{ ...document, format: 7 }, /has format 7/],
    [{ id: "a" }, /not a gradwalk trace/],
    [{ ...document, events: null }, /no events/],
    [{ ...document, source: 3 }, /header/],
  ])("refuses %j", (broken, message) => {
    expect(() => decodeDocument(JSON.stringify(broken))).toThrow(message);
  });
});

it("narrows events on their type, exhaustively", () => {
  const name = (event: Event): string => {
    switch (event.type) {
      case "started":
        return event.versions.torch;
      case "stdout":
        return event.text;
      case "warning":
        return event.category;
      case "pass_started":
        return event.call;
      case "step":
        return event.node;
      case "pass_finished":
        return String(event.leaf_grads.length);
      case "problem":
        return event.kind;
      case "finished":
        return String(event.steps);
      default:
        return assertNever(event);
    }
  };
  expect(name(finished(0) as Event)).toBe("0");
  expectTypeOf<Real>().toEqualTypeOf<number | "NaN" | "Infinity" | "-Infinity">();
});
